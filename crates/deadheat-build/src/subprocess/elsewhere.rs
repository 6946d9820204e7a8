//! Children on systems other than Linux, where deadheat starts only git. Ctrl-C ends git together
//! with deadheat.

use std::io;
use std::process::{Child, Command};

/// Leaves git in the process group of deadheat, so that Ctrl-C ends both.
pub(super) fn in_own_group(command: &mut Command) -> &mut Command {
    command
}

/// Returns `None`, because git is in deadheat's process group, so reading from the terminal does
/// not stop git alone.
pub(super) fn stopped_by(_child: &Child) -> Option<&'static str> {
    None
}

pub(super) fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}
