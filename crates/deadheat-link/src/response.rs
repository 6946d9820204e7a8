//! Response files: arguments that an `@FILE` on a command line stands for.

use std::path::Path;

/// Files expanded at most, so that two that name each other come to an end.
const MOST_FILES: usize = 2000;

/// All arguments, with every `@FILE` replaced by those in it, and those of the files named in
/// there. A file that is not there is an argument like others.
///
/// # Errors
///
/// The reason, in words, when a file is not text, or files name each other.
pub(crate) fn expand(arguments: &[String], directory: &Path) -> Result<Vec<String>, String> {
    let mut expanded = Vec::with_capacity(arguments.len());
    let mut files = 0;
    // What is still to be read, last first.
    let mut rest: Vec<String> = arguments.iter().rev().cloned().collect();
    while let Some(argument) = rest.pop() {
        let Some(name) = argument.strip_prefix('@') else {
            expanded.push(argument);
            continue;
        };
        let Ok(bytes) = std::fs::read(directory.join(name)) else {
            expanded.push(argument);
            continue;
        };
        files += 1;
        if files > MOST_FILES {
            return Err(format!(
                "response files that name each other, such as {name}"
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("the response file {name} is not UTF-8"))?;
        rest.extend(split(&text).into_iter().rev());
    }
    Ok(expanded)
}

/// The arguments in the text of a response file: apart by white space, with quotes of both kinds,
/// and a backslash before any character taken as it is.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => current.get_or_insert_default().extend(characters.next()),
            '"' | '\'' if quote.is_none() => {
                quote = Some(character);
                current.get_or_insert_default();
            }
            _ if quote == Some(character) => quote = None,
            _ if quote.is_none() && is_space(character) => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(character),
        }
    }
    arguments.extend(current);
    arguments
}

/// The text of a response file with these arguments, one a line: what [`split`] reads back.
pub(crate) fn join(arguments: &[String]) -> String {
    let lines = arguments.iter().map(|argument| escaped(argument) + "\n");
    lines.collect()
}

/// An argument with a backslash wherever it would be taken apart.
fn escaped(argument: &str) -> String {
    if argument.is_empty() {
        return "\"\"".to_owned();
    }
    let mut text = String::new();
    for character in argument.chars() {
        if is_space(character) || matches!(character, '\\' | '"' | '\'') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// Returns true for white space, as compilers see it.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(argument: &str, quote: char) -> String {
        let inner = argument.replace('\\', "\\\\");
        let inner = inner.replace(quote, &format!("\\{quote}"));
        format!("{quote}{inner}{quote}")
    }

    #[test]
    fn quotes_and_backslashes_are_read_as_compilers_read_them() {
        let text = "a 'b c' \"d 'e' \\\"f\" g\\ h\n\ti\"j\"k '' \\\\";
        let read = ["a", "b c", "d 'e' \"f", "g h", "ijk", "", "\\"];
        assert_eq!(split(text), read);
        assert_eq!(split(" \n"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(
            arguments in proptest::collection::vec(("\\PC*|[ \\t\\n'\"\\\\a@]*", 0..3), 0..8),
        ) {
            let text: Vec<String> = arguments
                .iter()
                .map(|(argument, way)| match way {
                    0 => escaped(argument),
                    1 => quoted(argument, '"'),
                    _ => quoted(argument, '\''),
                })
                .collect();
            let arguments: Vec<String> = arguments.into_iter().map(|(argument, _)| argument).collect();
            prop_assert_eq!(&split(&text.join("\n")), &arguments);
            prop_assert_eq!(split(&join(&arguments)), arguments);
        }
    }

    #[test]
    fn files_named_in_files_are_expanded_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("outer"), "a @inner 'd e'").unwrap();
        std::fs::write(folder.path().join("inner"), "b\nc").unwrap();
        let arguments = ["-x", "@outer", "@missing", "z"].map(str::to_owned);
        let expanded = expand(&arguments, folder.path()).unwrap();
        assert_eq!(expanded, ["-x", "a", "b", "c", "d e", "@missing", "z"]);
    }

    #[test]
    fn files_that_name_each_other_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "@b").unwrap();
        std::fs::write(folder.path().join("b"), "@a").unwrap();
        let error = expand(&["@a".to_owned()], folder.path()).unwrap_err();
        assert!(error.contains("name each other"), "{error}");
    }
}
