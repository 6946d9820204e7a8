//! An expression, ready to search.

use fancy_regex::{Captures, Regex, RegexBuilder};

use super::template::{Part, Template};
use super::translate::{Translated, translate};
use crate::problem::Problem;

/// More ways than this through one name are not tried. Python would go on for hours.
const MOST_STEPS: usize = 10_000_000;

/// An expression of Python.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    regex: Regex,
    translated: Translated,
}

impl Pattern {
    /// Reads an expression.
    pub(crate) fn new(source: &str) -> Result<Self, Problem> {
        let translated = translate(source).map_err(|what| about(source, &what))?;
        let regex = build(source, &translated.pattern)?;
        Ok(Self {
            source: source.to_owned(),
            regex,
            translated,
        })
    }

    /// `re.search(pattern, text) is not None`.
    pub(crate) fn is_found_in(&self, text: &str) -> Result<bool, Problem> {
        self.regex.is_match(text).map_err(|e| self.gave_up(&e))
    }

    /// Reads a replacement for what this expression finds.
    pub(crate) fn template(&self, replacement: &str) -> Result<Template, Problem> {
        Template::new(replacement, &self.translated.names, self.translated.groups)
            .map_err(|what| Problem::at("", format!("the replacement {replacement:?}: {what}")))
    }

    /// `re.sub`: puts the template in place of everything that is found, from left to right, without overlaps. An empty
    /// match may follow any other, but two do not begin in one place.
    pub(crate) fn replace(&self, text: &str, template: &Template) -> Result<String, Problem> {
        let mut replaced = String::with_capacity(text.len());
        let mut nonempty = None;
        let (mut copied, mut from) = (0, 0);
        // Whether an empty match at `from` was replaced already.
        let mut advance = false;
        while from <= text.len() {
            let mut found = None;
            if advance {
                let regex = match &nonempty {
                    Some(regex) => regex,
                    None => nonempty.insert(build(&self.source, &self.translated.nonempty())?),
                };
                let here = self.captures(regex, text, from)?;
                let here = here.filter(|c| c.get(0).is_some_and(|all| all.start() == from));
                match here {
                    Some(captures) => found = Some((captures, 1)),
                    None => {
                        from += text[from..].chars().next().map_or(1, char::len_utf8);
                        if from > text.len() {
                            break;
                        }
                    }
                }
            }
            if found.is_none() {
                found = self.captures(&self.regex, text, from)?.map(|c| (c, 0));
            }
            let Some((captures, shift)) = found else {
                break;
            };
            let Some(all) = captures.get(0) else {
                break;
            };
            replaced.push_str(&text[copied..all.start()]);
            for part in &template.parts {
                match part {
                    Part::Literal(literal) => replaced.push_str(literal),
                    Part::Group(0) => replaced.push_str(all.as_str()),
                    Part::Group(number) => {
                        replaced.push_str(captures.get(number + shift).map_or("", |g| g.as_str()));
                    }
                }
            }
            (copied, from) = (all.end(), all.end());
            advance = all.start() == all.end();
        }
        replaced.push_str(&text[copied..]);
        Ok(replaced)
    }

    fn captures<'t>(
        &self,
        regex: &Regex,
        text: &'t str,
        from: usize,
    ) -> Result<Option<Captures<'t, str>>, Problem> {
        regex
            .captures_from_pos(text, from)
            .map_err(|e| self.gave_up(&e))
    }

    fn gave_up(&self, error: &fancy_regex::Error) -> Problem {
        about(&self.source, &format!("cannot be searched for: {error}"))
    }
}

fn build(source: &str, pattern: &str) -> Result<Regex, Problem> {
    RegexBuilder::new(pattern)
        .backtrack_limit(MOST_STEPS)
        .build()
        .map_err(|error| about(source, &format!("cannot be used: {error}")))
}

fn about(source: &str, what: &str) -> Problem {
    Problem::at("", format!("the filter {source:?}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, replacement: &str, text: &str) -> String {
        let pattern = Pattern::new(pattern).unwrap();
        let template = pattern.template(replacement).unwrap();
        pattern.replace(text, &template).unwrap()
    }

    #[test]
    fn empty_matches_are_replaced_as_python_replaces_them() {
        assert_eq!(replaced("x*", "-", "abxd"), "-a-b--d-");
        assert_eq!(replaced("x*", "-", ""), "-");
        assert_eq!(replaced("|a", "-", "aa"), "-----");
        assert_eq!(replaced("^", "-", "ab"), "-ab");
        assert_eq!(replaced("$", "-", "ab"), "ab-");
        assert_eq!(replaced(r"\b", "-", "ab cd"), "-ab- -cd-");
        assert_eq!(replaced("b|", "-", "äb"), "-ä--");
    }

    #[test]
    fn groups_find_their_way_into_the_replacement() {
        assert_eq!(
            replaced("(a)(b)?", r"[\1\2\g<1>\g<0>]", "ab a"),
            "[abaab] [aaa]"
        );
        assert_eq!(replaced("(?P<n>B)M", r"\g<n>", "BM_x"), "B_x");
        assert_eq!(replaced("(|a)", r"<\1>", "a"), "<><a><>");
    }

    #[test]
    fn what_python_finds_is_found() {
        for (pattern, text, found) in [
            ("BM_", "a/BM_x", true),
            ("^BM$", "BM\n", true),
            (r"^BM\Z", "BM\n", false),
            (r"(?<=a|b)c", "bc", true),
            (r"(a)?(?(1)b|c)$", "ab", true),
            (r"(?P<q>['x])(?P=q)", "xx", true),
            (r"(.)\1", "abba", true),
            ("(?i)bm", "BM", true),
            ("a(?i:b)c", "aBc", true),
            ("a(?i:b)c", "aBC", false),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[[a]", "[", true),
            ("[a&&b]", "&", true),
            ("[+--b]", "b", true),
            ("x{2,3}y", "xxy", true),
            ("x{,2}y", "y", true),
            ("x{y", "x{y", true),
            ("x{}", "x{}", true),
            (r"\d{3}", "123", true),
            (r"\x41\102\u0043", "ABC", true),
            ("(?x) a b # comment", "ab", true),
            ("(?s).", "\n", true),
            (".", "\n", false),
            ("(?m)^b$", "a\nb\nc", true),
            ("(?#comment)a", "a", true),
            (r"[\w-]+$", "a-b", true),
            (r"[\S]", " ", false),
            ("(?>a+)a", "aaa", false),
            ("a++a", "aaa", false),
            ("(?=b)*a", "a", true),
            (r"\B", "", false),
            (r"a\Ba", "aa", true),
            ("(?:(?!b))+a", "a", true),
            ("(?#comment)(?i)a", "A", true),
        ] {
            let expression = Pattern::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
            assert_eq!(expression.is_found_in(text).unwrap(), found, "{pattern}");
        }
    }

    #[test]
    fn what_python_refuses_is_refused() {
        for pattern in [
            "(",
            ")",
            "*",
            "a**",
            "+a",
            "[",
            "[a",
            "[z-a]",
            "(?P<1>a)",
            "(?P<n>a)(?P<n>b)",
            r"\1",
            r"\q",
            "(?<=a+)",
            "a{3,2}",
            "(?z)",
            "(?P=x)",
            "a(?i)b",
            "(?",
            "(?P",
            "\\",
            r"[\q]",
            "(?(2)a)",
            "(?<n>a)",
            "(?L)a",
            r"(a\1)",
            "x{2}{3}",
            "^*",
            r"\x4",
            r"[\d-z]",
            "(?:a",
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }
}
