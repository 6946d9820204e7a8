//! The few signs that have an ASCII stand-in.

use deadheat_model::Verdict;

/// The signs that the reader's terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Nothing beyond ASCII.
    Ascii,
    /// The true minus, the micro sign, check marks.
    Unicode,
}

impl Glyphs {
    /// The signs for a reader who can, or cannot, see Unicode.
    pub fn new(unicode: bool) -> Self {
        if unicode {
            Glyphs::Unicode
        } else {
            Glyphs::Ascii
        }
    }

    /// The one of two that the reader can see.
    pub fn choose<T>(self, unicode: T, ascii: T) -> T {
        match self {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    /// The sign of a negative number.
    pub fn minus(self) -> &'static str {
        self.choose("−", "-")
    }

    /// The sign of a change, which zero has none of.
    pub fn sign(self, change: f64) -> &'static str {
        if change < 0.0 {
            self.minus()
        } else if change > 0.0 {
            "+"
        } else {
            ""
        }
    }

    /// To either side.
    pub fn plus_minus(self) -> &'static str {
        self.choose("±", "+-")
    }

    /// The sign behind a factor.
    pub fn times(self) -> &'static str {
        self.choose("×", "x")
    }

    /// The unit of a millionth of a second.
    pub fn microseconds(self) -> &'static str {
        self.choose("µs", "us")
    }

    /// The difference of one from another.
    pub fn delta(self) -> &'static str {
        self.choose("∆", "diff")
    }

    /// Stands for text left out.
    pub fn ellipsis(self) -> &'static str {
        self.choose("…", "...")
    }

    /// Begins the row of a part of what stands above.
    pub fn below(self) -> &'static str {
        self.choose("└", " ")
    }

    /// Marks a change that holds by itself and not for the whole suite.
    pub(crate) fn alone(self) -> &'static str {
        self.choose("†", "^")
    }

    /// Stands in a table cell that has no value.
    pub fn nothing(self) -> &'static str {
        self.choose("–", "-")
    }

    /// Parts the pieces of a line.
    pub fn separator(self) -> &'static str {
        self.choose("·", "|")
    }

    /// The mark before a verdict sentence, one column wide.
    ///
    /// The ASCII marks read as relations: candidate `<` baseline is faster. A plus or minus would
    /// be mistaken for the sign of the change.
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
