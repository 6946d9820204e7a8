//! The cases that are raced: pairs of executables whose true difference is known.

use deadheat_validation::prelude::*;

const LIBRARIES: [&str; 2] = ["-lbenchmark", "-lpthread"];

words! {
    pub enum Case {
        Itself = "itself",
        OnePercent = "+1 %",
        FivePercent = "+5 %",
    }
}

pub struct Pair {
    pub old: PathBuf,
    pub new: PathBuf,
}

impl Case {
    pub fn name(self) -> String {
        self.key().replace(' ', "")
    }

    /// The true change, in percent.
    pub fn percent(self) -> f64 {
        match self {
            Self::Itself => 0.0,
            Self::OnePercent => 1.0,
            Self::FivePercent => 5.0,
        }
    }

    pub fn few(self) -> &'static str {
        match self {
            Self::Itself => "Steps|Sum/64$|Digits",
            Self::OnePercent | Self::FivePercent => "(Multiplying|Walking)/1000$",
        }
    }

    /// Compiles its executables, so that they have neutral links if wanted.
    pub fn compiled(self, shop: &Workshop, neutral: bool) -> Pair {
        let links = if neutral { "neutral" } else { "own" };
        let compile = |source: &str, percent: u32, side: &str| {
            let folder = format!("{links}-{source}-{percent}-{side}");
            let program = format!("{folder}/bench");
            let made = shop.scratched(&program);
            // Cases share the build that does no more.
            if made.exists() {
                return made;
            }
            fs::create_dir_all(shop.scratched(&folder)).expect("a folder");
            let percent = format!("-DPERCENT={percent}");
            let words = [&[percent.as_str()][..], &LIBRARIES].concat();
            shop.compile(source, &program, &words, neutral)
        };
        match self {
            // Compiled twice to the same bytes, for a copy would have no
            // record of its own from which it can be linked anew.
            Self::Itself => {
                Pair { old: compile("google.cpp", 0, "old"), new: compile("google.cpp", 0, "new") }
            }
            Self::OnePercent | Self::FivePercent => Pair {
                old: compile("exact.cpp", 0, "old"),
                new: compile("exact.cpp", self.percent() as u32, "new"),
            },
        }
    }
}
