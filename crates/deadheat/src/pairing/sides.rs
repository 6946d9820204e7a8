//! How the two sides of a race are called.

use std::path::Path;

use crate::names::distinct;

/// Names for two programs as they were given on a command line: the names of
/// their files where these differ, or else all of what was given. The same
/// program twice is numbered.
pub fn side_names(given: [&str; 2]) -> [String; 2] {
    let files = given.map(file_name);
    let [old, new] = match files[0] == files[1] {
        false => files,
        true => given,
    };
    let mut names = distinct(vec![old.to_owned(), new.to_owned()]);
    let new = names.pop().unwrap_or_default();
    [names.pop().unwrap_or_default(), new]
}

/// The name of the file, if this is the path of one: a command of several
/// words is told whole.
fn file_name(given: &str) -> &str {
    let name = Path::new(given).file_name().and_then(|name| name.to_str());
    match name {
        Some(name) if !given.contains(char::is_whitespace) => name,
        _ => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_called_by_as_little_as_tells_them_apart() {
        for (given, named) in [
            (["./old/sum", "./new/total"], ["sum", "total"]),
            (["./old/sum", "./new/sum"], ["./old/sum", "./new/sum"]),
            (["./sum", "./sum"], ["./sum", "./sum (2)"]),
            (
                ["python3 a/w.py", "python3 b/w.py"],
                ["python3 a/w.py", "python3 b/w.py"],
            ),
            (["./native", "python3 w.py"], ["native", "python3 w.py"]),
        ] {
            assert_eq!(side_names(given), named.map(str::to_owned));
        }
    }
}
