//! Things that are allowed and rarely meant.

use super::placeholders::placeholders;
use super::spec::{CommandRaceSpec, Shell};
use super::words::{suspicious_words, words};

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
