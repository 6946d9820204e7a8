//! Whether the files of a comparison come from one tool.

use deadheat::exit::Failure;
use deadheat::model::Results;
use deadheat::saved::Side;

/// Refuses results of two tools: they time differently, whatever their
/// benchmarks are called.
pub fn check(sides: &[Side]) -> Result<(), Failure> {
    let mut files = sides.iter().flat_map(|side| &side.files);
    let Some(first) = files.next() else {
        return Ok(());
    };
    match files.find(|file| kind(file) != kind(first)) {
        None => Ok(()),
        Some(other) => Err(Failure::Data(format!(
            "{} was written by {} and {} by {}: results of two tools cannot be compared, for they \
             do not time the same",
            first.source, first.tool, other.source, other.tool
        ))),
    }
}

/// The name of the tool without its version.
fn kind(results: &Results) -> &str {
    let tool = &results.tool;
    let version = tool.find(|c: char| c.is_ascii_digit());
    tool[..version.unwrap_or(tool.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(tool: &str) -> Side {
        Side {
            name: tool.to_owned(),
            files: vec![Results::new(format!("{tool}.json"), tool)],
        }
    }

    #[test]
    fn versions_may_differ_and_tools_may_not() {
        assert!(check(&[side("pyperf 2.0"), side("pyperf 2.6.0"), side("pyperf")]).is_ok());
        let error = check(&[side("pyperf 2.0"), side("hyperfine")]).unwrap_err();
        assert_eq!(error.code(), 4);
        assert!(error.to_string().contains("hyperfine.json by hyperfine"));
    }
}
