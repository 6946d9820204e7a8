//! The problem with a file of saved results, wherever it was found.

use deadheat_format::FormatError;
use deadheat_import::{ResultState, Results};

/// The problem with `a.json`: with all of it, or else with its first benchmark that failed, or with
/// what could not be read of it.
pub fn problem(read: Result<Results, FormatError>) -> String {
    let results = match read {
        Ok(results) => results,
        Err(error) => return error.to_string(),
    };
    let failed = results.benchmarks.iter().find_map(|one| match &one.state {
        ResultState::Failed(why) => Some(why),
        _ => None,
    });
    let why = failed.or(results.unread.first());
    format!("a.json: {}", why.expect("all of it was read"))
}
