//! A command as one pastes it into a shell.

/// The words, quoted where they need it, on one line.
pub(crate) fn shell(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    let unseen = |c: char| c != ' ' && c.escape_debug().count() > 1 && !"'\"\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(unseen) {
        // The form of bash, zsh and POSIX 2024 that names what cannot be seen.
        let escaped: String = word.chars().map(named).collect();
        format!("$'{escaped}'")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn named(character: char) -> String {
    match character {
        '\'' | '\\' => format!("\\{character}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        ' '..='~' => character.to_string(),
        control if control.is_ascii() => format!("\\x{:02x}", u32::from(control)),
        other if other.escape_debug().count() == 1 => other.to_string(),
        // Byte by byte, which holds in every locale.
        other => {
            let mut bytes = [0; 4];
            let bytes = other.encode_utf8(&mut bytes).bytes();
            bytes.map(|byte| format!("\\x{byte:02x}")).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        let words = ["deadheat", "run", "./a --b=1", "it's", "", "*", "größer"];
        let words = words.map(str::to_owned);
        assert_eq!(
            shell(&words),
            r"deadheat run './a --b=1' 'it'\''s' '' '*' 'größer'"
        );
    }

    #[test]
    fn what_cannot_be_seen_has_a_name_that_the_shell_reads_back() {
        let word = "a\n\u{1b}'\\\u{202e}".to_owned();
        assert_eq!(shell(&[word]), r"$'a\n\x1b\'\\\xe2\x80\xae'");
    }
}
