//! How many launches: hyperfine's words, deadheat's looks.

use deadheat_analysis::{fixed_look, planned_looks};
use deadheat_model::Looks;

use super::spec::{CommandRaceSpec, SpecError};

/// How many launches of each command, in hyperfine's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Exactly so many, judged once at the end.
    pub exactly: Option<u32>,
    /// No verdict before so many.
    pub min: Option<u32>,
    /// Never more than so many.
    pub max: Option<u32>,
}

impl CommandRaceSpec {
    /// hyperfine counts runs of each command, deadheat replicates: a block of
    /// two contenders holds two launches of each, any other holds one.
    pub(super) fn looks(&self, contenders: usize, alpha: f64) -> Result<Looks, SpecError> {
        let launches_per_block = if contenders == 2 { 2 } else { 1 };
        let per_replicate = launches_per_block * self.settings.blocks.unwrap_or(1).max(1);
        let at_least = |runs: u32| runs.div_ceil(per_replicate);
        for (flag, value) in [
            ("--runs", self.runs.exactly),
            ("--max-runs", self.runs.max),
            ("--max-replicates", self.settings.max_replicates),
        ] {
            if value == Some(0) {
                return Err(SpecError::Zero { flag });
            }
        }
        if let Some(runs) = self.runs.exactly {
            if self.runs.min.is_some() || self.runs.max.is_some() {
                return Err(SpecError::Conflict {
                    one: "--runs",
                    other: "--min-runs and --max-runs",
                    why: "an exact number has no bounds",
                });
            }
            return Ok(fixed_look(at_least(runs), alpha)?);
        }
        let min = self.runs.min.map_or(0, at_least);
        let max = match self.runs.max {
            Some(runs) => (runs / per_replicate).max(1),
            None => self.settings.max_replicates().max(min),
        };
        if min > max {
            return Err(SpecError::Runs {
                flags: "--min-runs, --max-runs",
                min: self.runs.min.unwrap_or(0),
                max: self.runs.max.unwrap_or(0),
            });
        }
        Ok(planned_looks(min, max, alpha)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_translated_into_replicates() {
        let looks = |commands: &[&str], runs| {
            CommandRaceSpec {
                runs,
                commands: commands.iter().map(|text| text.to_string()).collect(),
                ..CommandRaceSpec::default()
            }
            .plan()
            .map(|plan| plan.design.looks.at)
        };
        let exactly = |runs| Runs {
            exactly: Some(runs),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], exactly(200)).unwrap(), [100]);
        assert_eq!(looks(&["a", "b"], exactly(5)).unwrap(), [3]);
        assert_eq!(looks(&["a", "b", "c"], exactly(5)).unwrap(), [5]);
        let min = Runs {
            min: Some(30),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], min).unwrap(), [16, 22, 31, 40]);
        let max = Runs {
            max: Some(22),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], max).unwrap(), [6, 8, 11]);
        let min_alone = Runs {
            min: Some(500),
            ..Runs::default()
        };
        assert_eq!(looks(&["a", "b"], min_alone).unwrap(), [250]);
        let nothing = Runs {
            min: Some(30),
            max: Some(20),
            ..Runs::default()
        };
        assert!(looks(&["a", "b"], nothing).is_err());
        assert!(
            looks(&["a", "b"], exactly(0))
                .unwrap_err()
                .to_string()
                .contains("--runs")
        );
    }
}
