//! What a comparison of saved results depends on beside the analysis.

/// In which order the benchmarks stand; the candidates of one stay together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// That of the file; what has no answer comes last.
    #[default]
    File,
    /// By name, numbers by their size.
    Name,
    /// What became worse the most comes first; what has no change comes last.
    Change,
    /// Slower, faster, inconclusive, equivalent, and what has no verdict.
    Verdict,
}

/// How a comparison of saved results is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// Columns of the terminal; `usize::MAX` for no limit. Text only.
    pub width: usize,
    /// Whether colours may be used. Text only.
    pub color: bool,
    /// Whether the reader sees more than ASCII. Text only: Markdown always
    /// takes it for granted.
    pub unicode: bool,
    /// The order of the rows.
    pub sort: Sort,
    /// Whether only those are shown that are faster or slower, and those
    /// without an answer: failed, skipped, missing, added or not alike.
    pub only_changed: bool,
    /// Whether the metrics beside the judged one are shown for every
    /// benchmark, and not only where they moved.
    pub all_metrics: bool,
    /// Whether the secondary figures follow.
    pub figures: bool,
    /// Whether pictures of every comparison follow. Text only.
    pub plot: bool,
}

impl Default for ComparisonOptions {
    /// What suits a file: as wide as it takes, ASCII without colour.
    fn default() -> Self {
        Self {
            width: usize::MAX,
            color: false,
            unicode: false,
            sort: Sort::File,
            only_changed: false,
            all_metrics: false,
            figures: false,
            plot: false,
        }
    }
}
