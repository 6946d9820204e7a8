//! Which scripts the page may run: its own, known by their hashes. Even if a
//! name found a way into the markup, no browser would run it.

/// A script of the page and its hash, as a content security policy names it.
pub(super) struct Script {
    pub(super) text: &'static str,
    pub(super) hash: &'static str,
}

/// The scripts in the order they run; each needs those before it. A test holds
/// the hashes to the files and says the new one when a file was changed: worked
/// out here, they would cost everybody who races functions a crate.
pub(super) const SCRIPTS: [Script; 6] = [
    Script {
        text: include_str!("../../assets/page/charts.min.js"),
        hash: "sha256-grDnjdNyR3kwocp/dDDaoJ+W0H8jGvWZ6uhuO8M8+zw=",
    },
    Script {
        text: include_str!("../../assets/page/scales.js"),
        hash: "sha256-MDHPIK+dK/lPJJqN5zSlb2M/KwNV+bxZ7AH2WD/yniw=",
    },
    Script {
        text: include_str!("../../assets/page/series.js"),
        hash: "sha256-cbeFp6AtywT4Iz+UzRVghDkN2mgmVMZUYxolxpeasV8=",
    },
    Script {
        text: include_str!("../../assets/page/shapes.js"),
        hash: "sha256-iDilPxii6pee5AdJmKlVfCwvK8XK1ntys4nxS+pFTWs=",
    },
    Script {
        text: include_str!("../../assets/page/drawing.js"),
        hash: "sha256-YLOpvEXpr4zXISrq43TLHQ5D6TvTTTmv5d8ojmho6ew=",
    },
    Script {
        text: include_str!("../../assets/page/page.js"),
        hash: "sha256-Bp/Wk6LIPeDk9sSeLT+jPZl/1jMgNDSaGdzIcTuK1C0=",
    },
];

/// The scripts allowed, as the policy lists them.
pub(super) fn sources() -> String {
    SCRIPTS.map(|script| format!("'{}'", script.hash)).join(" ")
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn every_script_is_known_by_its_hash() {
        for (index, script) in SCRIPTS.iter().enumerate() {
            let hash = BASE64_STANDARD.encode(Sha256::digest(script.text));
            assert_eq!(script.hash, format!("sha256-{hash}"), "script {index}");
        }
    }
}
