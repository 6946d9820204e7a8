//! A command line in pieces that say which of its words name files.

/// A piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Passed on as it is.
    Word(String),
    /// An input.
    Input(Spelling),
    /// A file that an option names.
    Named(Spelling),
    /// `-l`: a library that may have to be looked for.
    Library {
        /// How it was asked for; the value is its name.
        spelling: Spelling,
        /// Whether a shared one will do.
        dynamic: bool,
    },
    /// Where the executable looks for shared libraries.
    RunPath(Spelling),
    /// `-L`.
    Folder(Spelling),
}

/// A value on a command line, and what stands around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// Said to the linker by way of the driver, `-Wl,` or `-Xlinker`.
    pub(crate) to_linker: bool,
    /// What stands before the value in the same word.
    pub(crate) before: String,
    /// The value.
    pub(crate) value: String,
    /// `before` is a word of its own.
    pub(crate) apart: bool,
}

impl Spelling {
    /// The arguments that say `value` in place of this value.
    pub(crate) fn with(&self, value: &str) -> Vec<String> {
        let mut words = self.lead();
        let value = format!("{}{value}", self.before_value());
        words.push(value);
        words
    }

    /// The arguments that come before the one with the value.
    pub(crate) fn lead(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.apart {
            words.extend(self.to_linker.then(|| "-Xlinker".to_owned()));
            words.push(self.before.clone());
        }
        words.extend(self.to_linker.then(|| "-Xlinker".to_owned()));
        words
    }

    /// What stands before the value in its own argument.
    pub(crate) fn before_value(&self) -> &str {
        if self.apart { "" } else { &self.before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_is_said_as_the_first_one_was() {
        let said = |to_linker, apart| {
            let spelling = Spelling {
                to_linker,
                before: "-T".to_owned(),
                value: "old".to_owned(),
                apart,
            };
            spelling.with("a,b").join(" ")
        };
        assert_eq!(said(false, false), "-Ta,b");
        assert_eq!(said(false, true), "-T a,b");
        assert_eq!(said(true, false), "-Xlinker -Ta,b");
        assert_eq!(said(true, true), "-Xlinker -T -Xlinker a,b");
    }
}
