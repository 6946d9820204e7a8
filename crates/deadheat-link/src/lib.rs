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
mod arguments;
mod cache;
mod elf;
mod invocation;
mod link;
mod linker;
mod matched;
mod neutral_link;
mod placements;
mod record;
mod roles;
mod store;
mod symbols;

pub use cache::StoredLinks;
pub use link::{LinkError, Linked, Note, link};
pub use placements::{Line, placements};
pub use record::{Argument, Digest, LinkRecord, Obstacle, RecordError, StoredInput};
pub use roles::{Roles, RolesError};
pub use store::drop_unneeded;
