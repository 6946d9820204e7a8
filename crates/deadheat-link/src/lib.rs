//! Neutral links: where the linker puts the code, drawn anew by a seed.
//!
//! Two functions with the very same instructions can differ by a third in
//! speed only because of where the linker put them. This room stands in for
//! the linker driver, keeps what a link was made from, and makes *neutral
//! links* of it on demand: every function section aligned to 64 bytes, and all
//! of them shuffled by a seed.
//!
//! ```text
//! driver's arguments ─record─▶ LinkRecord + aligned inputs ─seed─▶ neutral link
//! ```

mod driver;
mod hold;
mod neutral;
mod note;
mod object;
mod record;
mod recording;
mod roles;
mod stored;

pub use driver::{LinkError, Linked, link};
pub use neutral::{Line, placements};
pub use note::Note;
pub use record::{Argument, Digest, LinkRecord, Obstacle, RecordError, StoredInput};
pub use recording::drop_unneeded;
pub use roles::{Roles, RolesError};
pub use stored::{StoredLinks, Unused};
