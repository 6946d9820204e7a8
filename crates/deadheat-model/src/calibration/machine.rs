//! The machine that a calibration holds for.

use crate::environment::Environment;

/// What tells machines apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores deadheat may use.
    pub cores: Option<u32>,
    /// What the system calls this installation, made unrecognisable; `None`
    /// where it has no name.
    pub id: Option<String>,
}

impl Machine {
    /// The machine of these facts.
    pub fn of(environment: &Environment, id: Option<String>) -> Self {
        Self {
            system: environment.system.clone(),
            kernel: environment.kernel.clone(),
            cpu: environment.cpu.clone(),
            cores: environment.cores,
            id,
        }
    }

    /// What is not the same here and there, in words; empty for one machine.
    /// An installation without a name is told apart by the other facts alone.
    pub fn differences(&self, other: &Machine) -> Vec<&'static str> {
        let named = self.id.is_some() && other.id.is_some();
        let facts = [
            ("system", self.system != other.system),
            ("kernel", self.kernel != other.kernel),
            ("processor", self.cpu != other.cpu),
            ("number of cores", self.cores != other.cores),
            ("installation", named && self.id != other.id),
        ];
        let differing = facts.into_iter().filter(|(_, differs)| *differs);
        differing.map(|(fact, _)| fact).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1".to_owned()),
            cpu: Some("EPYC".to_owned()),
            cores: Some(2),
            id: Some("a1".to_owned()),
        }
    }

    #[test]
    fn machines_differ_by_what_changes_their_noise() {
        assert!(machine().differences(&machine()).is_empty());
        let other = Machine {
            kernel: Some("6.2".to_owned()),
            cores: Some(1),
            id: Some("b2".to_owned()),
            ..machine()
        };
        assert_eq!(
            machine().differences(&other),
            ["kernel", "number of cores", "installation"]
        );
        let nameless = Machine {
            id: None,
            ..machine()
        };
        assert!(machine().differences(&nameless).is_empty());
    }
}
