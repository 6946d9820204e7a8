//! The functions of the operating system on Linux, most of them from the engine.

use std::os::fd::AsRawFd as _;

use deadheat_engine::terminal_width;
#[cfg(feature = "commands")]
pub use deadheat_engine::{
    Ended, Interrupts, find_executable, is_executable, is_jar, keep_status_of_children,
    not_executable, outlive_file_limits, run_in_foreground, with_enough_stack,
};
pub use deadheat_engine::{held_back_signal, stdout_was_closed, unix_seconds};

/// Returns the number of columns of the terminal on standard output; `None` if it is not a
/// terminal.
pub fn columns_of_stdout() -> Option<u16> {
    terminal_width(std::io::stdout().as_raw_fd())
}

/// Returns the number of columns of the terminal on standard error; `None` if it is not a terminal.
pub fn columns_of_stderr() -> Option<u16> {
    terminal_width(std::io::stderr().as_raw_fd())
}

/// Returns true, because every terminal shows colours.
pub(crate) fn enable_colors() -> bool {
    true
}

/// Returns false: on Linux, only the locale says whether standard output shows characters outside
/// of ASCII.
pub(crate) fn writes_unicode() -> bool {
    false
}
