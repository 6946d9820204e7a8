//! What the user wants to compare: `BASE` or `BASE..HEAD`.

/// Two sides by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// The baseline, as the user wrote it.
    pub base: String,
    /// The candidate; the working tree when `None`.
    pub head: Option<String>,
}

/// The text names no two sides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevisionsError {
    /// There is nothing to name a commit.
    #[error("a revision is missing; name a commit as git does: main, HEAD~1, v1.2, main..topic")]
    Empty,
    /// Three dots.
    #[error(
        "'{0}': three dots name no two sides; for what they have in common, write \
         \"$(git merge-base {first} {second})..{second}\"",
        first = .0.split("...").next().filter(|side| !side.is_empty()).unwrap_or("HEAD"),
        second = .0.split("...").nth(1).filter(|side| !side.is_empty()).unwrap_or("HEAD")
    )]
    ThreeDots(String),
    /// It would be taken for an option.
    #[error("'{0}' is no revision; options stand before or behind, and are spelled as in --help")]
    Dash(String),
}

impl Revisions {
    /// How the working tree is called.
    pub const WORKING_TREE: &str = "working tree";

    /// Reads `BASE` and `BASE..HEAD`; a side left out beside the dots is
    /// `HEAD`, as for git.
    ///
    /// # Errors
    ///
    /// [`RevisionsError`] when it can be neither. Whether git knows the
    /// revisions is found out later.
    pub fn parse(text: &str) -> Result<Self, RevisionsError> {
        if text.contains("...") {
            return Err(RevisionsError::ThreeDots(text.to_owned()));
        }
        let or_head = |side: &str| match side {
            "" => "HEAD".to_owned(),
            side => side.to_owned(),
        };
        let (base, head) = match text.split_once("..") {
            None if text.is_empty() => return Err(RevisionsError::Empty),
            Some(("", "")) => return Err(RevisionsError::Empty),
            None => (text.to_owned(), None),
            Some((base, head)) => (or_head(base), Some(or_head(head))),
        };
        for side in std::iter::once(&base).chain(&head) {
            if side.starts_with('-') {
                return Err(RevisionsError::Dash(side.clone()));
            }
        }
        Ok(Self { base, head })
    }

    /// The sides as they are called: the baseline first.
    pub fn names(&self) -> [String; 2] {
        let head = self.head.clone();
        [
            self.base.clone(),
            head.unwrap_or_else(|| Self::WORKING_TREE.to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> [String; 2] {
        Revisions::parse(text).unwrap().names()
    }

    #[test]
    fn one_revision_is_held_against_the_working_tree_and_two_against_each_other() {
        assert_eq!(names("HEAD~1"), ["HEAD~1", "working tree"]);
        assert_eq!(names("main..topic/x"), ["main", "topic/x"]);
        assert_eq!(names("v1.2.."), ["v1.2", "HEAD"]);
        assert_eq!(names("..topic"), ["HEAD", "topic"]);
    }

    #[test]
    fn what_names_no_two_sides_is_refused_with_a_way_out() {
        for (text, word) in [
            ("", "missing"),
            ("..", "missing"),
            ("main...topic", "git merge-base main topic"),
            ("...topic", "git merge-base HEAD topic"),
            ("-x", "'-x'"),
            ("main..--output=x", "'--output=x'"),
        ] {
            let said = Revisions::parse(text).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
