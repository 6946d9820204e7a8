//! tango, asked as its manual says to compare two functions of one executable.

use crate::observed::{Answer, Call, ran};
use crate::plan::Pair;
use deadheat_validation::prelude::*;

/// Compares one pair; without a time for as long as tango thinks right. The
/// seconds are of the whole process.
pub fn compare(
    program: &Path,
    folder: &Path,
    pair: Pair,
    seed: u64,
    time: Option<&str>,
) -> Result<(Answer, f64), String> {
    let name = format!("{}-{}", pair.0, pair.1);
    let mut command = Command::new(program);
    command
        .arg("compare")
        .args(["--strip-baseline", "baseline/**"])
        .args(["--strip-candidate", "candidate/**"])
        .args(["--filter", &name, "--seed"])
        .arg(seed.to_string())
        .env("NO_COLOR", "1")
        .current_dir(folder);
    if let Some(time) = time {
        command.args(["--time", time]);
    }
    // It ends with 1 when it calls the candidate slower.
    let ran = ran(&mut command, &[0, 1])?;
    Ok((read(&ran.stdout, &name)?, ran.seconds))
}

/// `std_5000-std_4925   [  3.1 us ...  3.0 us ]   -1.49%*`
fn read(text: &str, name: &str) -> Result<Answer, String> {
    let missing = || format!("no line of {name} in {text:?}");
    let line = text.lines().find(|line| line.starts_with(name));
    let last = line.and_then(|line| line.split_whitespace().next_back());
    let said = last.ok_or_else(missing)?;
    let marked = said.ends_with('*');
    let number = said.trim_end_matches('*').strip_suffix('%');
    let change: f64 = number.and_then(|number| number.parse().ok()).ok_or_else(missing)?;
    Ok(Answer {
        call: match marked {
            false => Call::None,
            true if change < 0.0 => Call::Faster,
            true => Call::Slower,
        },
        said: said.to_owned(),
        change,
        interval: None,
        more: Value::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_star_is_a_call() {
        let of = |end: &str| {
            read(&format!("a-b               [   3.1 us ...   3.0 us ]    {end}\n"), "a-b")
        };
        let faster = of("-1.49%*").unwrap();
        assert_eq!((faster.call, faster.change), (Call::Faster, -1.49));
        assert_eq!(of("+2933.51%*").unwrap().call, Call::Slower);
        assert_eq!(of("+60.96%").unwrap().call, Call::None);
        assert!(of("NaN").is_err());
        assert!(read("", "a-b").unwrap_err().contains("a-b"));
    }
}
