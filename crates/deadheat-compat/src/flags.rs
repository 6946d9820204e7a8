//! Options that are passed on to executables, as far as the original looks at them.

/// The value of the last option that begins so; `prefix` ends in an equals sign.
pub fn flag<'f>(prefix: &str, flags: &'f [Vec<u8>]) -> Option<&'f [u8]> {
    let values = flags.iter().rev();
    values
        .filter_map(|flag| flag.strip_prefix(prefix.as_bytes()))
        .next()
}

/// What the original prints about options when both sides are JSON: a line for each that changes nothing.
pub fn warnings_about_json(flags: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let without_effect = flags
        .iter()
        .filter(|flag| !flag.starts_with(b"--benchmark_filter="));
    without_effect
        .map(|flag| {
            [
                b"WARNING: passing ".as_slice(),
                flag,
                b" has no effect since both inputs are JSON",
            ]
            .concat()
        })
        .collect()
}

/// What the original prints when both sides are executables that write to one file.
pub fn warning_about_output(file: &[u8]) -> Vec<u8> {
    [
        b"WARNING: '--benchmark_out=".as_slice(),
        file,
        b"' will be passed to both benchmarks causing it to be overwritten",
    ]
    .concat()
}

/// What the original prints before it ends, when executables should write anything but JSON.
pub fn refused_format(flags: &[Vec<u8>]) -> Option<Vec<u8>> {
    let format = flag("--benchmark_out_format=", flags).filter(|format| *format != b"json")?;
    Some(
        [
            b"ERROR: passing '--benchmark_out_format=".as_slice(),
            format,
            b"' to 'compare.py` is not supported.",
        ]
        .concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(flags: &[&str]) -> Vec<Vec<u8>> {
        flags.iter().map(|f| f.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_last_of_several_counts() {
        let flags = flags(&["--a=1", "--b=2", "--a=3", "--a"]);
        assert_eq!(flag("--a=", &flags), Some(b"3".as_slice()));
        assert_eq!(flag("--c=", &flags), None);
    }

    #[test]
    fn only_json_may_be_written() {
        let with =
            |value: &str| refused_format(&flags(&[&format!("--benchmark_out_format={value}")]));
        assert_eq!(with("json"), None);
        assert!(with("csv").is_some());
        assert!(with("").is_some());
    }

    #[test]
    fn a_filter_has_an_effect_on_json_and_nothing_else_has() {
        let lines = warnings_about_json(&flags(&["--benchmark_filter=x", "--v=1"]));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with(b"WARNING: passing --v=1 has no effect"));
    }
}
