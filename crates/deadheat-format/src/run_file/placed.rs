//! Where the code lay in a replicate, as it is read from a run file.

use std::collections::HashMap;

use deadheat_model as model;
use serde::Deserialize;

/// Says where the code of each contender lies in a replicate.
#[derive(Debug, Deserialize)]
pub(super) struct PlacedLine {
    placed: Placed,
}

#[derive(Debug, Deserialize)]
struct Placed {
    /// Its place in the plan, counted from 0.
    benchmark: usize,
    replicate: u32,
    contenders: Vec<Placing>,
    #[serde(default)]
    refused: Vec<Refused>,
    #[serde(default)]
    fallen_back: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a contender is placed by \"own\" or by a neutral link with its seed and hash"
)]
enum Placing {
    Own(Own),
    Neutral { seed: u32, hash: String },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Own {
    Own,
}

#[derive(Debug, Deserialize)]
struct Refused {
    seed: u32,
    reason: String,
}

impl PlacedLine {
    pub(super) fn into_model(self) -> model::Placed {
        let placed = self.placed;
        let placing = |placing| match placing {
            Placing::Own(Own::Own) => model::Placing::Own,
            Placing::Neutral { seed, hash } => {
                model::Placing::Neutral(model::NeutralLink { seed, hash })
            }
        };
        let refused = |refused: Refused| model::RefusedLink {
            seed: refused.seed,
            reason: refused.reason,
        };
        model::Placed {
            benchmark: placed.benchmark,
            replicate: placed.replicate,
            contenders: placed.contenders.into_iter().map(placing).collect(),
            refused: placed.refused.into_iter().map(refused).collect(),
            fallen_back: placed.fallen_back,
        }
    }
}

/// On which lines placements were given, so that none is given twice.
#[derive(Debug, Default)]
pub(super) struct PlacedLines {
    lines: HashMap<(usize, u32), u64>,
}

impl PlacedLines {
    /// Takes one. `Err` says in words why it cannot be, of a benchmark the
    /// plan has.
    pub(super) fn take(
        &mut self,
        placed: &model::Placed,
        benchmark: &model::Benchmark,
        line: u64,
    ) -> Result<(), String> {
        let place = format!(
            "benchmark '{}', replicate {}",
            benchmark.name, placed.replicate
        );
        let (racing, count) = (benchmark.contenders.len(), placed.contenders.len());
        if count != racing {
            return Err(format!(
                "{place}: a placement of {count} contenders, but the plan has {racing}"
            ));
        }
        let first = self
            .lines
            .insert((placed.benchmark, placed.replicate), line);
        match first {
            Some(first) => Err(format!(
                "{place}: its placement was already given on line {first}"
            )),
            None => Ok(()),
        }
    }

    /// A run that is taken up again places the replicate it goes on with once
    /// more, since a worker or a link does not outlive the run.
    pub(super) fn resume(&mut self) {
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::written;
    use super::*;

    #[test]
    fn every_placement_survives_the_way_through_its_line() {
        let neutral = model::Placing::Neutral(model::NeutralLink {
            seed: u32::MAX,
            hash: "00ff".to_owned(),
        });
        for (contenders, refused, fallen_back) in [
            (vec![neutral.clone(), neutral], vec![], None),
            (
                vec![model::Placing::Own],
                vec![model::RefusedLink {
                    seed: 3,
                    reason: "ld.lld: \"no\"\nspace".to_owned(),
                }],
                Some("three links in a row".to_owned()),
            ),
        ] {
            let placed = model::Placed {
                benchmark: 2,
                replicate: 7,
                contenders,
                refused,
                fallen_back,
            };
            let line = written::placed(&placed).to_string();
            let back: PlacedLine = serde_json::from_str(&line).unwrap();
            assert_eq!(back.into_model(), placed);
        }
    }
}
