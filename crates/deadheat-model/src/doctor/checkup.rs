//! A machine, looked at as a whole.

use super::advice::PinAdvice;
use super::core_watch::CoreWatch;
use super::facts::Topic;
use super::finding::{Finding, State};
use crate::Pinning;

/// Time lost on the measuring core from which a machine is poor, as a share.
const POOR_LOST: f64 = 0.05;

/// How good a machine is for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Nothing disturbs.
    Good,
    /// Something disturbs; races take longer for the same answer.
    Fair,
    /// So much is lost that small differences are not found.
    Poor,
}

impl Fitness {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

/// Everything `deadheat doctor` found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkup {
    /// The version of deadheat.
    pub tool_version: String,
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Cores that are running; empty where the system does not tell.
    pub online: Vec<u32>,
    /// Cores deadheat may use; empty where the system does not tell.
    pub allowed: Vec<u32>,
    /// The cores that were asked for.
    pub pinning: Pinning,
    /// The cores that were watched, in order.
    pub cores: Vec<CoreWatch>,
    /// The core all else was measured on; `None` where the scheduler decided.
    pub measured_on: Option<u32>,
    /// How long all of it took, in seconds.
    pub seconds: f64,
    /// What was looked at, in the order of [`Topic`].
    pub findings: Vec<Finding>,
    /// Which cores to race on.
    pub advice: PinAdvice,
}

impl Checkup {
    /// What was found out about a thing.
    pub fn finding(&self, topic: Topic) -> Option<&Finding> {
        self.findings.iter().find(|one| one.topic() == topic)
    }

    /// The findings in this state, what to mend first coming first.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |one| one.state == state)
    }

    /// What to mend first; `None` when nothing disturbs.
    pub fn first(&self) -> Option<&Finding> {
        self.in_state(State::Disturbs).next()
    }

    /// The core all else was measured on, as it was watched.
    pub fn watch(&self) -> Option<&CoreWatch> {
        let mut cores = self.cores.iter();
        cores.find(|watch| watch.core == self.measured_on)
    }

    /// How good the machine is for measuring.
    pub fn fitness(&self) -> Fitness {
        let lost = self.watch().map_or(0.0, |watch| watch.lost);
        match self.first() {
            _ if lost >= POOR_LOST => Fitness::Poor,
            Some(_) => Fitness::Fair,
            None => Fitness::Good,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Facts, PinReason};

    fn checkup(states: [State; 2], lost: f64) -> Checkup {
        let facts = [
            Facts::Steal { since_start: None },
            Facts::Build {
                debug_assertions: true,
            },
        ];
        let findings = states.into_iter().zip(facts).map(|(state, facts)| Finding {
            facts,
            state,
            effects: Vec::new(),
            not_measured: None,
        });
        Checkup {
            tool_version: "0.1.0".to_owned(),
            system: "linux".to_owned(),
            kernel: None,
            cpu: None,
            online: Vec::new(),
            allowed: vec![0],
            pinning: Pinning::Auto,
            cores: vec![CoreWatch {
                core: Some(0),
                seconds: 1.0,
                taken_away: 1.0,
                longest_ns: 1.0,
                lost,
                waiting: None,
                stolen: None,
                interrupts: None,
                isolated: false,
            }],
            measured_on: Some(0),
            seconds: 1.0,
            findings: findings.collect(),
            advice: PinAdvice {
                pinning: Pinning::Auto,
                cores: vec![0],
                reason: PinReason::OnlyOne,
                start_with: Vec::new(),
            },
        }
    }

    #[test]
    fn a_machine_is_as_good_as_what_disturbs_it() {
        let quiet = checkup([State::Minor, State::Unknown], 0.001);
        assert_eq!((quiet.fitness(), quiet.first()), (Fitness::Good, None));
        let disturbed = checkup([State::Fine, State::Disturbs], 0.001);
        assert_eq!(disturbed.fitness(), Fitness::Fair);
        assert_eq!(disturbed.first().map(Finding::topic), Some(Topic::Build));
        let both = checkup([State::Disturbs, State::Disturbs], 0.2);
        assert_eq!(both.fitness(), Fitness::Poor);
        assert_eq!(both.first().map(Finding::topic), Some(Topic::Steal));
    }

    #[test]
    fn what_interrupts_took_is_what_no_task_did() {
        let watch = CoreWatch {
            waiting: Some(0.03),
            ..checkup([State::Fine; 2], 0.05).cores[0].clone()
        };
        assert!((watch.lost_to_interrupts() - 0.02).abs() < 1e-12);
    }
}
