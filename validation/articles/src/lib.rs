//! The functions of the article, by name, for the bench targets of all tools.

use deadheat_examples::utf8::{std, std_4925, std_5000, std_count, std_count_rev};

pub type Count = fn(&str) -> usize;

pub const FUNCTIONS: [(&str, Count); 5] = [
    ("std", std),
    ("std_count", std_count),
    ("std_count_rev", std_count_rev),
    ("std_5000", std_5000),
    ("std_4925", std_4925),
];

pub fn function(name: &str) -> Count {
    let found = FUNCTIONS.iter().find(|(own, _)| *own == name);
    let (_, count) = found.unwrap_or_else(|| panic!("there is no function {name}"));
    *count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_name() {
        assert_eq!(function("std_4925")("abc"), 3);
        assert_eq!(function("std_4925")(&"a".repeat(6_000)), 4_925);
        assert_eq!(function("std_5000")(&"a".repeat(6_000)), 5_000);
    }
}
