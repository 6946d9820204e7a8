//! Sentences about the measured processes: the file that they executed, and the differences between
//! the sides.

use deadheat_model::{AddressSpace, ObservedImage, ObservedProcess, ProcessDifference};

use crate::glyphs::Glyphs;
use crate::names::{escape, shown};

const NAME: usize = 60;

pub(crate) fn difference(difference: &ProcessDifference, glyphs: Glyphs) -> String {
    let shown = |name: &str| format!("'{}'", shown(name, NAME, glyphs));
    match difference {
        ProcessDifference::Addresses { fixed, random } => format!(
            "{} ran at fixed addresses and {} at random ones, so the layout of memory may explain a \
             small change.",
            shown(fixed),
            shown(random)
        ),
        ProcessDifference::FixesAddresses { by, not_by } => format!(
            "{} turns off address randomisation when it starts, as Google Benchmark does from 1.9.3 \
             on, and {} does not. Both were raced without address randomisation.",
            shown(by),
            shown(not_by)
        ),
        ProcessDifference::Cores { leaves } => format!(
            "{} may run on cores that it was not given, and the other side may not, so the sides may \
             have run on different cores. Race with --pin none.",
            shown(leaves)
        ),
        ProcessDifference::Padding { without } => format!(
            "The environment that deadheat sets did not reach {}, so the padding in it did not shift \
             the stack there.",
            shown(without)
        ),
    }
}

/// Returns a line about the processes of each side, or a single line if the processes of both sides
/// are equal. The single line contains no environment variables, because these come from the user's
/// shell.
pub(crate) fn lines(
    processes: &[ObservedProcess],
    names: [&str; 2],
    glyphs: Glyphs,
) -> Vec<String> {
    match processes {
        [baseline, candidate] if baseline == candidate => {
            let process = ObservedProcess {
                variables: Vec::new(),
                ..baseline.clone()
            };
            vec![format!(
                "processes of both sides {}",
                observed(&process, glyphs)
            )]
        }
        [baseline, candidate] => vec![
            format!("processes of '{}' {}", names[0], observed(baseline, glyphs)),
            format!(
                "processes of '{}' {}",
                names[1],
                observed(candidate, glyphs)
            ),
        ],
        _ => Vec::new(),
    }
}

pub(crate) fn observed(process: &ObservedProcess, glyphs: Glyphs) -> String {
    // A process chooses its name and the file that it executes.
    let text = |text: &str| escape(text, glyphs);
    let mut parts = vec![match &process.image {
        ObservedImage::AsStarted => "executed the file that was started".to_owned(),
        ObservedImage::Other(path) => format!("executed {}", text(path)),
        ObservedImage::Unseen => "executed a file that was not observed".to_owned(),
    }];
    parts.extend(process.addresses.map(|addresses| match addresses {
        AddressSpace::Random => "random addresses".to_owned(),
        AddressSpace::Fixed => "fixed addresses".to_owned(),
    }));
    if process.fixes_addresses {
        parts.push("the program asks for fixed addresses".to_owned());
    }
    if let Some(name) = &process.left_behind {
        parts.push(format!(
            "left '{}' running, which deadheat killed",
            text(name)
        ));
    }
    if process.keeps_cores == Some(false) {
        parts.push("may run on cores they were not given".to_owned());
    }
    if process.is_padded == Some(false) {
        parts.push("without the environment that deadheat sets".to_owned());
    }
    parts.extend(process.variables.iter().map(|variable| text(variable)));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_described_by_what_was_seen_of_it() {
        let plain = ObservedProcess {
            image: ObservedImage::AsStarted,
            addresses: Some(AddressSpace::Random),
            fixes_addresses: false,
            left_behind: None,
            keeps_cores: Some(true),
            is_padded: Some(true),
            variables: Vec::new(),
        };
        let text = "executed the file that was started; random addresses";
        let glyphs = Glyphs::Unicode;
        assert_eq!(observed(&plain, glyphs), text);
        let odd = ObservedProcess {
            image: ObservedImage::Other("/usr/bin/dash".to_owned()),
            addresses: Some(AddressSpace::Fixed),
            fixes_addresses: true,
            left_behind: Some("sleep".to_owned()),
            keeps_cores: Some(false),
            is_padded: Some(false),
            variables: vec!["LD_PRELOAD=x.so".to_owned()],
        };
        let text = "executed /usr/bin/dash; fixed addresses; the program asks for fixed addresses; left 'sleep' \
                    running, which deadheat killed; may run on cores they were not given; without the environment that deadheat sets; LD_PRELOAD=x.so";
        assert_eq!(observed(&odd, glyphs), text);
        let hostile = || "a\u{1b}[8m\nb\u{202e}".to_owned();
        let hostile = ObservedProcess {
            image: ObservedImage::Other(hostile()),
            left_behind: Some(hostile()),
            variables: vec![hostile()],
            ..odd
        };
        let told = observed(&hostile, glyphs);
        assert!(!told.contains(['\u{1b}', '\n', '\u{202e}']), "{told}");
    }
}
