//! Who chooses the frequency of the cores, and whether it may exceed the
//! nominal one.

use deadheat_model::doctor::{Facts, TurboSwitch};

use super::root::Root;

const CORES: &str = "sys/devices/system/cpu";

/// The governors of these cores, and the range of the first.
pub(super) fn governor(root: &Root, cores: &[u32], measured_on: Option<u32>) -> Facts {
    let of = |core: u32, file: &str| root.line(&format!("{CORES}/cpu{core}/cpufreq/{file}"));
    let mut governors: Vec<String> = cores
        .iter()
        .filter_map(|core| of(*core, "scaling_governor"))
        .collect();
    governors.sort();
    governors.dedup();
    let one = measured_on.or_else(|| cores.first().copied());
    let khz = |file: &str| of(one?, file)?.parse::<u64>().ok();
    Facts::Governor {
        governors,
        driver: one.and_then(|core| of(core, "scaling_driver")),
        range_khz: khz("cpuinfo_min_freq").zip(khz("cpuinfo_max_freq")),
    }
}

/// Whether frequencies above the nominal one are allowed, and by which file.
pub(super) fn turbo(root: &Root, core: Option<u32>) -> Option<(bool, TurboSwitch)> {
    if let Some(off) = root.number::<u8>(&format!("{CORES}/intel_pstate/no_turbo")) {
        return Some((off == 0, TurboSwitch::NoTurbo));
    }
    if let Some(on) = root.number::<u8>(&format!("{CORES}/cpufreq/boost")) {
        return Some((on == 1, TurboSwitch::Boost));
    }
    let core = core.unwrap_or(0);
    let on = root.number::<u8>(&format!("{CORES}/cpu{core}/cpufreq/boost"))?;
    Some((on == 1, TurboSwitch::BoostOfCores))
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    #[test]
    fn intel_tells_governor_range_and_turbo() {
        let (_folder, root) = machine(&[
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/scaling_driver",
                "intel_pstate\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_min_freq",
                "800000\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq",
                "4700000\n",
            ),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ]);
        let facts = governor(&root, &[0, 1, 2], Some(1));
        let expected = Facts::Governor {
            governors: vec!["performance".to_owned(), "powersave".to_owned()],
            driver: Some("intel_pstate".to_owned()),
            range_khz: Some((800_000, 4_700_000)),
        };
        assert_eq!(facts, expected);
        assert_eq!(turbo(&root, Some(1)), Some((true, TurboSwitch::NoTurbo)));
    }

    #[test]
    fn amd_tells_its_boost_for_all_cores_or_for_each() {
        let (_folder, acpi) = machine(&[("sys/devices/system/cpu/cpufreq/boost", "0\n")]);
        assert_eq!(turbo(&acpi, Some(3)), Some((false, TurboSwitch::Boost)));
        let (_folder, pstate) = machine(&[("sys/devices/system/cpu/cpu3/cpufreq/boost", "1\n")]);
        let each = Some((true, TurboSwitch::BoostOfCores));
        assert_eq!(turbo(&pstate, Some(3)), each);
    }

    #[test]
    fn a_virtual_machine_tells_nothing() {
        let (_folder, root) = machine(&[]);
        let nothing = Facts::Governor {
            governors: Vec::new(),
            driver: None,
            range_khz: None,
        };
        assert_eq!(governor(&root, &[0, 1], Some(1)), nothing);
        assert_eq!(turbo(&root, None), None);
    }
}
