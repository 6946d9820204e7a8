//! The files that compared results were read from.

/// Facts about the origin of a result file's values; facts that the file lacks are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultFacts {
    /// Name of the machine.
    pub host: Option<String>,
    /// Operating system.
    pub system: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores.
    pub cores: Option<u32>,
    /// Language runtime and its version.
    pub runtime: Option<String>,
    /// Date of the measurement, as written in the file.
    pub date: Option<String>,
    /// The date of the measurement as seconds, comparable between files, if it can be determined.
    pub moment: Option<f64>,
    /// Last modification of the file in seconds since 1970; `None` for a pipe.
    pub modified: Option<f64>,
    /// Digest of the recorded values, equal for copies of a file.
    pub digest: Option<u64>,
    /// Other files of the same side that hold the same recording and are left out.
    pub copies: Vec<String>,
    /// Names that several benchmarks of the file share, so that only their order distinguishes
    /// them.
    pub repeated: Vec<String>,
    /// True if the frequency of the processor was being scaled.
    pub cpu_scaling: Option<bool>,
    /// True if the measured code, or the library that measured it, was a debug build.
    pub debug_build: Option<bool>,
}

impl ResultFacts {
    /// Returns the facts that are texts from the file.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = [
            &mut self.host,
            &mut self.system,
            &mut self.cpu,
            &mut self.runtime,
            &mut self.date,
        ];
        texts.into_iter().flatten()
    }
}

/// A file that values were read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSource {
    /// The file as the user named it.
    pub source: String,
    /// The tool that wrote the file.
    pub tool: String,
    /// Facts from the file about the machine and the build.
    pub facts: ResultFacts,
}

/// One side of a comparison of saved results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSide {
    /// The contender's name.
    pub name: String,
    /// The files that the contender's values were read from.
    pub files: Vec<ResultSource>,
}
