//! The plan of the observations: of what, how often, and in which order.

use deadheat_examples::random::SplitMix64;

/// Two functions of the article: baseline and candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub &'static str, pub &'static str);

impl Pair {
    /// `std_5000 / std_4925`
    pub fn name(self) -> String {
        format!("{} / {}", self.0, self.1)
    }
}

/// The rows of the article, in its order.
pub const ROWS: [Pair; 6] = [
    Pair("std", "std"),
    Pair("std_count", "std_count"),
    Pair("std_count_rev", "std_count_rev"),
    LESS,
    Pair("std_count", "std_count_rev"),
    Pair("std", "std_count"),
];

/// A known difference, the function with less to do as the candidate.
pub const LESS: Pair = Pair("std_5000", "std_4925");

/// The same, as the baseline.
pub const LESS_FIRST: Pair = Pair("std_4925", "std_5000");

/// The subject of one observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A row of the article, or its fourth the other way round.
    Pair(Pair),
    /// The experiment of the article: two functions one after the other, in
    /// both orders.
    BothOrders,
}

impl Subject {
    /// As it is recorded.
    pub fn name(self) -> String {
        match self {
            Self::Pair(pair) => pair.name(),
            Self::BothOrders => "both orders".to_owned(),
        }
    }
}

/// A tool, or the way it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Deadheat,
    Tango,
    /// For the second that it promises 1 % in.
    TangoSecond,
    Criterion,
}

impl Tool {
    pub const ALL: [Self; 4] = [
        Self::Deadheat,
        Self::Tango,
        Self::TangoSecond,
        Self::Criterion,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Deadheat => "deadheat",
            Self::Tango => "tango",
            Self::TangoSecond => "tango, 1 s",
            Self::Criterion => "criterion",
        }
    }

    /// The subjects it is asked about: criterion measures functions one by one, so the order of the
    /// two is an experiment of its own; the others take a pair either way round.
    pub fn subjects(self) -> Vec<Subject> {
        let last = match self {
            Self::Criterion => Subject::BothOrders,
            _ => Subject::Pair(LESS_FIRST),
        };
        let rows = ROWS.into_iter().map(Subject::Pair);
        rows.chain([last]).collect()
    }

    /// Observations of every subject.
    pub fn repeats(self, condition: Condition, quick: bool) -> usize {
        let (idle, loaded) = match (self, quick) {
            (Self::Criterion, false) => (5, 2),
            (Self::TangoSecond, false) => (20, 5),
            (_, false) => (20, 10),
            (Self::Criterion | Self::TangoSecond, true) => (1, 0),
            (_, true) => (2, 1),
        };
        match condition {
            Condition::Idle => idle,
            Condition::Loaded => loaded,
        }
    }

    /// Seconds of an observation, for want of measured ones.
    fn guessed_seconds(self, subject: Subject) -> f64 {
        match (self, subject) {
            (Self::Deadheat, _) => 0.1,
            (Self::Tango, _) => 0.2,
            (Self::TangoSecond, _) => 1.1,
            (Self::Criterion, Subject::Pair(_)) => 18.0,
            (Self::Criterion, Subject::BothOrders) => 36.0,
        }
    }
}

/// The other work of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Idle,
    Loaded,
}

impl Condition {
    pub const ALL: [Self; 2] = [Self::Idle, Self::Loaded];

    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Loaded => "loaded",
        }
    }
}

/// One observation to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub repeat: usize,
    pub condition: Condition,
    pub tool: Tool,
    pub subject: Subject,
    /// Of the input, and of whatever the tool draws itself.
    pub seed: u64,
}

/// All of them in the order to make them: repeat after repeat, idle before
/// loaded, tools and rows in an order drawn anew for each.
pub fn steps(seed: u64, quick: bool) -> Vec<Step> {
    let mut random = SplitMix64::new(seed);
    let most = |condition| {
        let all = Tool::ALL.into_iter();
        all.map(move |tool| tool.repeats(condition, quick)).max()
    };
    let repeats = Condition::ALL.into_iter().filter_map(most).max();
    let mut steps = Vec::new();
    for repeat in 0..repeats.unwrap_or(0) {
        for condition in Condition::ALL {
            let begin = steps.len();
            for tool in Tool::ALL {
                if repeat >= tool.repeats(condition, quick) {
                    continue;
                }
                steps.extend(tool.subjects().into_iter().map(|subject| Step {
                    repeat,
                    condition,
                    tool,
                    subject,
                    // Tools differ in how large a seed they take.
                    seed: random.bits() >> 32,
                }));
            }
            let now = &mut steps[begin..];
            for last in (1..now.len()).rev() {
                now.swap(last, random.index_below(last + 1));
            }
        }
    }
    steps
}

/// The time that these take, in seconds. `known` gives the time that one took so far.
pub fn time_left(steps: &[Step], known: impl Fn(&Step) -> Option<f64>) -> f64 {
    let one = |step: &Step| known(step).unwrap_or_else(|| step.tool.guessed_seconds(step.subject));
    steps.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_repeats_of_every_subject() {
        let steps = steps(1, false);
        let count = |tool, condition, subject| {
            let of = |step: &&Step| {
                (step.tool, step.condition, step.subject) == (tool, condition, subject)
            };
            steps.iter().filter(of).count()
        };
        for tool in Tool::ALL {
            assert_eq!(tool.subjects().len(), 7);
            for condition in Condition::ALL {
                for subject in tool.subjects() {
                    let repeats = tool.repeats(condition, false);
                    assert_eq!(count(tool, condition, subject), repeats);
                }
            }
        }
        assert_eq!(
            count(Tool::Deadheat, Condition::Idle, Subject::BothOrders),
            0
        );
    }

    #[test]
    fn no_repeat_begins_before_the_last_one_is_complete() {
        let steps = steps(2, false);
        assert!(steps.windows(2).all(|two| two[0].repeat <= two[1].repeat));
        let tools: Vec<Tool> = steps.iter().take(28).map(|step| step.tool).collect();
        assert!(tools.windows(2).filter(|two| two[0] != two[1]).count() > 8);
    }

    #[test]
    fn the_order_is_decided_by_the_seed() {
        assert_eq!(steps(3, true), steps(3, true));
        assert_ne!(steps(3, true), steps(4, true));
    }

    #[test]
    fn what_is_known_of_time_takes_the_place_of_guesses() {
        let all = steps(5, true);
        assert_eq!(time_left(&all, |_| Some(2.0)), 2.0 * all.len() as f64);
        assert!(time_left(&all, |_| None) > 18.0);
    }
}
