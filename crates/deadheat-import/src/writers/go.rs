//! Writes a run as Go's `testing` prints benchmarks, for `benchstat` and similar tools.

use std::io::Write;
use std::path::Path;

use deadheat::parts::report::{Glyphs, escape_line, harmless};
use deadheat_model::{Benchmark, Better, Metric, Run, Unit, is_hidden};

use deadheat_format::number::{push_integer, push_value};
use deadheat_format::{FormatError, cannot_write, distinct_names};

/// Writes a run in the Go benchmark format: a line for every sample, with values per iteration. The
/// configuration line `contender: NAME` distinguishes the contenders, so that `benchstat -col
/// contender FILE` compares them.
///
/// Leaves out replicates, blocks and order, which the format cannot store, and reruns of
/// benchmarks.
///
/// `name` is the name of the file in errors.
pub fn write_go(run: &Run, mut out: impl Write, name: impl AsRef<Path>) -> Result<(), FormatError> {
    let text = String::from_utf8_lossy(&text(run)).into_owned();
    // The name of a benchmark may look like a workflow command of a CI system.
    out.write_all(harmless(&text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(cannot_write(name.as_ref()))
}

struct Raced {
    index: usize,
    name: String,
    units: Vec<(Metric, String)>,
    contenders: Vec<String>,
}

fn text(run: &Run) -> Vec<u8> {
    let raced = raced(run);
    let mut out = Vec::new();
    let environment = &run.header.environment;
    // One key for both, because Go's `goarch` has other names for processors, such as amd64 for
    // `x86_64`.
    configure(&mut out, "system", &environment.system);
    configure(
        &mut out,
        "cpu",
        environment.cpu.as_deref().unwrap_or_default(),
    );
    configure(&mut out, "deadheat", &run.header.tool_version);
    directions(&mut out, &raced);
    let mut contenders: Vec<&str> = Vec::new();
    for name in raced.iter().flat_map(|raced| &raced.contenders) {
        if !contenders.contains(&name.as_str()) {
            contenders.push(name);
        }
    }
    for contender in contenders {
        out.push(b'\n');
        configure(&mut out, "contender", contender);
        for raced in &raced {
            let of_name = raced.contenders.iter().position(|name| name == contender);
            if let Some(index) = of_name {
                samples(&mut out, run, raced, index);
            }
        }
    }
    for failure in &run.failures {
        if let Some(raced) = raced.iter().find(|raced| raced.index == failure.benchmark) {
            out.extend(format!("--- FAIL: Benchmark{}\n", raced.name).bytes());
            for line in failure.message.lines() {
                let line = escape_line(line, Glyphs::Unicode);
                out.extend(format!("    {line}\n").bytes());
            }
        }
    }
    out
}

fn raced(run: &Run) -> Vec<Raced> {
    let all = run.header.plan.benchmarks.iter().enumerate();
    let all: Vec<(usize, &Benchmark)> = all.filter(|(_, b)| b.rerun.is_none()).collect();
    let names = distinct_names(all.iter().map(|(_, benchmark)| name(benchmark)), "#");
    let raced = all.into_iter().zip(names);
    raced
        .map(|((index, benchmark), name)| {
            let metrics = run.header.metrics_of(index);
            let units = distinct_names(metrics.iter().map(unit), "-again");
            let contenders = benchmark.contenders[..benchmark.rivals()].iter();
            Raced {
                index,
                name,
                units: metrics.into_iter().zip(units).collect(),
                contenders: distinct_names(contenders.map(|c| one_line(&c.name)), " #"),
            }
        })
        .collect()
}

fn samples(out: &mut Vec<u8>, run: &Run, raced: &Raced, contender: usize) {
    let samples = run.samples_by_themselves(raced.index);
    let columns: Vec<(&[f64], &Metric, &str)> = raced
        .units
        .iter()
        .filter_map(|(metric, unit)| Some((samples.column(metric)?, metric, unit.as_str())))
        .collect();
    if columns.is_empty() {
        return;
    }
    for (at, sample) in samples.samples().iter().enumerate() {
        if usize::from(sample.contender.0) != contender {
            continue;
        }
        out.extend(b"Benchmark");
        out.extend(raced.name.bytes());
        out.push(b'\t');
        push_integer(out, sample.iterations);
        for (values, metric, unit) in &columns {
            let iterations = if metric.adds_up() {
                sample.iterations as f64
            } else {
                1.0
            };
            out.push(b'\t');
            push_value(out, values[at] / iterations);
            out.push(b' ');
            out.extend(unit.bytes());
        }
        out.push(b'\n');
    }
}

/// Writes a line of configuration, unless the value is empty, which would remove the key.
fn configure(out: &mut Vec<u8>, key: &str, value: &str) {
    let value = one_line(value);
    if !value.is_empty() {
        out.extend(format!("{key}: {value}\n").bytes());
    }
}

/// Declares whether higher or lower values are better, for units that `benchstat` does not know.
fn directions(out: &mut Vec<u8>, raced: &[Raced]) {
    let mut known: Vec<&str> = vec!["ns/op", "B/op", "allocs/op"];
    for (metric, unit) in raced.iter().flat_map(|raced| &raced.units) {
        let better = match metric.better() {
            Better::Less => "lower",
            Better::More => "higher",
            Better::Unknown => continue,
        };
        if !known.contains(&unit.as_str()) {
            known.push(unit);
            out.extend(format!("Unit {unit} better={better}\n").bytes());
        }
    }
}

/// Returns the name after `Benchmark`, in the form of Go's sub-benchmarks:
/// `Sort/length=64/order=random`.
fn name(benchmark: &Benchmark) -> String {
    let mut name = word(&benchmark.name);
    for (key, value) in &benchmark.parameters {
        name = format!("{name}/{}={}", word(key), word(value));
    }
    // A capital letter, so that the name does not look like the rest of a word.
    let mut letters = name.chars();
    if let Some(first) = letters.next().filter(|first| first.is_lowercase()) {
        name = first.to_uppercase().chain(letters).collect();
    }
    // Readers take a number at the end of a name for the number of threads.
    let threads = benchmark.saved.as_ref().and_then(|saved| saved.threads);
    let threads = threads.map_or(String::new(), |threads| format!("-{threads}"));
    if name.ends_with(&threads) {
        name.truncate(name.len() - threads.len());
    }
    if let Some((rest, digits)) = name.rsplit_once('-')
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = format!("{rest}_{digits}");
    }
    name + &threads
}

/// Replaces the characters that would end a field; returns `_` for an empty text.
fn word(text: &str) -> String {
    match text.trim() {
        "" => "_".to_owned(),
        text => text.replace(
            |c: char| c.is_whitespace() || c.is_control() || is_hidden(c),
            "_",
        ),
    }
}

/// Replaces the characters that would end a line or reverse the reading direction, and removes blanks
/// around the text.
fn one_line(text: &str) -> String {
    text.trim()
        .replace(|c: char| c.is_control() || is_hidden(c), "_")
}

/// Returns the unit of a metric per iteration, if possible the one that Go's own tools use.
fn unit(metric: &Metric) -> String {
    match metric {
        Metric::Wall => "ns/op".to_owned(),
        Metric::AllocatedBytes => "B/op".to_owned(),
        Metric::Allocations => "allocs/op".to_owned(),
        Metric::PeakRss => "peak-RSS-bytes".to_owned(),
        Metric::Cpu | Metric::User | Metric::System | Metric::Gpu | Metric::Manual => {
            format!("{metric}-ns/op")
        }
        Metric::PeakGpuMemory => "peak-GPU-bytes".to_owned(),
        Metric::Custom(name) => word(name),
        // Values are in bytes, whatever the unit was called in the source.
        Metric::Foreign(foreign) if foreign.unit == Unit::BytesPerSecond => {
            let name = word(&foreign.name);
            match name.as_str() {
                "MB/s" => "B/s".to_owned(),
                _ => name,
            }
        }
        Metric::Foreign(foreign) => word(&foreign.name),
        counted => format!("{counted}/op"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Saved;

    #[test]
    fn names_become_those_of_sub_benchmarks() {
        let named = |name: &str, parameters: &[(&str, &str)]| {
            let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            super::name(&Benchmark {
                name: name.to_owned(),
                parameters: parameters.iter().map(owned).collect(),
                ..Benchmark::default()
            })
        };
        assert_eq!(
            named("sort", &[("n", "3"), ("by", "a b")]),
            "Sort/n=3/by=a_b"
        );
        assert_eq!(named("sum-100", &[]), "Sum_100");
        assert_eq!(named("ßen\tx\u{1}", &[]), "SSen_x_");
        assert_eq!(named("3-way-", &[]), "3-way-");
        assert_eq!(named("", &[("n", "")]), "_/n=_");
        let of_threads = |name: &str| {
            super::name(&Benchmark {
                name: name.to_owned(),
                saved: Some(Saved {
                    threads: Some(8),
                    ..Saved::default()
                }),
                ..Benchmark::default()
            })
        };
        let told = ["Sort/n=3", "Sort/n=3-8", "Sort-8-8", "Sort-4"].map(of_threads);
        assert_eq!(told, ["Sort/n=3-8", "Sort/n=3-8", "Sort_8-8", "Sort_4-8"]);
    }

    #[test]
    fn metrics_are_called_as_go_calls_them() {
        let foreign = |name: &str, unit| Metric::foreign(name, unit, Better::More);
        for (metric, expected) in [
            (Metric::Wall, "ns/op"),
            (Metric::User, "user-ns/op"),
            (Metric::PeakRss, "peak-RSS-bytes"),
            (Metric::MinorFaults, "minor-faults/op"),
            (Metric::Custom("my metric".to_owned()), "my_metric"),
            (foreign("MB/s", Unit::BytesPerSecond), "B/s"),
            (foreign("ops/s", Unit::PerSecond), "ops/s"),
            (foreign("", Unit::Count), "_"),
        ] {
            assert_eq!(unit(&metric), expected);
        }
    }
}
