//! The process: started once for all tests of a program, gone with it.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::messages::Messages;

/// Chromium listens on descriptor 3, answers on 4, and goes when 3 is closed,
/// however this program ends. The shell outlives it to remove its profile, and
/// kills it should it hang.
const SCRIPT: &str = r#"
profile=$(mktemp -d "${TMPDIR:-/tmp}/deadheat-chromium.XXXXXX") || exit
trap 'rm -rf "$profile"' EXIT
trap '' INT TERM HUP
HOME=$profile timeout -k 5 540 chromium --user-data-dir="$profile" "$@" \
    3<&0 4>&1 </dev/null >/dev/null
"#;

/// Nothing but the page: no sandbox that root and containers do not have, no
/// talk with the network, no saving of strength on windows nobody sees.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-features=SpareRendererForSitePerProcess",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--lang=en-US",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
];

/// The one Chromium of this program.
pub fn chromium() -> &'static Messages {
    static CHROMIUM: OnceLock<Messages> = OnceLock::new();
    CHROMIUM.get_or_init(start)
}

#[expect(
    clippy::zombie_processes,
    reason = "the shell cleans up behind this program and so must outlive it"
)]
fn start() -> Messages {
    let mut child = Command::new("sh")
        .args(["-c", SCRIPT, "sh"])
        .args(FLAGS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sh starts chromium");
    let pipe = "the pipe was asked for";
    Messages::over(
        child.stdin.take().expect(pipe),
        child.stdout.take().expect(pipe),
        child.stderr.take().expect(pipe),
    )
}
