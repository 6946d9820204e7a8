//! One sitting of a table that takes hours: what is not kept yet is observed round by round, in a
//! random order within each, so that changes of the machine affect all cells alike.

use deadheat_examples::random::SplitMix64;
use serde_json::{Value, json};

use crate::kept::{Kept, by_the_end_of};
use crate::load::Load;
use crate::options::Wanted;
use crate::progress::Progress;

/// A cell of a table, by the values of its rows, and the number of observations it gets.
pub struct Wish<C> {
    pub cell: C,
    pub keys: Vec<(&'static str, String)>,
    /// True if every core has a busy loop meanwhile.
    pub loaded: bool,
    pub times: usize,
}

impl<C> Wish<C> {
    pub fn name(&self) -> String {
        self.keys.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn made(&self, kept: &Kept) -> usize {
        kept.count(&self.keys)
    }

    /// The same with as many observations as the command line asks for.
    pub fn limited(mut self, wanted: &Wanted) -> Self {
        self.times = if wanted.fits(&self.name()) { wanted.of(self.times) } else { 0 };
        self
    }
}

/// The number of observations that are kept of those that are wished for.
pub fn kept_of<C>(wishes: &[Wish<C>], kept: &Kept) -> usize {
    wishes.iter().map(|wish| wish.made(kept).min(wish.times)).sum()
}

pub fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.index_below(last + 1));
    }
}

/// Observes until all is kept or time is up. `observe` makes a row of the cell and the number of its
/// repeat, to which the keys, the repeat and the seconds are added.
pub fn sit<C: Copy>(
    kept: &mut Kept,
    wishes: &[Wish<C>],
    rounds: usize,
    random: &mut SplitMix64,
    mut observe: impl FnMut(C, usize, &mut SplitMix64) -> Value,
) {
    let all: usize = wishes.iter().map(|wish| wish.times).sum();
    let mut progress = Progress::over(all - kept_of(wishes, kept));
    let mut answered: Vec<Value> = Vec::new();
    for round in 0..rounds {
        let mut due: Vec<(&Wish<C>, usize)> = Vec::new();
        for (index, wish) in wishes.iter().enumerate() {
            // Without a divisor in common, so that what is wanted once falls into all rounds alike.
            let until = by_the_end_of(round, rounds, wish.times, index * 17 % rounds);
            due.extend((wish.made(kept)..until).map(|repeat| (wish, repeat)));
        }
        shuffle(&mut due, random);
        due.sort_by_key(|(wish, _)| wish.loaded);
        let mut load = None;
        for (wish, repeat) in due {
            if !kept.goes_on() {
                return;
            }
            if wish.loaded && load.is_none() {
                load = Some(Load::settled_on_every_core());
            }
            let mut row = observe(wish.cell, repeat, random);
            for (key, value) in &wish.keys {
                row[*key] = json!(value);
            }
            // Whoever never answers has been asked in a wrong way.
            let (failed, tool) = (row["called"] == "failed", row["tool"].clone());
            assert!(
                !failed || answered.contains(&tool),
                "the first of {tool} in this sitting failed: {}",
                row["problem"]
            );
            answered.push(tool);
            let told = ["problem", "called", "ns"].map(|key| &row[key]);
            let told = told.into_iter().find(|told| !told.is_null());
            let told = told.map_or_else(String::new, |told| format!(": {told}"));
            progress.made(&format!("{}{told}", wish.name()));
            kept.add(row);
        }
    }
}

/// A row of raw data for a tool that gave no answer.
pub fn failed(problem: &str) -> Value {
    let short: String = problem.chars().take(200).collect();
    json!({"called": "failed", "problem": short})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::Sittings;

    #[test]
    fn a_sitting_makes_what_is_missing_and_nothing_twice() {
        let root = std::env::temp_dir().join(format!("deadheat-sitting-{}", std::process::id()));
        let wanted = Wanted::default();
        let mut kept = Kept::open(&root, "table", &wanted, Sittings::OneMachine);
        kept.add(json!({"tool": "a"}));
        let wish = |tool: &'static str, times| Wish {
            cell: tool,
            keys: vec![("tool", tool.to_owned())],
            loaded: false,
            times,
        };
        let wishes = [wish("a", 3), wish("b", 1)];
        assert_eq!(kept_of(&wishes, &kept), 1);
        let mut repeats = Vec::new();
        sit(&mut kept, &wishes, 5, &mut SplitMix64::new(1), |cell, repeat, _| {
            repeats.push((cell, repeat));
            json!({"called": "neither"})
        });
        repeats.sort_unstable();
        assert_eq!(repeats, [("a", 1), ("a", 2), ("b", 0)]);
        assert_eq!(kept_of(&wishes, &kept), 4);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..50).collect();
        shuffle(&mut items, &mut SplitMix64::new(1));
        assert!(items.windows(2).any(|pair| pair[0] > pair[1]));
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
