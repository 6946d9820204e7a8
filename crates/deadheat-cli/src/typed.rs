//! What was typed to start this process, made to start the race again.

use std::path::Path;

use deadheat::repetition::{Options, repeating};

/// The words that run the race of this process again, with the seed it drew.
pub fn again(seed: u64) -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let (words, options) = as_typed(words.collect());
    repeating(&words, options, seed)
}

/// Programs by their names, without the folder they lie in; `cargo deadheat`
/// as it is typed, and not as cargo passes it on.
fn as_typed(mut words: Vec<String>) -> (Vec<String>, Options) {
    let Some(first) = words.first_mut() else {
        return (words, Options::BeforeDashes);
    };
    let name = Path::new(first).file_name().and_then(|name| name.to_str());
    if let Some(name) = name {
        *first = name.to_owned();
    }
    if first != "cargo-deadheat" {
        return (words, Options::BeforeDashes);
    }
    words.remove(0);
    if words.first().is_some_and(|word| word == "deadheat") {
        words.remove(0);
    }
    let cargo = ["cargo", "deadheat"].map(str::to_owned);
    ([cargo.to_vec(), words].concat(), Options::BehindDashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_called_as_they_were_typed() {
        for (line, expected, options) in [
            (
                "/usr/bin/deadheat run -- a",
                "deadheat run -- a",
                Options::BeforeDashes,
            ),
            (
                "/x/cargo-deadheat deadheat main",
                "cargo deadheat main",
                Options::BehindDashes,
            ),
            (
                "cargo-deadheat main",
                "cargo deadheat main",
                Options::BehindDashes,
            ),
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            let (words, found) = as_typed(words);
            assert_eq!((words.join(" ").as_str(), found), (expected, options));
        }
        assert_eq!(as_typed(Vec::new()).0, [""; 0]);
    }
}
