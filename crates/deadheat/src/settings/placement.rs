//! Whether the placement of the code is drawn anew in every replicate.

/// Which links of an executable are raced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Neutral ones, another one in every replicate, where there are any.
    #[default]
    Neutral,
    /// The one the user made.
    Own,
}

impl Placement {
    /// `neutral` or `own`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "neutral" => Ok(Placement::Neutral),
            "own" => Ok(Placement::Own),
            other => Err(format!("'{other}' is none of neutral, own")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_is_neutral_or_own() {
        assert_eq!(Placement::parse("neutral"), Ok(Placement::Neutral));
        assert_eq!(Placement::parse("own"), Ok(Placement::Own));
        assert!(Placement::parse("mine").unwrap_err().contains("'mine'"));
    }
}
