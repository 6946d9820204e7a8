//! The frequency of the cores: the governor, turbo mode, and throttling by heat.

use deadheat_model::doctor::{Facts, Sensor, TurboSwitch};

use crate::procfs::Root;

const CORES: &str = "sys/devices/system/cpu";

/// Returns the governors of these cores, and the frequency range of the measured core.
pub(crate) fn governor(root: &Root, cores: &[u32], measured_on: Option<u32>) -> Facts {
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

/// Returns true if turbo frequencies are allowed, together with the file that contains the setting.
pub(crate) fn turbo(root: &Root, core: Option<u32>) -> Option<(bool, TurboSwitch)> {
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

/// Returns the hottest sensor of the processor, or of the machine if no sensor is known to be the
/// processor's.
pub(crate) fn hottest(root: &Root) -> Option<Sensor> {
    let of_all = |heats: Vec<Sensor>| {
        let heats = heats.into_iter();
        heats.max_by(|one, other| one.celsius.total_cmp(&other.celsius))
    };
    of_all(of_the_processor(root)).or_else(|| of_all(zones(root)))
}

fn of_the_processor(root: &Root) -> Vec<Sensor> {
    const DRIVERS: [&str; 5] = [
        "coretemp",
        "k10temp",
        "zenpower",
        "cpu_thermal",
        "scpi_sensors",
    ];
    let folder = "sys/class/hwmon";
    let mut heats = Vec::new();
    for one in root.names(folder) {
        let Some(driver) = root.line(&format!("{folder}/{one}/name")) else {
            continue;
        };
        if !DRIVERS.contains(&&*driver) {
            continue;
        }
        for file in root.names(&format!("{folder}/{one}")) {
            let Some(sensor) = file
                .strip_suffix("_input")
                .filter(|s| s.starts_with("temp"))
            else {
                continue;
            };
            let of = |file: &str| format!("{folder}/{one}/{sensor}_{file}");
            let label = root.line(&of("label")).unwrap_or_else(|| sensor.to_owned());
            heats.extend(degrees(root, &of("input")).map(|celsius| Sensor {
                name: format!("{driver} {label}"),
                celsius,
                critical: degrees(root, &of("crit")),
            }));
        }
    }
    heats
}

fn zones(root: &Root) -> Vec<Sensor> {
    let folder = "sys/class/thermal";
    let zones = root.names(folder).into_iter();
    zones
        .filter(|zone| zone.starts_with("thermal_zone"))
        .filter_map(|zone| {
            let zone = format!("{folder}/{zone}");
            let trip = |n: usize| {
                let kind = root.line(&format!("{zone}/trip_point_{n}_type"))?;
                (kind == "critical").then(|| degrees(root, &format!("{zone}/trip_point_{n}_temp")))
            };
            Some(Sensor {
                celsius: degrees(root, &format!("{zone}/temp"))?,
                critical: (0..12).find_map(trip).flatten(),
                name: root.line(&format!("{zone}/type"))?,
            })
        })
        .collect()
}

/// Reads a sensor file in thousandths of a degree Celsius. Returns `None` for impossible values of
/// broken sensors.
fn degrees(root: &Root, path: &str) -> Option<f64> {
    let celsius = root.number::<i64>(path)? as f64 / 1000.0;
    (-40.0..=200.0).contains(&celsius).then_some(celsius)
}

/// Returns how often heat has throttled these cores and their packages since boot.
pub(crate) fn throttled(root: &Root, cores: &[u32]) -> Option<u64> {
    let counts = |file: &'static str| {
        let path = move |core| format!("{CORES}/cpu{core}/thermal_throttle/{file}");
        cores
            .iter()
            .filter_map(move |core| root.number::<u64>(&path(core)))
    };
    // Every core reports the count of its whole package, so the counts are not added up.
    let package = counts("package_throttle_count").max();
    counts("core_throttle_count")
        .chain(package)
        .reduce(|one, other| one + other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

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

    #[test]
    fn the_hottest_sensor_of_the_processor_counts() {
        let (_folder, root) = machine(&[
            ("sys/class/hwmon/hwmon0/name", "nvme\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", "99000\n"),
            ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon1/temp1_input", "61000\n"),
            ("sys/class/hwmon/hwmon1/temp1_label", "Package id 0\n"),
            ("sys/class/hwmon/hwmon1/temp1_crit", "100000\n"),
            ("sys/class/hwmon/hwmon1/temp2_input", "255000\n"),
            ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
            ("sys/class/thermal/thermal_zone0/temp", "80000\n"),
        ]);
        let hottest = hottest(&root).unwrap();
        assert_eq!(hottest.name, "coretemp Package id 0");
        assert_eq!((hottest.celsius, hottest.critical), (61.0, Some(100.0)));
    }

    #[test]
    fn falls_back_to_thermal_zones_without_a_processor_sensor() {
        let (_folder, root) = machine(&[
            ("sys/class/thermal/cooling_device0/type", "Processor\n"),
            ("sys/class/thermal/thermal_zone1/type", "cpu-thermal\n"),
            ("sys/class/thermal/thermal_zone1/temp", "48500\n"),
            (
                "sys/class/thermal/thermal_zone1/trip_point_0_type",
                "passive\n",
            ),
            (
                "sys/class/thermal/thermal_zone1/trip_point_0_temp",
                "70000\n",
            ),
            (
                "sys/class/thermal/thermal_zone1/trip_point_1_type",
                "critical\n",
            ),
            (
                "sys/class/thermal/thermal_zone1/trip_point_1_temp",
                "95000\n",
            ),
        ]);
        let hottest = hottest(&root).unwrap();
        assert_eq!((hottest.celsius, hottest.critical), (48.5, Some(95.0)));
        let (_folder, nothing) = machine(&[]);
        assert_eq!(super::hottest(&nothing), None);
    }

    #[test]
    fn slowdowns_of_cores_add_up_and_that_of_the_package_counts_once() {
        let file = "sys/devices/system/cpu/cpu0/thermal_throttle";
        let of = |core: &str, kind: &str| {
            file.replace("cpu0", core) + &format!("/{kind}_throttle_count")
        };
        let (_folder, root) = machine(&[
            (&*of("cpu0", "core"), "2\n"),
            (&*of("cpu0", "package"), "5\n"),
            (&*of("cpu1", "core"), "1\n"),
            (&*of("cpu1", "package"), "5\n"),
        ]);
        assert_eq!(throttled(&root, &[0, 1]), Some(8));
        assert_eq!(throttled(&root, &[7]), None);
    }
}
