//! Properties of the measured processes as the kernel shows them. They may differ from the
//! properties that deadheat requested when it started the processes.

/// The processes of one contender, as observed in one replicate. The observation applies until the
/// next observation of the same contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// Index of the contender in the benchmark.
    pub contender: usize,
    /// The first replicate that the observation applies to, counted from 0.
    pub replicate: u32,
    /// The observed properties.
    pub process: ObservedProcess,
}

/// Observed properties of a process. Properties that could not be observed are `None` or
/// [`ObservedImage::Unseen`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedProcess {
    /// The file that the process executed last.
    pub image: ObservedImage,
    /// Random or fixed addresses of the process.
    pub addresses: Option<AddressSpace>,
    /// True if the program of a command starts itself again at fixed addresses. Then all commands
    /// of the benchmark are started at fixed addresses.
    pub fixes_addresses: bool,
    /// The name of a process that was still running when its command had ended. deadheat kills such
    /// processes at the end of the launch.
    pub left_behind: Option<String>,
    /// False if the main thread, or any observed thread, may run on a core that it was not given.
    pub keeps_cores: Option<bool>,
    /// True if the environment of the process contains the bytes that deadheat adds to move the
    /// stack (padding), and the other variables that deadheat sets.
    pub is_padded: Option<bool>,
    /// Environment variables that move memory, change libraries or set a number of threads, each as
    /// `NAME=value`, sorted.
    pub variables: Vec<String>,
}

/// The file that a measured process executed last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ObservedImage {
    /// The file that deadheat started: the program, its neutral link, or a script that its
    /// interpreter executes.
    AsStarted,
    /// Another file, by its path: the process replaced itself, or left the work to a child.
    Other(String),
    /// The process ended before it was observed, or executed another file after its last
    /// observation.
    #[default]
    Unseen,
}

/// How the kernel chooses the addresses of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpace {
    /// The kernel drew random addresses for this process.
    Random,
    /// The addresses are the same in every process: the personality of the process has
    /// `ADDR_NO_RANDOMIZE`, or the whole system has randomisation off.
    Fixed,
}

/// A difference between the processes of the two sides that the user did not ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessDifference {
    /// One side has random addresses, the other has fixed ones.
    Addresses {
        /// The contender with fixed addresses.
        fixed: String,
        /// The contender with random addresses.
        random: String,
    },
    /// Only the program of one side starts itself again at fixed addresses.
    FixesAddresses {
        /// The contender whose program starts itself again at fixed addresses.
        by: String,
        /// The contender whose program does not start itself again.
        not_by: String,
    },
    /// The processes of one side may leave the cores that they were given.
    Cores {
        /// The contender whose processes may leave their cores.
        leaves: String,
    },
    /// The environment variables that deadheat sets do not reach the processes of one side.
    Padding {
        /// The contender whose processes lack the variables that deadheat sets.
        without: String,
    },
}

impl ObservedProcess {
    /// Merges two observations of one contender.
    ///
    /// `keeps_cores` and `is_padded` are true only if both observations confirm it, and false if
    /// either denies it. `addresses` remains only if both agree. `image` is the first file that
    /// deadheat did not start. `fixes_addresses` and `left_behind` remain if either observation has
    /// them. `variables` are those of `other`.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let both = |one: Option<bool>, other: Option<bool>| match (one, other) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        Self {
            image: match &self.image {
                ObservedImage::AsStarted => other.image.clone(),
                image => image.clone(),
            },
            addresses: self.addresses.filter(|_| self.addresses == other.addresses),
            fixes_addresses: self.fixes_addresses || other.fixes_addresses,
            left_behind: other
                .left_behind
                .clone()
                .or_else(|| self.left_behind.clone()),
            keeps_cores: both(self.keeps_cores, other.keeps_cores),
            is_padded: both(self.is_padded, other.is_padded),
            variables: other.variables.clone(),
        }
    }

    /// Returns the differences between this process, of the contender `name`, and a process of the
    /// contender that `other` names.
    pub fn differences(&self, name: &str, other: (&str, &Self)) -> Vec<ProcessDifference> {
        let (other_name, other) = other;
        let mut found = Vec::new();
        match (self.addresses, other.addresses) {
            (Some(AddressSpace::Fixed), Some(AddressSpace::Random)) => {
                found.push(ProcessDifference::Addresses {
                    fixed: name.to_owned(),
                    random: other_name.to_owned(),
                });
            }
            (Some(AddressSpace::Random), Some(AddressSpace::Fixed)) => {
                found.push(ProcessDifference::Addresses {
                    fixed: other_name.to_owned(),
                    random: name.to_owned(),
                });
            }
            _ => {}
        }
        // The name of the side that lacks the property, if the other side has it.
        let without = |ours: Option<bool>, theirs: Option<bool>| match (ours, theirs) {
            (Some(false), Some(true)) => Some(name.to_owned()),
            (Some(true), Some(false)) => Some(other_name.to_owned()),
            _ => None,
        };
        let leaves = without(self.keeps_cores, other.keeps_cores);
        found.extend(leaves.map(|leaves| ProcessDifference::Cores { leaves }));
        let unpadded = without(self.is_padded, other.is_padded);
        found.extend(unpadded.map(|without| ProcessDifference::Padding { without }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(addresses: AddressSpace) -> ObservedProcess {
        ObservedProcess {
            image: ObservedImage::AsStarted,
            addresses: Some(addresses),
            fixes_addresses: false,
            left_behind: None,
            keeps_cores: Some(true),
            is_padded: Some(true),
            variables: Vec::new(),
        }
    }

    #[test]
    fn names_the_side_that_deviates() {
        let plain = process(AddressSpace::Random);
        assert_eq!(plain.differences("a", ("b", &plain)), []);
        let other = ObservedProcess {
            keeps_cores: Some(false),
            is_padded: Some(false),
            ..process(AddressSpace::Fixed)
        };
        let expected = [
            ProcessDifference::Addresses {
                fixed: "b".to_owned(),
                random: "a".to_owned(),
            },
            ProcessDifference::Cores {
                leaves: "b".to_owned(),
            },
            ProcessDifference::Padding {
                without: "b".to_owned(),
            },
        ];
        assert_eq!(plain.differences("a", ("b", &other)), expected);
        assert_eq!(other.differences("b", ("a", &plain)), expected);
    }

    #[test]
    fn reports_no_difference_to_a_process_that_was_not_seen() {
        let unseen = ObservedProcess::default();
        let seen = process(AddressSpace::Fixed);
        assert_eq!(seen.differences("a", ("b", &unseen)), []);
    }
}
