//! The signal that asks a server to stop.

use deadheat::parts::model::HELP;

pub(crate) use nix::sys::signal::Signal;

/// Returns the signal with this name, with or without `SIG`.
pub(crate) fn signal(name: &str) -> Result<Signal, String> {
    let name = name.to_uppercase();
    let short = name.strip_prefix("SIG").unwrap_or(&name);
    let found = format!("SIG{short}").parse();
    found.map_err(|_| format!("'{name}' is not a signal{HELP}write a name, such as TERM or QUIT"))
}
