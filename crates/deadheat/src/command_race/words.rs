//! From the text of a command to the words that are executed.

use super::spec::{Shell, SpecError};

/// The words of a command: split as a shell would split them, or handed to a
/// shell whole.
pub(super) fn words(
    flag: &'static str,
    text: &str,
    shell: &Shell,
) -> Result<Vec<String>, SpecError> {
    if text.trim().is_empty() {
        return Err(SpecError::EmptyCommand { flag });
    }
    match shell {
        Shell::None => {
            let words = shell_words::split(text).map_err(|_| SpecError::Quotes {
                text: text.to_owned(),
            })?;
            if words.first().is_none_or(String::is_empty) {
                return Err(SpecError::EmptyCommand { flag });
            }
            Ok(words)
        }
        Shell::Words(shell) => {
            let mut words = shell.clone();
            words.extend(["-c".to_owned(), text.to_owned()]);
            Ok(words)
        }
    }
}

/// Words that a shell would act upon, in a command that gets none: they are
/// handed to the program as they are, which is rarely meant.
pub(super) fn suspicious_words(words: &[String]) -> Vec<&str> {
    const OPERATORS: [&str; 12] = [
        "|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "&>", "|&",
    ];
    words
        .iter()
        .skip(1)
        .map(String::as_str)
        .filter(|word| OPERATORS.contains(word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_shell_quotes_group_words() {
        let words = words("command", "grep -e 'a b' \"c d\"", &Shell::None).unwrap();
        assert_eq!(words, ["grep", "-e", "a b", "c d"]);
    }

    #[test]
    fn a_shell_gets_the_text_whole() {
        let shell = Shell::parse("bash --norc").unwrap();
        let words = words("command", "a | b", &shell).unwrap();
        assert_eq!(words, ["bash", "--norc", "-c", "a | b"]);
    }

    #[test]
    fn an_empty_command_and_an_open_quote_are_told() {
        assert!(
            words("--prepare", "  ", &Shell::None)
                .unwrap_err()
                .to_string()
                .contains("--prepare")
        );
        assert!(words("command", "''", &Shell::None).is_err());
        assert!(
            words("command", "echo 'a", &Shell::None)
                .unwrap_err()
                .to_string()
                .contains("quote")
        );
    }

    #[test]
    fn shell_operators_are_noticed_only_as_words_of_their_own() {
        let list = |text: &str| words("command", text, &Shell::None).unwrap();
        assert_eq!(suspicious_words(&list("a | b > c")), ["|", ">"]);
        assert!(suspicious_words(&list("grep 'a|b' x>y")).is_empty());
    }
}
