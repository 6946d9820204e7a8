//! The machine a run was made on, and the command that makes it again.

use deadheat_model::{Analysis, RunHeader};

use crate::glyphs::Glyphs;
use crate::names::{escape, shorten};
use crate::units::{share, two_digits};

/// Columns that a fact may take.
const FACT: usize = 120;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// What is known, a fact a line.
pub(super) fn facts(analysis: &Analysis, header: &RunHeader) -> Vec<String> {
    let machine = &header.environment;
    let shown = |text: &str| shorten(&escape(text, GLYPHS), FACT, GLYPHS);
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| format!("{name}: {value}")));
    };
    let system = match &machine.kernel {
        Some(kernel) => format!("{}, kernel {}", shown(&machine.system), shown(kernel)),
        None => shown(&machine.system),
    };
    fact("system", Some(system).filter(|system| !system.is_empty()));
    fact("processor", machine.cpu.as_deref().map(shown));
    fact("cores", machine.cores.map(|cores| cores.to_string()));
    fact("frequency governor", machine.governor.as_deref().map(shown));
    fact("load at the start", machine.load.map(two_digits));
    let pinned: Vec<String> = machine.pinned.iter().map(u32::to_string).collect();
    let held = (!pinned.is_empty()).then(|| pinned.join(", "));
    fact("held on cores", held);
    let debug = machine
        .debug_build
        .then(|| "with debug assertions".to_owned());
    fact("build", debug);
    fact("deadheat", Some(shown(&analysis.tool_version)));
    fact("margin", Some(share(analysis.margin)));
    fact("confidence", Some(share(1.0 - analysis.alpha)));
    facts
}

/// A command for a shell, word by word as it was.
pub(super) fn command(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A line break or a sign that cannot be seen would not survive copying.
    if escape(word, GLYPHS) == word {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let signs = word.chars().map(|sign| match sign {
        '\'' | '\\' => format!("\\{sign}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        sign if escape(&sign.to_string(), GLYPHS) == sign.to_string() => sign.to_string(),
        sign => format!("\\U{:08x}", u32::from(sign)),
    });
    format!("$'{}'", signs.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let words = ["deadheat", "run", "sleep 0.1", "it's", "", "a\nb\u{1b}`"];
        let words = words.map(str::to_owned);
        assert_eq!(
            command(&words),
            r"deadheat run 'sleep 0.1' 'it'\''s' '' $'a\nb\U0000001b`'"
        );
    }
}
