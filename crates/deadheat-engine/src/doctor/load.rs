//! What else runs: `/proc/loadavg`, and how long tasks wait.

/// Tasks that ran or wanted to, on average over the last minute.
pub(super) fn one_minute(loadavg: &str) -> Option<f64> {
    let number: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Share of the last ten seconds in which some task waited, from 0 to 1, of
/// `/proc/pressure/cpu`.
pub(super) fn waiting(pressure: &str) -> Option<f64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let average = some
        .split(' ')
        .find_map(|word| word.strip_prefix("avg10="))?;
    let percent: f64 = average.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Nanoseconds that a thread was ready to run and did not, of its `schedstat`:
/// time on a core, time waiting, turns.
pub(super) fn waited_ns(schedstat: &str) -> Option<u64> {
    let mut numbers = schedstat.split_whitespace();
    let waited = numbers.nth(1)?.parse().ok()?;
    numbers.next()?.parse::<u64>().ok()?;
    Some(waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_that_of_the_last_minute() {
        assert_eq!(one_minute("1.61 0.97 1.23 4/116 16547\n"), Some(1.61));
        assert_eq!(one_minute(""), None);
        assert_eq!(one_minute("high"), None);
        assert_eq!(one_minute("nan 1 1"), None);
    }

    #[test]
    fn pressure_is_that_of_the_last_ten_seconds() {
        let text = "some avg10=9.81 avg60=8.06 avg300=4.85 total=25212976479\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert!((waiting(text).unwrap() - 0.0981).abs() < 1e-12);
        assert_eq!(waiting("full avg10=1.00\n"), None);
        assert_eq!(waiting("some avg10=many\n"), None);
        assert_eq!(waiting(""), None);
    }

    #[test]
    fn a_thread_knows_how_long_it_waited() {
        assert_eq!(waited_ns("5123456 789 42\n"), Some(789));
        assert_eq!(waited_ns("0 0 0\n"), Some(0));
        assert_eq!(waited_ns("5123456\n"), None);
    }
}
