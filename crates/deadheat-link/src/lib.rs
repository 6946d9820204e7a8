//! Neutral links: executables whose functions are placed in a random order given by a seed.
//!
//! Two functions with identical instructions can differ by a third in speed only because of their
//! addresses. This crate runs in place of the linker driver, stores the inputs of a link, and makes
//! *neutral links* from them on demand: every function section is aligned to 64 bytes, and all of
//! them are shuffled with a seed. Neutral links of several builds can be *matched*: shared code is
//! at the same places in all of them.
//!
//! On systems other than Linux, the crate has only two modules: `tracked` checks whether git tracks
//! a file, and `inside` checks whether a name leads out of its folder.
//!
//! ```text
//! driver's arguments ─record─▶ LinkRecord + aligned inputs ─seed─▶ neutral link
//! ```

#[cfg(target_os = "linux")]
mod align;
#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod cache;
#[cfg(target_os = "linux")]
mod elf;
mod inside;
#[cfg(target_os = "linux")]
mod invocation;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod linker;
#[cfg(target_os = "linux")]
mod matched;
#[cfg(target_os = "linux")]
mod neutral_link;
#[cfg(target_os = "linux")]
mod placements;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod roles;
#[cfg(target_os = "linux")]
mod store;
#[cfg(target_os = "linux")]
mod symbols;
mod tracked;

#[cfg(target_os = "linux")]
pub use cache::StoredLinks;
pub use deadheat_format::canonicalize;
pub use inside::{OutsideError, join_inside};
#[cfg(target_os = "linux")]
pub use link::{LinkError, Linked, Note, link};
#[cfg(target_os = "linux")]
pub use placements::{Line, placements};
#[cfg(target_os = "linux")]
pub use record::{Argument, Digest, LinkRecord, Obstacle, RecordError, StoredInput};
#[cfg(target_os = "linux")]
pub use roles::{Roles, RolesError};
#[cfg(target_os = "linux")]
pub use store::{drop_unneeded, open_lock};
pub use tracked::{
    REPOSITORY_VARIABLES, TrackedError, refuse_committed, refuse_tracked, refuse_tracked_journals,
    tracked_files,
};
