//! The files that compared results were read from.

/// Facts that a file tells of where its values come from; what it does not say is `None`.
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
    /// When it was measured, as written there.
    pub date: Option<String>,
    /// The same in seconds from a moment that is the same for all files, where that can be told.
    pub moment: Option<f64>,
    /// When the file was written last, in seconds since 1970; of a pipe nobody knows.
    pub modified: Option<f64>,
    /// A digest of what was recorded, the same for copies of a file.
    pub digest: Option<u64>,
    /// Files of the same side that hold this recording, too, and are left out.
    pub copies: Vec<String>,
    /// Names of benchmarks that share theirs with another one of the file, and are told from it only
    /// by their order.
    pub repeated: Vec<String>,
    /// True if the frequency of the processor was being scaled.
    pub cpu_scaling: Option<bool>,
    /// True if something measured, or the library that measured it, was a debug build.
    pub debug_build: Option<bool>,
}

impl ResultFacts {
    /// The facts that are text of the file.
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
    /// As it was named.
    pub source: String,
    /// The tool that wrote it.
    pub tool: String,
    /// Facts it tells of the machine and the build.
    pub facts: ResultFacts,
}

/// One side of a comparison of saved results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSide {
    /// The contender's name.
    pub name: String,
    /// Where its values were read from.
    pub files: Vec<ResultSource>,
}
