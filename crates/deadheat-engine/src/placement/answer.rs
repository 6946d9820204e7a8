//! What the program that makes neutral links says, line by line.

use std::path::PathBuf;

use deadheat_model::{Json, NeutralLink, Object, RefusedLink};

use super::helper::Links;
use super::variant::Variant;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// Links are possible, and this is known of them.
    Links(Links),
    /// They are not, and why.
    Impossible(String),
    /// A link that was made.
    Placed(Variant),
    /// A link that could not be made.
    Refused(RefusedLink),
}

impl Line {
    /// Reads a line; `None` when it is none of these.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let said = Json::parse(line)?;
        let (tag, said) = said.as_object()?.only()?;
        let said = said.as_object()?;
        Some(match tag {
            "links" => Line::Links(Links {
                linker: text(said, "linker")?,
                record: text(said, "record")?,
                unsectioned: said.get("unsectioned").map_or(Some(Vec::new()), |list| {
                    let texts = list.as_list()?.iter();
                    texts.map(|text| Some(text.as_text()?.to_owned())).collect()
                })?,
            }),
            "impossible" => Line::Impossible(text(said, "reason")?),
            "placed" => Line::Placed(Variant {
                link: NeutralLink {
                    seed: seed(said)?,
                    hash: text(said, "hash")?,
                },
                executable: absolute(text(said, "executable")?)?,
            }),
            "refused" => Line::Refused(RefusedLink {
                seed: seed(said)?,
                reason: text(said, "reason")?,
            }),
            _ => return None,
        })
    }
}

fn text(said: &Object, name: &str) -> Option<String> {
    Some(said.get(name)?.as_text()?.to_owned())
}

fn seed(said: &Object) -> Option<u32> {
    said.get("seed")?.as_u64()?.try_into().ok()
}

/// A path that means the same whatever the working directory is.
fn absolute(path: String) -> Option<PathBuf> {
    let path = PathBuf::from(path);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_there_is_can_be_read() {
        let links = r#"{"links":{"executable":"b","linker":"LLD 14.0.6","record":"00ff","unsectioned":["k.o"]}}"#;
        let read = Line::parse(links);
        let expected = Links {
            linker: "LLD 14.0.6".to_owned(),
            record: "00ff".to_owned(),
            unsectioned: vec!["k.o".to_owned()],
        };
        assert_eq!(read, Some(Line::Links(expected)));
        let read = Line::parse(r#"{"impossible":{"reason":"no lld"}}"#);
        assert_eq!(read, Some(Line::Impossible("no lld".to_owned())));
        let read = Line::parse(r#"{"placed":{"seed":17,"executable":"/a/17","hash":"ab"}}"#);
        let Some(Line::Placed(variant)) = read else {
            panic!("{read:?}")
        };
        assert_eq!(variant.to_string(), "the neutral link of seed 17, /a/17");
        let read = Line::parse(r#"{"refused":{"seed":18,"reason":"no room"}}"#);
        assert!(matches!(read, Some(Line::Refused(link)) if link.seed == 18));
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_one() {
        for line in [
            "",
            "placed 17",
            "{}",
            r#"{"placed":{"seed":-1,"executable":"/a","hash":"ab"}}"#,
            r#"{"placed":{"seed":4294967296,"executable":"/a","hash":"ab"}}"#,
            r#"{"placed":{"seed":1,"executable":"a/1","hash":"ab"}}"#,
            r#"{"placed":{"seed":1,"executable":"/a"}}"#,
            r#"{"links":{"linker":"x","record":"00","unsectioned":[1]}}"#,
            r#"{"impossible":"no"}"#,
            r#"{"other":{}}"#,
        ] {
            assert_eq!(Line::parse(line), None, "{line}");
        }
    }
}
