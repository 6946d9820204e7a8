//! Notes to the user about a link, besides what the linker said.

use std::fmt;

use crate::record::Obstacle;

/// Something the user should know about a link. None of it harms the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The link was not recorded, though an executable came out of it.
    NotRecorded {
        /// The executable, as it was named.
        output: String,
        /// The reason.
        reason: String,
    },
    /// Sources were compiled and linked in one call.
    FromSources {
        /// The executable, as it was named.
        output: String,
    },
    /// The link was recorded, and no neutral link can be made from it.
    Impossible {
        /// The executable, as it was named.
        output: String,
        /// The reason.
        obstacle: Obstacle,
    },
    /// Functions of these objects share a section, and move only together.
    Unsectioned {
        /// The executable, as it was named.
        output: String,
        /// The objects; members of archives as `libfoo.a(bar.o)`.
        objects: Vec<String>,
    },
}

/// Objects named in one note at most.
const MOST_NAMED: usize = 6;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded { output, reason } => write!(
                f,
                "the link of {output} was not recorded: {reason}; races of it will have scope \
                 `binary`"
            ),
            Self::FromSources { output } => write!(
                f,
                "{output} was compiled and linked in one call, which leaves no objects to link \
                 again; races of it will have scope `binary` unless its sources are compiled \
                 with -c first"
            ),
            Self::Impossible { output, obstacle } => write!(
                f,
                "{output} cannot be linked neutrally: {obstacle}; races of it will have scope \
                 `binary`"
            ),
            Self::Unsectioned { output, objects } => {
                let named = objects.len().min(MOST_NAMED);
                write!(f, "{output}: functions of {}", objects[..named].join(", "))?;
                if objects.len() > named {
                    write!(f, " and of {} more objects", objects.len() - named)?;
                }
                write!(
                    f,
                    " share one section each and move only together; compile with \
                     -ffunction-sections"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_objects_are_named() {
        let note = |count: usize| {
            let objects = (0..count).map(|i| format!("{i}.o")).collect();
            let output = "app".to_owned();
            Note::Unsectioned { output, objects }.to_string()
        };
        assert!(note(1).starts_with("app: functions of 0.o share one"));
        assert!(note(6).contains("4.o, 5.o share"));
        assert!(note(9).contains("5.o and of 3 more objects share"));
    }
}
