//! Characters for Unicode terminals, with ASCII replacements.

use deadheat_model::Verdict;

/// The characters that the reader's terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// ASCII only.
    Ascii,
    /// ASCII, and characters such as `−`, `µ` and `✔`.
    Unicode,
}

impl Glyphs {
    /// Returns `Unicode` if the terminal can show Unicode, otherwise `Ascii`.
    pub fn new(unicode: bool) -> Self {
        if unicode {
            Glyphs::Unicode
        } else {
            Glyphs::Ascii
        }
    }

    /// Returns `unicode` or `ascii`, depending on the terminal.
    pub fn choose<T>(self, unicode: T, ascii: T) -> T {
        match self {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    /// Returns the minus sign.
    pub fn minus(self) -> &'static str {
        self.choose("−", "-")
    }

    /// Returns the sign of a number: "+", the minus sign, or an empty string for zero.
    pub fn sign(self, change: f64) -> &'static str {
        if change < 0.0 {
            self.minus()
        } else if change > 0.0 {
            "+"
        } else {
            ""
        }
    }

    /// Returns the plus-minus sign.
    pub fn plus_minus(self) -> &'static str {
        self.choose("±", "+-")
    }

    /// Returns the multiplication sign after a factor.
    pub fn times(self) -> &'static str {
        self.choose("×", "x")
    }

    /// Returns the unit symbol of microseconds.
    pub fn microseconds(self) -> &'static str {
        self.choose("µs", "us")
    }

    /// Returns the symbol for a difference.
    pub fn delta(self) -> &'static str {
        self.choose("∆", "diff")
    }

    /// Returns the ellipsis that replaces omitted text.
    pub fn ellipsis(self) -> &'static str {
        self.choose("…", "...")
    }

    /// Returns the prefix of a row that belongs to the row above.
    pub fn below(self) -> &'static str {
        self.choose("└", " ")
    }

    /// Returns the mark of a verdict that holds for its benchmark alone, but not after the
    /// correction for all benchmarks of the run.
    pub(crate) fn alone(self) -> &'static str {
        self.choose("†", "^")
    }

    /// Returns the sign for a missing value in a table cell.
    pub fn nothing(self) -> &'static str {
        self.choose("–", "-")
    }

    /// Returns the separator between the parts of a line.
    pub fn separator(self) -> &'static str {
        self.choose("·", "|")
    }

    /// Returns the mark before a verdict sentence, one column wide.
    ///
    /// The ASCII marks resemble relations: `<` means that the candidate is faster than the
    /// baseline. Readers would mistake a plus or minus for the sign of the change.
    pub fn mark(self, verdict: Option<Verdict>) -> &'static str {
        match verdict {
            Some(Verdict::Faster) => self.choose("✔", "<"),
            Some(Verdict::Slower) => self.choose("✘", ">"),
            Some(Verdict::Equivalent) => self.choose("≈", "="),
            Some(Verdict::Inconclusive) => "?",
            None => self.choose("·", "."),
        }
    }
}
