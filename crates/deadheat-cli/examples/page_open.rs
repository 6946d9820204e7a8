//! The time a page takes to open at its first benchmark: milliseconds from the navigation to the
//! picture that shows a chart, the median of five windows. Charts out of sight are drawn when one
//! comes near, so nobody waits for them.
//!
//! `cargo run --release -p deadheat-cli --example page_open -- PAGE.html`

#[path = "../tests/browser/mod.rs"]
mod browser;

use std::path::Path;

use browser::Tab;

/// Notes when the first chart is drawn and the picture after it is made.
const WATCH: &str = "new MutationObserver((_, watch) => {
    if (!document.querySelector('figure[data-drawn=true]')) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.__drawn = performance.now())));
}).observe(document, { subtree: true, childList: true, attributeFilter: ['data-drawn'] })";

fn main() {
    let page = std::env::args_os().nth(1);
    let page = page.expect("page_open PAGE.html: which page is to be opened?");
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let tab = Tab::new();
            tab.call(
                "Page.addScriptToEvaluateOnNewDocument",
                serde_json::json!({"source": WATCH}),
            );
            tab.go(Path::new(&page), "#b0");
            tab.wait("window.__drawn");
            tab.number("window.__drawn")
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{:.0}", times[2]);
}
