//! The words of a recorded call, made fit for a neutral link.

/// Linker options that put sections into an order of their own, with a value
/// after `=` or in the argument that follows.
const ORDERS: [&str; 4] = [
    "symbol-ordering-file",
    "section-ordering-file",
    "call-graph-ordering-file",
    "shuffle-sections",
];

/// The recorded arguments without what would undo the shuffle. With
/// `another_linker`, the choice of the linker goes as well.
pub(crate) fn neutral_words(words: Vec<String>, another_linker: bool) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut value_follows = false;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "-Xlinker" {
            let Some(option) = words.next() else { continue };
            if is_kept(&option, &mut value_follows) {
                kept.extend([word, option]);
            }
        } else if let Some(options) = word.strip_prefix("-Wl,") {
            let options: Vec<&str> = options
                .split(',')
                .filter(|option| is_kept(option, &mut value_follows))
                .collect();
            if !options.is_empty() {
                kept.push(format!("-Wl,{}", options.join(",")));
            }
        } else if !(another_linker
            && (word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=")))
        {
            kept.push(word);
        }
    }
    kept
}

/// Whether a linker option stays. `value_follows` is carried from one option
/// to the next, in whatever driver argument that one is.
fn is_kept(option: &str, value_follows: &mut bool) -> bool {
    if std::mem::take(value_follows) {
        return false;
    }
    let Some(bare) = option
        .strip_prefix("--")
        .or_else(|| option.strip_prefix('-'))
    else {
        return true;
    };
    let (name, valued) = match bare.split_once('=') {
        Some((name, _)) => (name, true),
        None => (bare, false),
    };
    if ORDERS.contains(&name) {
        *value_follows = !valued;
        return false;
    }
    // Those of newer versions of lld all have their value after `=`.
    name != "call-graph-profile-sort" && !name.starts_with("bp-")
}

/// An argument of the driver with a path at its end. A comma in a path would
/// be taken apart by `-Wl,`, so such options go one by one.
pub(crate) fn linker_word(before: &str, path: &str) -> Vec<String> {
    match before.strip_prefix("-Wl,") {
        Some(options) if path.contains(',') => {
            let whole = options.split(',').collect::<Vec<_>>();
            let (last, others) = whole.split_last().unwrap_or((&"", &[]));
            let mut words = Vec::new();
            for option in others {
                words.extend(["-Xlinker".to_owned(), (*option).to_owned()]);
            }
            words.extend(["-Xlinker".to_owned(), format!("{last}{path}")]);
            words
        }
        _ => vec![format!("{before}{path}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neutral(words: &str, another_linker: bool) -> String {
        neutral_words(
            words.split(' ').map(str::to_owned).collect(),
            another_linker,
        )
        .join(" ")
    }

    #[test]
    fn orders_of_the_users_give_way_to_the_shuffle_and_nothing_else_does() {
        for order in [
            "-Wl,--symbol-ordering-file=o",
            "-Wl,--symbol-ordering-file,o",
            "-Wl,--symbol-ordering-file -Wl,o",
            "-Xlinker -symbol-ordering-file -Xlinker o",
            "-Wl,--section-ordering-file=o",
            "-Wl,--shuffle-sections=.text*=3",
            "-Wl,--bp-startup-sort=function",
            "-Wl,--call-graph-profile-sort=hfsort",
        ] {
            assert_eq!(
                neutral(&format!("a.o {order} -lm"), false),
                "a.o -lm",
                "{order}"
            );
        }
        let recorded = "-Wl,--as-needed -Wl,-rpath,/lib -Xlinker -z -Xlinker now -L /o";
        assert_eq!(neutral(recorded, true), recorded);
        assert_eq!(
            neutral(
                "-Wl,--gc-sections,--symbol-ordering-file,o,--as-needed",
                true
            ),
            "-Wl,--gc-sections,--as-needed"
        );
    }

    #[test]
    fn the_users_linker_gives_way_only_to_another() {
        let recorded = "-fuse-ld=gold --ld-path=/l/ld a.o";
        assert_eq!(neutral(recorded, false), recorded);
        assert_eq!(neutral(recorded, true), "a.o");
    }

    #[test]
    fn a_path_with_a_comma_reaches_the_linker_in_one_piece() {
        assert_eq!(linker_word("-Wl,--script=", "/a/b"), ["-Wl,--script=/a/b"]);
        assert_eq!(
            linker_word("-Wl,-T,", "/a,b/c"),
            ["-Xlinker", "-T", "-Xlinker", "/a,b/c"]
        );
        assert_eq!(linker_word("", "/a,b.o"), ["/a,b.o"]);
    }
}
