//! From the text of a command to the words that are executed.

use super::parameters::{ParameterError, is_name};
use super::spec::{CommandRaceSpec, Shell, SpecError};

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

/// Fills the values in for their placeholders.
///
/// Without parameters every brace is plain text: `jq '{name}'` must work.
/// With parameters an unknown `{name}` is an error, `{{name}}` is the plain
/// text, and `${name}` belongs to the shell.
pub(super) fn substitute(
    place: &'static str,
    text: &str,
    values: &[(String, String)],
) -> Result<String, ParameterError> {
    if values.is_empty() {
        return Ok(text.to_owned());
    }
    let value_of = |name: &str| {
        values
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, v)| v)
    };
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        filled.push_str(before);
        let name = from[1..]
            .split('}')
            .next()
            .filter(|name| name.len() + 1 < from.len() && is_name(name));
        let doubled = from[1..]
            .strip_prefix('{')
            .and_then(|inner| inner.split_once("}}"))
            .filter(|(name, _)| is_name(name) && value_of(name).is_none());
        if let Some((name, after)) = doubled {
            filled.push_str(&format!("{{{name}}}"));
            rest = after;
        } else if let Some(name) = name {
            let after = &from[name.len() + 2..];
            match value_of(name) {
                Some(value) => filled.push_str(value),
                None if before.ends_with('$') => filled.push_str(&from[..name.len() + 2]),
                None => {
                    return Err(ParameterError::Unknown {
                        place,
                        text: text.to_owned(),
                        name: name.to_owned(),
                        near: similar(name, values),
                    });
                }
            }
            rest = after;
        } else {
            filled.push('{');
            rest = &from[1..];
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A defined name that differs by case or by one letter.
fn similar(name: &str, values: &[(String, String)]) -> Option<String> {
    let one_apart = |a: &str, b: &str| {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        let most = a.len().min(b.len()) - head;
        let tail = a
            .iter()
            .rev()
            .zip(b.iter().rev())
            .take(most)
            .take_while(|(x, y)| x == y)
            .count();
        a.len().max(b.len()) - head - tail <= 1
    };
    values
        .iter()
        .map(|(known, _)| known)
        .find(|known| known.eq_ignore_ascii_case(name) || one_apart(known, name))
        .or_else(|| {
            values
                .first()
                .map(|(known, _)| known)
                .filter(|_| values.len() == 1)
        })
        .cloned()
}

/// Names between braces that look like placeholders, for a hint when no
/// parameter is defined at all.
pub(super) fn placeholders(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, _) in text.match_indices('{') {
        if text[..open].ends_with(['$', '{']) {
            continue;
        }
        if let Some((name, _)) = text[open + 1..].split_once('}')
            && is_name(name)
        {
            found.push(name.to_owned());
        }
    }
    found
}

impl CommandRaceSpec {
    /// Things that are allowed and rarely meant, in words.
    pub fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        for command in &self.commands {
            if self.shell == Shell::None
                && let Ok(words) = words("command", command, &self.shell)
                && let Some(operator) = suspicious_words(&words).first()
            {
                hints.push(format!(
                    "'{command}': no shell reads the '{operator}', the program gets it as an argument; -S runs commands in a shell"
                ));
            }
            if command.starts_with('-') {
                hints.push(format!(
                    "'{command}' is taken for a command; options go before the --"
                ));
            }
            if self.parameters.is_empty()
                && let Some(name) = placeholders(command).first()
            {
                hints.push(format!(
                    "'{command}': {{{name}}} is passed on as it is, since no -L or -P defines it"
                ));
            }
        }
        hints
    }
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

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(n, v)| (n.to_string(), v.to_string()))
            .collect()
    }

    #[test]
    fn values_are_filled_in_wherever_their_name_stands() {
        let values = values(&[("n", "5"), ("size", "10")]);
        let fill = |text| substitute("command", text, &values).unwrap();
        assert_eq!(fill("a {n} b{size}{n}"), "a 5 b105");
        assert_eq!(
            fill("awk '{print $1}' {} {a,b} ${HOME}"),
            "awk '{print $1}' {} {a,b} ${HOME}"
        );
        assert_eq!(fill("jq '{{user}}' {{n}}"), "jq '{user}' {5}");
        assert_eq!(fill("ünï {n} é{"), "ünï 5 é{");
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_nearest_known_one() {
        let error = substitute(
            "--prepare",
            "x {sise}",
            &values(&[("n", "1"), ("size", "2")]),
        );
        let text = error.unwrap_err().to_string();
        assert!(text.contains("--prepare 'x {sise}'"), "{text}");
        assert!(
            text.contains("defines {sise} (did you mean {size}?)"),
            "{text}"
        );
        assert!(text.contains("write {{sise}}"), "{text}");
    }

    #[test]
    fn without_parameters_braces_are_plain_text() {
        assert_eq!(
            substitute("command", "jq '{name}'", &[]).unwrap(),
            "jq '{name}'"
        );
        assert_eq!(placeholders("jq '{name}' ${HOME} {a b}"), ["name"]);
    }

    fn spec(commands: &[&str]) -> CommandRaceSpec {
        CommandRaceSpec {
            commands: commands.iter().map(|text| text.to_string()).collect(),
            ..CommandRaceSpec::default()
        }
    }

    #[test]
    fn shell_syntax_and_stray_placeholders_earn_a_hint() {
        let hints = spec(&["a | b", "c {n}"]).hints();
        assert!(hints[0].contains("-S"), "{hints:?}");
        assert!(hints[1].contains("{n}"), "{hints:?}");
        assert!(spec(&["a 'b|c'", "jq .x"]).hints().is_empty());
        let hints = spec(&["a", "--margin", "2%"]).hints();
        assert!(hints[0].contains("options go before the --"), "{hints:?}");
    }
}
