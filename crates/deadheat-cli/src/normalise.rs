//! Optional values of options, written with or without `=`.

use std::ffi::OsString;

/// Joins optional values to their options with `=`: `-i3,4` becomes `-i=3,4`, `-S bash` becomes
/// `--shell=bash`, and `--markdown a.md` becomes `--markdown=a.md`. A command after `-S`, or a file
/// after `--markdown` that may be a recording, stays a separate word.
pub fn normalise(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let has_shell = args
        .get(1)
        .is_some_and(|name| name == "run" || name == "explain");
    let prints_markdown = args
        .get(1)
        .is_some_and(|name| name == "explain" || name == "history");
    let is_comment = |word: &OsString| word.as_encoded_bytes().ends_with(b".md");
    let end = args.iter().position(|arg| arg == "--");
    let (ours, commands) = args.split_at(end.unwrap_or(args.len()));
    let mut ours = ours.iter().cloned().peekable();
    let mut normal = Vec::with_capacity(args.len());
    while let Some(arg) = ours.next() {
        let text = arg.to_str().unwrap_or_default();
        let codes = text.strip_prefix("-i").filter(|codes| {
            codes.starts_with(|c: char| c.is_ascii_digit())
                && codes.chars().all(|c| c.is_ascii_digit() || c == ',')
        });
        let attached = text
            .strip_prefix("-S")
            .filter(|shell| has_shell && !shell.starts_with('='));
        let takes_codes = has_shell && (text == "-i" || text == "--ignore-failure");
        normal.push(match (codes, attached) {
            // A number is an exit code and not a command.
            _ if takes_codes => {
                let mut option = arg;
                if let Some(codes) = ours.next_if(are_codes) {
                    option.push("=");
                    option.push(codes);
                }
                option
            }
            (Some(codes), _) => format!("-i={codes}").into(),
            (_, Some(shell)) if !shell.is_empty() => format!("--shell={shell}").into(),
            _ if has_shell && (text == "-S" || text == "--shell") => {
                // If there is a `--`, all commands follow it, so a word before it is a shell.
                let is_shell = |word: &OsString| {
                    let word = word.to_str().unwrap_or_default();
                    !word.starts_with('-') && (end.is_some() || names_shell(word))
                };
                let mut option = OsString::from("--shell");
                if let Some(shell) = ours.next_if(is_shell) {
                    option.push("=");
                    option.push(shell);
                }
                option
            }
            _ if text == "--markdown" && !prints_markdown => {
                let mut option = arg;
                if let Some(file) = ours.next_if(is_comment) {
                    option.push("=");
                    option.push(file);
                }
                option
            }
            _ => arg,
        });
    }
    normal.extend_from_slice(commands);
    normal
}

/// Returns true for a list of exit codes, such as `3` or `3,4`.
fn are_codes(word: &OsString) -> bool {
    let word = word.as_encoded_bytes();
    let is_code = |code: &[u8]| !code.is_empty() && code.iter().all(u8::is_ascii_digit);
    word.split(|byte| *byte == b',').all(is_code)
}

/// Returns true if `text` is a shell with options, without a command for it.
fn names_shell(text: &str) -> bool {
    const SHELLS: [&str; 18] = [
        "none", "default", "sh", "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh",
        "nu", "osh", "pwsh", "tcsh", "xonsh", "yash", "zsh",
    ];
    let mut words = text.split_ascii_whitespace();
    let name = words.next().and_then(|program| program.rsplit('/').next());
    name.is_some_and(|name| SHELLS.contains(&name))
        && words.all(|word| word.starts_with(['-', '+']) && word != "-c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_may_follow_the_short_flag_directly() {
        let args = ["-i3,4", "-i", "--", "-i5"].map(OsString::from);
        let normal = normalise(args.into_iter());
        assert_eq!(normal, ["-i=3,4", "-i", "--", "-i5"].map(OsString::from));
    }

    #[test]
    fn exit_codes_may_be_a_word_of_their_own_and_a_command_is_left_alone() {
        for (line, expected) in [
            ("-i 3 ./a", "-i=3 ./a"),
            ("--ignore-failure 3,4 ./a", "--ignore-failure=3,4 ./a"),
            ("-i ./a 3", "-i ./a 3"),
            ("-i -- 3", "-i -- 3"),
        ] {
            let words = format!("deadheat run {line}");
            let normal = normalise(words.split(' ').map(OsString::from));
            let expected = format!("deadheat run {expected}");
            assert_eq!(normal.join(std::ffi::OsStr::new(" ")), *expected);
        }
    }

    #[test]
    fn a_page_may_follow_the_option_for_markdown_and_a_recording_is_left_alone() {
        for (line, expected) in [
            ("analyze --markdown a.jsonl", "analyze --markdown a.jsonl"),
            (
                "report a.jsonl --markdown a.md",
                "report a.jsonl --markdown=a.md",
            ),
            ("run --markdown -- ./a.md b", "run --markdown -- ./a.md b"),
            ("explain --markdown a.md", "explain --markdown a.md"),
        ] {
            let words = format!("deadheat {line}");
            let normal = normalise(words.split(' ').map(OsString::from));
            let expected = format!("deadheat {expected}");
            assert_eq!(
                normal.join(std::ffi::OsStr::new(" ")),
                OsString::from(expected)
            );
        }
    }

    #[test]
    fn a_shell_may_follow_its_option_and_a_command_is_left_to_be_one() {
        let normal = |line: &[&str]| {
            let words = ["deadheat", "run"].iter().chain(line).map(OsString::from);
            let words = normalise(words).into_iter().skip(2);
            let words: Vec<String> = words.map(|word| word.into_string().unwrap()).collect();
            words.join(" ")
        };
        for (line, expected) in [
            (&["-S", "a | b", "c"][..], "--shell a | b c"),
            (
                &["-S", "bash x.sh", "bash y.sh"],
                "--shell bash x.sh bash y.sh",
            ),
            (&["-S", "bash -c x", "c"], "--shell bash -c x c"),
            (
                &["--shell", "/bin/bash --norc", "c"],
                "--shell=/bin/bash --norc c",
            ),
            (&["-S", "none", "c"], "--shell=none c"),
            (&["-S", "./mine", "--", "c"], "--shell=./mine -- c"),
            (&["-S", "--", "c"], "--shell -- c"),
            (&["-S", "-r", "2", "c"], "--shell -r 2 c"),
            (&["-Szsh", "c"], "--shell=zsh c"),
            (&["-S=zsh", "c"], "-S=zsh c"),
            (&["--", "-S", "c"], "-- -S c"),
            (&["-S"], "--shell"),
        ] {
            assert_eq!(normal(line), expected);
        }
    }
}
