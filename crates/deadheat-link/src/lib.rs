//! Neutral links: executables whose functions are placed in a random order given by a seed.
//!
//! Two functions with identical instructions can differ by a third in speed only because of their
//! addresses. This crate runs in place of the linker driver, stores the inputs of a link, and makes
//! *neutral links* from them on demand: every function section is aligned to 64 bytes, and all of
//! them are shuffled with a seed. Neutral links of several builds can be *matched*: shared code is
//! at the same places in all of them.
//!
//! ```text
//! driver's arguments ─record─▶ LinkRecord + aligned inputs ─seed─▶ neutral link
//! ```

mod align;
mod arguments;
mod cache;
mod elf;
mod inside;
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
mod tracked;

pub use cache::StoredLinks;
pub use inside::{OutsideError, join_inside};
pub use link::{LinkError, Linked, Note, link};
pub use placements::{Line, placements};
pub use record::{Argument, Digest, LinkRecord, Obstacle, RecordError, StoredInput};
pub use roles::{Roles, RolesError};
pub use store::{drop_unneeded, open_lock};
pub use tracked::{
    REPOSITORY_VARIABLES, TrackedError, refuse_committed, refuse_tracked, refuse_tracked_journals,
    tracked_files,
};
