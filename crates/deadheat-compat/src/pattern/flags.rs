//! What the letters behind `(?` switch on.

/// What `(?…)` may switch on, as far as it changes the translation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) ascii: bool,
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) verbose: bool,
}

impl Flags {
    /// Switches a letter on or off.
    pub(super) fn set(&mut self, letter: char, on: bool) -> Result<(), String> {
        match letter {
            'a' => self.ascii = true,
            'i' => self.ignore_case = on,
            'm' => self.multi_line = on,
            's' => self.dot_all = on,
            'x' => self.verbose = on,
            'u' => self.ascii = false,
            'L' => {
                return Err("bad inline flags: cannot use 'L' flag with a str pattern".to_owned());
            }
            other => return Err(format!("unknown flag {other:?}")),
        }
        Ok(())
    }
}
