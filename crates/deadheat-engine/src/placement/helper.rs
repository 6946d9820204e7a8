//! Runs the program that makes neutral links, and parses its reply line by line.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use deadheat_model::{Json, NeutralLink, NeutralLinks, Object, Placement, RefusedLink};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::error::EngineError;
use crate::executable::{Executable, PLACEMENTS_VARIABLE, Variant};
use crate::interrupt::Interrupts;
use crate::subprocess::{self, run_captured};

/// The time that making the first link of a large program may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program that makes neutral links: `placements EXECUTABLE SEED… --beside OTHER…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProgram {
    /// The executable.
    pub executable: PathBuf,
    /// The time without output after which the program is killed.
    pub patience: Duration,
    /// True if builds that race against each other get matched links, if possible.
    pub matching: bool,
}

impl LinkProgram {
    /// Returns a link program with matched links and a limit of five minutes without output.
    pub fn new(executable: PathBuf) -> Self {
        Self {
            executable,
            patience: PATIENCE,
            matching: true,
        }
    }

    /// Returns the link program for the kind of links that the user chose; `None` if the user wants
    /// no neutral links.
    pub fn by(placement: Placement, executable: Option<PathBuf>) -> Option<Self> {
        let matching = match placement {
            Placement::Neutral => true,
            Placement::Independent => false,
            Placement::Own => return None,
        };
        Some(Self {
            matching,
            ..Self::new(executable?)
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) linker: String,
    /// Identifies the inputs of the links.
    pub(crate) record: String,
    pub(crate) unsectioned: Vec<String>,
    /// `Ok` if the links are matched to the links of other builds, or the reason why they are not;
    /// `None` if no other builds were named.
    pub(crate) matched: Option<Result<(), String>>,
}

impl Links {
    /// Returns the entry of a run file about the neutral links of an executable.
    pub(crate) fn facts(executable: String, links: Result<Links, String>) -> NeutralLinks {
        match links {
            Ok(links) => NeutralLinks {
                executable,
                made_by: Ok(links.linker),
                unsectioned: links.unsectioned,
                matched: links.matched,
                random_addresses: false,
            },
            Err(reason) => NeutralLinks {
                executable,
                made_by: Err(reason),
                unsectioned: Vec::new(),
                matched: None,
                random_addresses: false,
            },
        }
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    /// `Err` with the reason if links are impossible.
    pub(crate) links: Result<Links, String>,
    /// One entry per requested seed, in the same order; fewer if the program failed.
    pub(crate) made: Vec<Result<Variant, RefusedLink>>,
    /// The reason why entries of `made` are missing.
    pub(crate) broken: Option<String>,
}

/// Runs the link program on the cores that deadheat had at its start.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    program: LinkProgram,
    cores: Option<CpuSet>,
}

impl Helper {
    /// Creates a helper. Must be called before deadheat pins itself to one core, because linkers
    /// use all cores.
    pub(crate) fn new(program: LinkProgram) -> Self {
        Self {
            program,
            cores: sched_getaffinity(Pid::from_raw(0)).ok(),
        }
    }

    /// Returns true if builds that race against each other get matched links.
    pub(crate) fn matching(&self) -> bool {
        self.program.matching
    }

    /// Makes the links of each build independent of the others from now on.
    #[cfg(feature = "commands")]
    pub(crate) fn draw_independently(&mut self) {
        self.program.matching = false;
    }

    /// Requests one link per seed, matched to the links of the other builds. Without seeds, it only
    /// asks whether links are possible. No linker runs after this returns.
    pub(crate) fn ask<'a>(
        &self,
        executable: &Executable,
        beside: impl IntoIterator<Item = &'a Executable>,
        seeds: &[u32],
        interrupts: &Interrupts,
    ) -> Result<Answer, EngineError> {
        let mut command = Command::new(&self.program.executable);
        command
            .arg("placements")
            .arg(&executable.path)
            .args(seeds.iter().map(u32::to_string))
            .env_remove(PLACEMENTS_VARIABLE);
        for other in beside {
            command.arg("--beside").arg(&other.path);
        }
        let (cores, patience) = (self.cores.as_ref(), Some(self.program.patience));
        let printed = subprocess::Answer::Printed;
        let captured = run_captured(command, printed, cores, patience, interrupts)?;
        let about = |problem: &str| {
            let program = self.program.executable.display();
            format!("'{program} placements' {problem}")
        };
        let problem = captured.problem();
        Ok(understand(&captured.output, problem, seeds, about))
    }
}

/// Parses the output of the link program. `problem` says how the program failed, if it did.
fn understand(
    output: &[u8],
    problem: Option<String>,
    seeds: &[u32],
    about: impl Fn(&str) -> String,
) -> Answer {
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines();
    let nonsense = |line: &str| {
        let said: String = line.chars().take(80).collect();
        format!("printed an answer that deadheat does not understand: '{said}'")
    };
    // Describes why a line is missing or unexpected.
    let broken = |line: Option<&str>, nothing: &str| match (&problem, line) {
        (Some(problem), _) => about(problem),
        (None, Some(line)) => about(&nonsense(line)),
        (None, None) => about(nothing),
    };
    let first = lines.next();
    let links = match first.and_then(Line::parse) {
        Some(Line::Links(links)) => Ok(links),
        Some(Line::Impossible(reason)) => Err(reason),
        _ => Err(broken(first, "printed nothing")),
    };
    let mut answer = Answer {
        links,
        made: Vec::new(),
        broken: None,
    };
    if answer.links.is_err() {
        return answer;
    }
    for seed in seeds {
        let line = lines.next();
        match line.and_then(Line::parse) {
            Some(Line::Placed(variant)) if variant.link.seed == *seed => {
                answer.made.push(Ok(variant));
            }
            Some(Line::Refused(link)) if link.seed == *seed => answer.made.push(Err(link)),
            _ => {
                let nothing = format!("printed nothing about seed {seed}");
                answer.broken = Some(broken(line, &nothing));
                return answer;
            }
        }
    }
    answer
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    Links(Links),
    Impossible(String),
    Placed(Variant),
    Refused(RefusedLink),
}

impl Line {
    /// Parses a line; `None` if it is malformed.
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
                matched: match (said.get("matched"), said.get("unmatched")) {
                    (None, None) => None,
                    (_, Some(reason)) => Some(Err(reason.as_text()?.to_owned())),
                    (Some(_), None) => Some(Ok(())),
                },
            }),
            "impossible" => Line::Impossible(text(said, "reason")?),
            "placed" => Line::Placed(Variant {
                link: NeutralLink {
                    seed: seed(said)?,
                    hash: text(said, "hash")?,
                    matched: false,
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

fn absolute(path: String) -> Option<PathBuf> {
    let path = PathBuf::from(path);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: &str =
        r#"{"links":{"executable":"b","linker":"L","record":"0","unsectioned":[]}}"#;

    fn placed(seed: u32) -> String {
        format!(r#"{{"placed":{{"seed":{seed},"executable":"/v/{seed}","hash":"0"}}}}"#)
    }

    fn understood(lines: &[&str], problem: Option<&str>, seeds: &[u32]) -> Answer {
        let output = lines.join("\n");
        let problem = problem.map(str::to_owned);
        understand(output.as_bytes(), problem, seeds, |problem| {
            format!("helper {problem}")
        })
    }

    #[test]
    fn every_seed_has_its_link_or_a_reason() {
        let refused = r#"{"refused":{"seed":9,"reason":"too far"}}"#;
        let answer = understood(&[LINKS, &placed(4), refused], None, &[4, 9]);
        assert_eq!(answer.links.unwrap().linker, "L");
        assert_eq!(answer.broken, None);
        assert_eq!(answer.made[0].as_ref().unwrap().link.seed, 4);
        assert_eq!(answer.made[1].as_ref().unwrap_err().reason, "too far");
    }

    #[test]
    fn what_was_made_before_a_failure_counts() {
        let answer = understood(&[LINKS, &placed(4)], Some("exited with code 1"), &[4, 9]);
        assert_eq!(answer.made.len(), 1);
        assert_eq!(answer.broken.unwrap(), "helper exited with code 1");
    }

    #[test]
    fn nonsense_is_quoted_and_silence_named() {
        let reason = |lines: &[&str]| understood(lines, None, &[]).links.unwrap_err();
        assert!(reason(&["bang"]).contains("'bang'"));
        assert!(reason(&[]).contains("printed nothing"));
        assert!(reason(&[&placed(1)]).contains("does not understand"));
        let broken = |lines: &[&str]| understood(lines, None, &[4]).broken.unwrap();
        assert!(broken(&[LINKS, "bang"]).contains("'bang'"));
        assert!(broken(&[LINKS, &placed(5)]).contains("does not understand"));
        assert!(broken(&[LINKS]).contains("seed 4"));
    }

    #[test]
    fn links_that_are_impossible_say_why() {
        let answer = understood(&[r#"{"impossible":{"reason":"no lld"}}"#], None, &[4]);
        assert_eq!(answer.links.unwrap_err(), "no lld");
    }

    #[test]
    fn every_line_there_is_can_be_read() {
        let links = r#"{"links":{"executable":"b","linker":"LLD 14.0.6","record":"00ff","unsectioned":["k.o"]}}"#;
        let read = Line::parse(links);
        let expected = Links {
            linker: "LLD 14.0.6".to_owned(),
            record: "00ff".to_owned(),
            unsectioned: vec!["k.o".to_owned()],
            matched: None,
        };
        assert_eq!(read, Some(Line::Links(expected)));
        for (said, matched) in [
            (r#""matched":true"#, Ok(())),
            (r#""unmatched":"no lld""#, Err("no lld".to_owned())),
        ] {
            let links = format!(r#"{{"links":{{"linker":"L","record":"0",{said}}}}}"#);
            let Some(Line::Links(read)) = Line::parse(&links) else {
                panic!("{links}")
            };
            assert_eq!(read.matched, Some(matched));
        }
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
