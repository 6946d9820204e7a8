//! The machine a run was made on.

use deadheat_model::{Analysis, RunHeader};

use crate::calibration::calibrated;
use crate::glyphs::Glyphs;
use crate::names::{escape, shorten};
use crate::units::{share, two_digits};

/// Columns that a fact may take.
const FACT: usize = 120;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// What is known, a fact a line.
pub(super) fn facts(analysis: &Analysis, header: &RunHeader) -> Vec<String> {
    let machine = &header.environment;
    let shown = |text: &str| shorten(&escape(text, GLYPHS), FACT, GLYPHS);
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| format!("{name}: {value}")));
    };
    let system = match &machine.kernel {
        Some(kernel) => format!("{}, kernel {}", shown(&machine.system), shown(kernel)),
        None => shown(&machine.system),
    };
    fact("system", Some(system).filter(|system| !system.is_empty()));
    fact("processor", machine.cpu.as_deref().map(shown));
    fact("cores", machine.cores.map(|cores| cores.to_string()));
    fact("frequency governor", machine.governor.as_deref().map(shown));
    fact("load at the start", machine.load.map(two_digits));
    let pinned: Vec<String> = machine.pinned.iter().map(u32::to_string).collect();
    let held = (!pinned.is_empty()).then(|| pinned.join(", "));
    fact("held on cores", held);
    let debug = machine
        .debug_build
        .then(|| "with debug assertions".to_owned());
    fact("build", debug);
    let note = analysis.calibration.as_ref();
    fact("calibration", note.map(calibrated));
    fact("deadheat", Some(shown(&analysis.tool_version)));
    fact("margin", Some(share(analysis.margin)));
    fact("confidence", Some(share(1.0 - analysis.alpha)));
    facts
}
