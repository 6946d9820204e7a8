//! The placeholders in commands: `{port}`, `{socket}`, `{data}` and the parameters.

/// The values of the placeholders for one started server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placeholders(Vec<(String, String)>);

impl Placeholders {
    pub(crate) fn new(parameters: &[(String, String)]) -> Self {
        Self(parameters.to_vec())
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// Replaces the placeholders. Braces with other words in them stay as they are. A value is not
    /// searched for placeholders again.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            let known = self.0.iter().find_map(|(name, value)| {
                let after = from[1..].strip_prefix(name.as_str())?.strip_prefix('}')?;
                Some((value, after))
            });
            match known {
                Some((value, after)) => {
                    filled.push_str(value);
                    rest = after;
                }
                None => {
                    filled.push('{');
                    rest = &from[1..];
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    pub(crate) fn fill_all(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.fill(word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_placeholders_are_replaced_once_and_other_braces_stay() {
        let known = Placeholders::new(&[("n".to_owned(), "{port}".to_owned())]).with("port", 80);
        assert_eq!(
            known.fill("a {port} {n} {x} {{port}} {"),
            "a 80 {port} {x} {80} {"
        );
    }
}
