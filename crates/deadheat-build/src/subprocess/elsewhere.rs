//! Children on systems other than Linux, where deadheat starts only git. Ctrl-C ends both at once.

use std::io;
use std::process::{Child, Command};

/// Leaves git in the group of deadheat, so that Ctrl-C ends both.
pub(super) fn in_own_group(command: &mut Command) -> &mut Command {
    command
}

/// Returns `None`, because no child is waited for in the background.
pub(super) fn stopped_by(_child: &Child) -> Option<&'static str> {
    None
}

pub(super) fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
