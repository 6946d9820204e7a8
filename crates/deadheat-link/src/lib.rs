//! Neutral links: where the linker puts the code, drawn anew by a seed.
//!
//! Two functions with the very same instructions can differ by a third in speed only because of
//! where the linker put them. This room stands in for the linker driver, keeps what a link was made
//! from, and makes *neutral links* of it on demand: every function section aligned to 64 bytes, and
//! all of them shuffled by a seed. Of several builds they can be *matched*: what the builds share lies
//! at the same places in all of them.
//!
//! ```text
//! driver's arguments ─record─▶ LinkRecord + aligned inputs ─seed─▶ neutral link
//! ```

mod align;
mod cache;
mod direct;
mod elf;
mod invocation;
mod link;
mod linker;
mod matched;
mod note;
mod options;
mod placements;
mod recipe;
mod record;
mod recording;
mod response;
mod roles;
mod stamp;
mod store;
mod stored;
mod symbols;
mod thin;

pub use link::{LinkError, Linked, link};
pub use note::Note;
pub use placements::{Line, placements};
pub use record::{Argument, Digest, LinkRecord, Obstacle, RecordError, StoredInput};
pub use roles::{Roles, RolesError};
pub use store::drop_unneeded;
pub use stored::StoredLinks;
