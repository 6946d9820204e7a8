//! Doubts about saved results as a whole: what their files say of the
//! machines, tools and builds behind them.

use deadheat_model::{ResultFacts, ResultSide, ResultSource, Warning};

/// What the facts of the sides give reason to doubt, the baseline's first.
pub(crate) fn about_the_recordings(sides: &[ResultSide]) -> Vec<Warning> {
    let Some((baseline, candidates)) = sides.split_first() else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    let mut differ = |tell: fn(&ResultSource) -> Option<String>,
                      doubt: fn(String, String) -> Warning| {
        let first = told(baseline, tell);
        for candidate in candidates {
            let other = told(candidate, tell);
            // What one side does not tell cannot differ.
            if !first.is_empty() && !other.is_empty() && first != other {
                let doubt = doubt(first.join(", "), other.join(", "));
                if !warnings.contains(&doubt) {
                    warnings.push(doubt);
                }
            }
        }
    };
    differ(machine, |baseline, candidate| Warning::DifferentMachines {
        baseline,
        candidate,
    });
    differ(tool, |baseline, candidate| Warning::DifferentTools {
        baseline,
        candidate,
    });
    let those = |holds: fn(&ResultFacts) -> Option<bool>| -> Vec<String> {
        let any = |side: &&ResultSide| {
            let mut files = side.files.iter();
            files.any(|file| holds(&file.facts) == Some(true))
        };
        sides
            .iter()
            .filter(any)
            .map(|side| side.name.clone())
            .collect()
    };
    let scaling = those(|facts| facts.cpu_scaling);
    if !scaling.is_empty() {
        warnings.push(Warning::CpuScaling { sides: scaling });
    }
    let debug = those(|facts| facts.debug_build);
    if !debug.is_empty() {
        warnings.push(Warning::DebugRecording { sides: debug });
    }
    warnings
}

/// What the files of a side tell, each thing once.
fn told(side: &ResultSide, tell: fn(&ResultSource) -> Option<String>) -> Vec<String> {
    let mut all: Vec<String> = side.files.iter().filter_map(tell).collect();
    all.sort();
    all.dedup();
    all
}

fn machine(file: &ResultSource) -> Option<String> {
    let facts = &file.facts;
    let cores = facts.cores.map(|cores| format!("{cores} cores"));
    together([&facts.host, &facts.system, &facts.cpu, &cores])
}

fn tool(file: &ResultSource) -> Option<String> {
    let named = Some(file.tool.clone()).filter(|tool| !tool.is_empty());
    together([&named, &file.facts.runtime])
}

fn together<const N: usize>(parts: [&Option<String>; N]) -> Option<String> {
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(name: &str, host: Option<&str>, tool: &str, scaling: Option<bool>) -> ResultSide {
        ResultSide {
            name: name.to_owned(),
            files: vec![ResultSource {
                source: format!("{name}.json"),
                tool: tool.to_owned(),
                facts: ResultFacts {
                    host: host.map(str::to_owned),
                    cpu_scaling: scaling,
                    ..ResultFacts::default()
                },
            }],
        }
    }

    fn codes(sides: &[ResultSide]) -> Vec<&'static str> {
        about_the_recordings(sides)
            .iter()
            .map(Warning::code)
            .collect()
    }

    #[test]
    fn sides_that_agree_or_keep_silent_raise_no_doubt() {
        let (a, b) = (
            side("a", Some("h"), "x 1", None),
            side("b", Some("h"), "x 1", Some(false)),
        );
        assert!(codes(&[a.clone(), b]).is_empty());
        assert!(codes(&[a, side("c", None, "", None)]).is_empty());
        assert!(codes(&[]).is_empty());
    }

    #[test]
    fn other_hosts_tools_and_frequencies_are_told() {
        let sides = [
            side("a", Some("h"), "x 1", Some(true)),
            side("b", Some("i"), "x 2", None),
        ];
        assert_eq!(
            codes(&sides),
            ["different-machines", "different-tools", "cpu-scaling"]
        );
        let Warning::DifferentMachines {
            baseline,
            candidate,
        } = &about_the_recordings(&sides)[0]
        else {
            panic!("{sides:?}")
        };
        assert_eq!((baseline.as_str(), candidate.as_str()), ("h", "i"));
    }
}
