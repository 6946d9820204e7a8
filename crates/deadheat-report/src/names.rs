//! Formats names from command lines and files, which may contain any characters: escapes them for
//! terminals, CI systems and XML, shortens them so that they stay different, and joins them in
//! sentences.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::hash::Hash;

use deadheat_model::{ORDERS, is_workflow_command};

use crate::glyphs::Glyphs;
use crate::layout::Width as _;

/// Escapes everything that would move the cursor, change the colour, reverse the reading direction,
/// be invisible, or be a command to a CI system.
pub fn escape(text: &str, glyphs: Glyphs) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Printable ASCII is harmless, although Rust would escape some of it with a backslash.
            ' '..='~' => safe.push(character),
            _ if glyphs == Glyphs::Ascii => safe.extend(character.escape_default()),
            _ => {
                // A combining mark belongs to the character before it and is part of many scripts.
                // Rust escapes a combining mark on its own, so a letter is put before it.
                let behind_a_letter = format!("a{character}");
                safe.extend(behind_a_letter.escape_debug().skip(1));
            }
        }
    }
    without_orders(safe.into()).into_owned()
}

/// Makes commands to CI systems, such as `##[group]`, harmless: replaces the second `#` of each by
/// the escape sequence of JSON, so that a JSON document stays valid.
fn without_orders(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut safe = text;
    for order in ORDERS {
        if safe.contains(order) {
            safe = safe
                .replace(order, &order.replacen("##", "#\\u0023", 1))
                .into();
        }
    }
    safe
}

/// Escapes a message so that neither a terminal nor a CI system executes anything in it.
///
/// A line break that deadheat writes is followed by two spaces and stays. Any other line break came
/// with a text from outside and is escaped. So is a line break before `::`, because GitHub executes
/// lines that begin with `::`.
pub fn escape_message(text: &str, glyphs: Glyphs) -> String {
    let mut lines = text.split('\n');
    let mut safe = escape(lines.next().unwrap_or_default(), glyphs);
    for line in lines {
        safe += if line.starts_with("  ") && !is_workflow_command(line) {
            "\n"
        } else {
            "\\n"
        };
        safe += &escape(line, glyphs);
    }
    safe
}

/// Escapes a line of output with texts from outside, such as paths and commits, so that neither a
/// terminal nor a CI system executes anything in it. `text` has no line break at its end.
pub fn escape_line(text: &str, glyphs: Glyphs) -> String {
    let safe = escape(text, glyphs);
    match is_workflow_command(&safe) {
        true => format!("\\{}", safe.trim_start()),
        false => safe,
    }
}

/// Makes a whole output harmless for terminals and CI systems, but keeps the colours of answers.
/// Control characters other than line breaks and tabs are escaped as JSON does, so that a document
/// stays valid. A line that a CI system would execute gets a backslash in front. This is necessary
/// because wrapping may move an escaped name to the beginning of a line. Markdown does not show the
/// backslash.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let safe = without_orders(without_controls(text));
    if !safe.lines().any(is_workflow_command) {
        return safe;
    }
    let lines = safe.split_inclusive('\n').map(|line| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        match is_workflow_command(line) {
            true => format!("{indent}\\{rest}"),
            false => line.to_owned(),
        }
    });
    lines.collect::<String>().into()
}

fn without_controls(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        safe += &rest[..at];
        rest = &rest[at..];
        let kept = length_of_color(rest);
        let mut characters = rest.chars();
        if kept > 0 {
            safe += &rest[..kept];
            rest = &rest[kept..];
        } else if let Some(control) = characters.next() {
            let _ = write!(safe, "\\u{:04x}", u32::from(control));
            rest = characters.as_str();
        }
    }
    (safe + rest).into()
}

/// Returns the length in bytes of the colour sequence at the beginning of the text, or 0.
fn length_of_color(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';');
    match end.filter(|end| parameters[*end..].starts_with('m')) {
        Some(end) => text.len() - parameters.len() + end + 1,
        None => 0,
    }
}

/// Shortens a text to `width` columns by omitting its middle. A command begins with its program,
/// and similar commands often differ only at their ends.
pub fn shorten(text: &str, width: usize, glyphs: Glyphs) -> String {
    if has_room(text, width) {
        return text.to_owned();
    }
    let room = width.saturating_sub(glyphs.ellipsis().width());
    let head = taken(&mut text.chars(), room.div_ceil(2));
    let tail = taken(&mut text.chars().rev(), room / 2);
    let head: String = head.into_iter().collect();
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}{}{tail}", glyphs.ellipsis())
}

/// Shortens each name to at most `width` columns, so that different names stay different. Names
/// that differ only in their middle keep it, and names that would still be equal get numbers.
pub(crate) fn shorten_apart(names: &[String], width: usize, glyphs: Glyphs) -> Vec<String> {
    let mut short = texts(names, &|name| shorten(name, width, glyphs));
    for alike in alike(names, &short) {
        let middle = differing(alike.iter().map(|at| names[*at].as_str()));
        for at in alike {
            short[at] = around(&names[at], &middle, width, glyphs);
        }
    }
    for alike in alike(names, &short) {
        let mut known: HashMap<&str, usize> = HashMap::new();
        for at in alike {
            let name = names[at].as_str();
            let next = known.len() + 1;
            let number = *known.entry(name).or_insert(next);
            let number = format!(" ({number})");
            let room = width.saturating_sub(number.width());
            short[at] = shorten(name, room, glyphs) + &number;
        }
    }
    short
}

fn alike(names: &[String], short: &[String]) -> Vec<Vec<usize>> {
    let places = short.iter().cloned().zip(0..);
    let groups = gathered(places).into_iter().map(|(_, places)| places);
    let differ = |places: &Vec<usize>| places.iter().any(|at| names[*at] != names[places[0]]);
    groups.filter(differ).collect()
}

/// Returns how many characters all names share at the start and at the end.
fn differing<'n>(mut names: impl Iterator<Item = &'n str>) -> (usize, usize) {
    let first: Vec<char> = names.next().unwrap_or_default().chars().collect();
    let mut alike = (first.len(), first.len());
    for name in names {
        let same = |pairs: &mut dyn Iterator<Item = (&char, char)>| {
            pairs.take_while(|(one, other)| **one == *other).count()
        };
        alike.0 = alike.0.min(same(&mut first.iter().zip(name.chars())));
        alike.1 = alike
            .1
            .min(same(&mut first.iter().rev().zip(name.chars().rev())));
    }
    alike
}

/// Shortens a name to `width` columns, and keeps the part between the first `before` and the last
/// `behind` characters.
fn around(name: &str, (before, behind): &(usize, usize), width: usize, glyphs: Glyphs) -> String {
    let characters: Vec<char> = name.chars().collect();
    let text = |range: std::ops::Range<usize>| -> String { characters[range].iter().collect() };
    let end = characters.len().saturating_sub(*behind).max(*before);
    let middle = text(*before..end);
    let dots = glyphs.ellipsis();
    let room = width.saturating_sub(2 * dots.width() + middle.width());
    if room < 4 {
        let middle = shorten(&middle, width.saturating_sub(2 * dots.width()), glyphs);
        return format!("{dots}{middle}{dots}");
    }
    let cut = |part: String, room: usize, from_end: bool| {
        if part.width() <= room + dots.width() {
            return part;
        }
        let taken = if from_end {
            taken(&mut part.chars().rev(), room)
                .into_iter()
                .rev()
                .collect::<String>()
        } else {
            taken(&mut part.chars(), room).into_iter().collect()
        };
        if from_end {
            format!("{dots}{taken}")
        } else {
            format!("{taken}{dots}")
        }
    };
    let head = cut(text(0..*before), room - room / 2, false);
    let tail = cut(text(end..characters.len()), room / 2, true);
    head + &middle + &tail
}

/// Escapes a text from outside and shortens it to `width` columns.
pub fn shown(text: &str, width: usize, glyphs: Glyphs) -> String {
    shorten(&escape(text, glyphs), width, glyphs)
}

/// Returns true if the text fits into `width` columns.
pub(crate) fn has_room(text: &str, width: usize) -> bool {
    // Combining marks have zero width, so a narrow name could have any number of characters.
    text.width() <= width && text.chars().count() <= width.saturating_mul(4)
}

fn taken(characters: &mut dyn Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut room = width;
    characters
        .take(width.saturating_mul(4))
        .take_while(|character| {
            let columns = character.to_string().width();
            let fits = columns <= room;
            room = room.saturating_sub(columns);
            fits
        })
        .collect()
}

/// Returns one label per name: escaped, at most `width` columns wide, and no two the same.
///
/// Long names keep the part in which they differ. If any two names are equal, as in a race of a
/// command against itself, all labels get numbers.
pub fn labels(names: &[&str], width: usize, glyphs: Glyphs) -> Vec<String> {
    let escaped = texts(names, &|name| match *name {
        "" => "(no name)".to_owned(),
        name => escape(name, glyphs),
    });
    let labels = shorten_apart(&escaped, width, glyphs);
    let mut seen = HashSet::new();
    if labels.iter().all(|label| seen.insert(label)) {
        return labels;
    }
    // If only repeated names had numbers, the result could equal a name that itself ends in "(1)".
    let digits = names.len().to_string().len();
    let mut labels = shorten_apart(&escaped, width.saturating_sub(digits + 3), glyphs);
    for (index, label) in labels.iter_mut().enumerate() {
        *label += &format!(" ({})", index + 1);
    }
    labels
}

/// Returns the text with its first letter in upper case.
pub fn sentence_case(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter();
    first
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}

/// Returns the text of every item. `text` is a `dyn` reference because the compiler generated a
/// loop and a vector for each of a hundred closures, which was a large part of this crate's compile
/// time.
pub fn texts<T>(items: &[T], text: &dyn Fn(&T) -> String) -> Vec<String> {
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        texts.push(text(item));
    }
    texts
}

/// Groups things by their keys, in the order in which the keys first occur.
pub(crate) fn gathered<K: Eq + Hash + Clone, T>(
    things: impl IntoIterator<Item = (K, T)>,
) -> Vec<(K, Vec<T>)> {
    let mut gathered: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (key, thing) in things {
        let place = *places.entry(key.clone()).or_insert(gathered.len());
        match gathered.get_mut(place) {
            Some((_, things)) => things.push(thing),
            None => gathered.push((key, vec![thing])),
        }
    }
    gathered
}

/// Joins parts as "a, b and c"; empty if there are none.
pub fn enumerated(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// Joins at most `at_most` parts and counts the rest: "a, b and 3 more".
pub fn first_of(mut parts: Vec<String>, at_most: usize) -> String {
    let more = parts.len().saturating_sub(at_most);
    if more > 0 {
        parts.truncate(at_most);
        parts.push(format!("{more} more"));
    }
    enumerated(&parts)
}

/// Joins at most `at_most` parts and counts the rest: "a, b and 3 more". If all parts fit, joins
/// them with commas only.
pub(crate) fn some_of(all: &[String], at_most: usize) -> String {
    let (named, more) = all.split_at(all.len().min(at_most));
    match more.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Escapes a text for the content of an XML element, or for an attribute in double quotes. XML 1.0
/// cannot contain most control characters, so the text shows their codes, such as `\u{1b}`.
pub(crate) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // An XML parser would convert these characters to spaces in an attribute.
            '\t' | '\n' | '\r' => {
                let _ = write!(safe, "&#{};", u32::from(character));
            }
            other if is_allowed(other) => safe.push(other),
            other => safe.extend(other.escape_unicode()),
        }
    }
    safe
}

/// Returns true for a character that XML 1.0 allows and does not discourage.
fn is_allowed(character: char) -> bool {
    let number = u32::from(character);
    let noncharacter = number & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&number);
    !character.is_control() && !noncharacter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_the_middle_alone_stay_apart() {
        let owned = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let middles = owned(&[
            "BM_GramSchmidt<double>/size:1024/count:1/repeats:10/manual_time",
            "BM_GramSchmidt<double>/size:1024/count:2/repeats:10/manual_time",
            "BM_GramSchmidt<double>/size:1024/count:16/repeats:10/manual_time",
            "BM_GramSchmidt<double>/size:1024/count:1/repeats:10/manual_time",
        ]);
        let short = shorten_apart(&middles, 30, Glyphs::Unicode);
        assert_eq!(short[0], short[3], "the same name");
        assert!(
            short[1].contains('2') && short[2].contains("16"),
            "{short:?}"
        );
        let long = |end: &str| format!("{}{end}{}", "a".repeat(50), "b".repeat(50));
        let far = [long("one, two and three"), long("one, two and four")];
        for width in [12, 20, 47, 120] {
            for names in [&middles[..3], &far] {
                let short = shorten_apart(names, width, Glyphs::Unicode);
                let distinct: std::collections::HashSet<&String> = short.iter().collect();
                assert_eq!(distinct.len(), names.len(), "{width}: {short:?}");
                assert!(
                    short.iter().all(|one| one.width() <= width),
                    "{width}: {short:?}"
                );
            }
        }
    }

    #[test]
    fn what_would_move_the_cursor_or_hide_is_escaped() {
        let hostile = "a\n\t\u{1b}[31m\u{202e}b\u{200b}\u{7f}\u{9b}\u{2028}";
        assert_eq!(
            escape(hostile, Glyphs::Unicode),
            r"a\n\t\u{1b}[31m\u{202e}b\u{200b}\u{7f}\u{9b}\u{2028}"
        );
    }

    #[test]
    fn ordinary_writing_of_any_language_stays_as_it_is() {
        for name in [r#"./a 'b "c" \d"#, "größer", "नमस्ते", "速い", "e\u{301}"] {
            assert_eq!(escape(name, Glyphs::Unicode), name);
        }
        assert_eq!(escape("größer", Glyphs::Ascii), r"gr\u{f6}\u{df}er");
    }

    #[test]
    fn a_message_keeps_its_own_lines_and_no_others() {
        let told = |text: &str| escape_message(text, Glyphs::Unicode);
        assert_eq!(
            told("cannot read x\n  y: größer"),
            "cannot read x\n  y: größer"
        );
        assert_eq!(
            told("no rule 'a\n::error file=x::\u{1b}[2J'"),
            r"no rule 'a\n::error file=x::\u{1b}[2J'"
        );
        for order in ["::add-mask::x", "\t::error::x", "  ::error::x"] {
            let text = told(&format!("a\n  {order}"));
            assert!(!text.contains('\n'), "{text}");
        }
        assert_eq!(told("a\r\n  b\rc"), "a\\r\n  b\\rc");
        assert_eq!(
            told("a ##[error]b\n  ###[group]c ##vso[x]d##teamcity[e] ##"),
            "a #\\u0023[error]b\n  ##\\u0023[group]c #\\u0023vso[x]d#\\u0023teamcity[e] ##"
        );
    }

    #[test]
    fn a_line_is_one_line_and_no_order() {
        let line = |text: &str| escape_line(text, Glyphs::Unicode);
        assert_eq!(
            line("  page in größer/a b.html"),
            "  page in größer/a b.html"
        );
        assert_eq!(
            line("page in a\u{1b}]0;b\u{7}\nc"),
            r"page in a\u{1b}]0;b\u{7}\nc"
        );
        for order in ["::error::x", "  ::add-mask::x"] {
            let safe = line(order);
            assert!(safe.starts_with('\\') && safe.ends_with('x'), "{safe}");
        }
    }

    #[test]
    fn an_output_keeps_its_colours_and_nothing_else_that_is_obeyed() {
        let ours = "\u{1b}[1;32mfaster\u{1b}[0m\u{1b}[m\tby 3%\ngrößer\n";
        assert_eq!(harmless(ours), ours);
        for (text, safe) in [
            ("a\u{1b}]0;b\u{7}", r"a\u001b]0;b\u0007"),
            (
                "\u{1b}[2J\u{1b}[31;1Hx\u{1b}",
                r"\u001b[2J\u001b[31;1Hx\u001b",
            ),
            (
                "\u{9b}31m\r\u{7f}\u{1b}[31",
                r"\u009b31m\u000d\u007f\u001b[31",
            ),
            ("\u{1b}[3\u{1b}[1mx", "\\u001b[3\u{1b}[1mx"),
        ] {
            assert_eq!(harmless(text), safe);
        }
        let wrapped = "recorded in a\n  ::error::b\n::c\n##[d]\n{\"name\": \"e ##[f]\"}\n a::b\n";
        let safe = "recorded in a\n  \\::error::b\n\\::c\n#\\u0023[d]\n{\"name\": \"e #\\u0023[f]\"}\n a::b\n";
        assert_eq!(harmless(wrapped), safe);
    }

    #[test]
    fn a_long_name_keeps_its_head_and_its_tail() {
        let short = shorten("./program --input=a.txt --level=9", 20, Glyphs::Unicode);
        assert_eq!(short, "./program …--level=9");
        assert_eq!(short.width(), 20);
        let wide = shorten(&"速".repeat(40), 20, Glyphs::Ascii);
        assert!(wide.width() <= 20, "{wide}");
    }

    #[test]
    fn names_made_of_combining_marks_end() {
        let endless = format!("a{}", "\u{301}".repeat(10_000));
        assert!(shorten(&endless, 10, Glyphs::Unicode).chars().count() < 100);
    }

    #[test]
    fn no_two_labels_are_alike() {
        assert_eq!(
            labels(&["true", "true", "true (1)"], 20, Glyphs::Unicode),
            ["true (1)", "true (2)", "true (1) (3)"]
        );
        let (a, b) = ("x".repeat(500), "x".repeat(600));
        let both = labels(&[&a, &b], 20, Glyphs::Unicode);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|label| label.width() <= 20), "{both:?}");
    }

    #[test]
    fn labels_of_long_names_keep_the_part_in_which_they_differ() {
        let interpreter = |name| format!("/a/long/way/to/{name}/bin/python -c 'import json'");
        let [old, new] = ["old", "new"].map(interpreter);
        let labels = labels(&[&old, &new, "true"], 30, Glyphs::Unicode);
        assert!(labels[0].contains("old…"), "{}", labels[0]);
        assert!(labels[1].contains("new…"), "{}", labels[1]);
        assert!(labels.iter().all(|label| label.width() <= 30));
    }

    #[test]
    fn a_long_list_is_told_by_its_beginning() {
        let all: Vec<String> = (1..=6).map(|seed| seed.to_string()).collect();
        assert_eq!(some_of(&all, 4), "1, 2, 3, 4 and 2 more");
        assert_eq!(some_of(&all[..4], 4), "1, 2, 3, 4");
        assert_eq!(some_of(&all[..1], 4), "1");
    }

    #[test]
    fn the_last_of_several_is_joined_by_and() {
        let enumerated = |parts: &[&str]| enumerated(&texts(parts, &|part| (*part).to_owned()));
        assert_eq!(enumerated(&[]), "");
        assert_eq!(enumerated(&["a"]), "a");
        assert_eq!(enumerated(&["a", "b"]), "a and b");
        assert_eq!(enumerated(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let letters = |count: usize| {
            let letters = ["a", "b", "c", "d"];
            letters[..count].iter().map(ToString::to_string).collect()
        };
        assert_eq!(first_of(letters(0), 2), "");
        assert_eq!(first_of(letters(2), 2), "a and b");
        assert_eq!(first_of(letters(3), 2), "a, b and 1 more");
        assert_eq!(first_of(letters(4), 1), "a and 3 more");
    }

    #[test]
    fn what_xml_cannot_hold_is_shown_as_what_it_is() {
        assert_eq!(xml("a\0b\u{1b}[2J\u{fffe}"), r"a\u{0}b\u{1b}[2J\u{fffe}");
    }

    #[test]
    fn markup_and_quotes_are_text() {
        assert_eq!(
            xml(r#"</a> & "b" ]]>"#),
            "&lt;/a&gt; &amp; &quot;b&quot; ]]&gt;"
        );
    }

    #[test]
    fn every_character_comes_back_from_a_parser_as_it_was_or_as_its_number() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let written = xml(&character.to_string());
            let document = format!("<a b=\"{written}\">{written}</a>");
            if u32::from(character) % 97 > 0 && u32::from(character) > 0x3000 {
                continue;
            }
            let document = roxmltree::Document::parse(&document).unwrap();
            let expected = if is_allowed(character) || "\t\n\r".contains(character) {
                character.to_string()
            } else {
                character.escape_unicode().to_string()
            };
            let root = document.root_element();
            assert_eq!(root.text(), Some(expected.as_str()));
            assert_eq!(root.attribute("b"), Some(expected.as_str()));
        }
    }
}
