//! The tools that race the cases, and how each is called.

use deadheat_validation::google_compare::{self, compared};
use deadheat_validation::prelude::*;

use crate::case::{Case, Pair};

words! {
    pub enum Tool {
        /// Google Benchmark's, as its manual says.
        Compare = "compare.py",
        /// The same, with the order of repetitions drawn in each executable.
        Interleaved = "compare.py interleaved",
        /// deadheat, on the executables as they are linked.
        Bench = "deadheat bench",
        /// deadheat, on executables that are linked anew for every replicate.
        Neutral = "deadheat bench neutral",
    }
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare => "`compare.py`",
            Self::Interleaved => "`compare.py`, random interleaving",
            Self::Bench => "`deadheat bench`",
            Self::Neutral => "`deadheat bench`, neutral links",
        }
    }

    pub fn is_ours(self) -> bool {
        matches!(self, Self::Bench | Self::Neutral)
    }

    pub fn wants_neutral_links(self) -> bool {
        self == Self::Neutral
    }

    /// The arguments of the executables, for a case that is perhaps only to be
    /// tried: nine repetitions, which the U test asks for, as short as the
    /// manual of random interleaving has them.
    pub fn arguments(self, case: Case, quick: bool) -> Vec<String> {
        let mut arguments = Vec::new();
        if !self.is_ours() {
            arguments.push("--benchmark_repetitions=9".to_owned());
            arguments.push("--benchmark_min_time=0.1".to_owned());
        }
        if self == Self::Interleaved {
            arguments.push("--benchmark_enable_random_interleaving=true".to_owned());
        }
        if quick {
            arguments.push(format!("--benchmark_filter={}", case.few()));
        }
        arguments
    }

    pub fn observe(self, shop: &Workshop, case: Case, pair: &Pair, seed: u64) -> Value {
        let arguments = self.arguments(case, shop.quick);
        if self.is_ours() {
            let program = |path| format!("{} {}", text(path), quoted(&arguments));
            let (old, new) = (program(&pair.old), program(&pair.new));
            let raced = shop.race(&[old.trim(), new.trim(), "--seed", &seed.to_string()]);
            let rows = raced.rows.iter().map(|row| {
                let (low, high) = row.change.interval;
                json!({
                    "name": row.name,
                    "change": rounded(row.change.percent),
                    "low": rounded(low),
                    "high": rounded(high),
                    "verdict": row.verdict,
                })
            });
            return json!({
                "scope": raced.rows[0].scope,
                "seconds": rounded(raced.seconds),
                "rows": rows.collect::<Value>(),
            });
        }
        let dump = shop.scratched("compared.json");
        let compared = compared(&pair.old, &pair.new, &dump, &arguments);
        let rows = compared
            .rows
            .iter()
            .map(|row| json!({"name": row.name, "change": rounded(row.percent), "p": row.p}));
        json!({"seconds": rounded(compared.seconds), "rows": rows.collect::<Value>()})
    }

    pub fn version(self, shop: &Workshop) -> String {
        match self {
            Self::Compare | Self::Interleaved => {
                google_compare::version().unwrap_or_else(|lacks| lacks)
            }
            Self::Bench | Self::Neutral => shop.version(),
        }
    }
}

fn quoted(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    quoted.join(" ")
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_peer_is_told_how_often_and_how_long() {
        let words = Tool::Interleaved.arguments(Case::OnePercent, false);
        assert_eq!(
            words,
            [
                "--benchmark_repetitions=9",
                "--benchmark_min_time=0.1",
                "--benchmark_enable_random_interleaving=true"
            ]
        );
        assert!(Tool::Bench.arguments(Case::Itself, false).is_empty());
        let few = Tool::Neutral.arguments(Case::Itself, true);
        assert_eq!(quoted(&few), "'--benchmark_filter=Steps|Sum/64$|Digits'");
    }

    #[test]
    fn what_is_kept_is_short() {
        assert_eq!(rounded(1.234_56), 1.2346);
        assert_eq!(rounded(-0.000_01), 0.0);
    }
}
