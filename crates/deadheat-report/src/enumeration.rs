//! Several things at once: their texts, and how a sentence names them.

/// The text of every item. Behind a pointer, for a loop and a vector of their own for each of a
/// hundred closures were a good part of what this crate took to compile.
pub(crate) fn texts<T>(items: &[T], text: &dyn Fn(&T) -> String) -> Vec<String> {
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        texts.push(text(item));
    }
    texts
}

/// "a, b and c"; empty where there is nothing.
pub(crate) fn enumerated(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// As many as may be, and how many more there are: "a, b and 3 more".
pub(crate) fn first_of(mut parts: Vec<String>, at_most: usize) -> String {
    let more = parts.len().saturating_sub(at_most);
    if more > 0 {
        parts.truncate(at_most);
        parts.push(format!("{more} more"));
    }
    enumerated(&parts)
}

/// The first few, and how many more there are: "a, b and 3 more". Where all are named, no "and"
/// stands before the last one.
pub(crate) fn some_of(all: &[String], at_most: usize) -> String {
    let (named, more) = all.split_at(all.len().min(at_most));
    match more.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_told_by_its_beginning() {
        let all: Vec<String> = (1..=6).map(|seed| seed.to_string()).collect();
        assert_eq!(some_of(&all, 4), "1, 2, 3, 4 and 2 more");
        assert_eq!(some_of(&all[..4], 4), "1, 2, 3, 4");
        assert_eq!(some_of(&all[..1], 4), "1");
    }

    #[test]
    fn the_last_of_several_is_joined_by_and() {
        let enumerated = |parts: &[&str]| enumerated(&texts(parts, &|part| (*part).to_owned()));
        assert_eq!(enumerated(&[]), "");
        assert_eq!(enumerated(&["a"]), "a");
        assert_eq!(enumerated(&["a", "b"]), "a and b");
        assert_eq!(enumerated(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let letters = |count: usize| {
            let letters = ["a", "b", "c", "d"];
            letters[..count].iter().map(ToString::to_string).collect()
        };
        assert_eq!(first_of(letters(0), 2), "");
        assert_eq!(first_of(letters(2), 2), "a and b");
        assert_eq!(first_of(letters(3), 2), "a, b and 1 more");
        assert_eq!(first_of(letters(4), 1), "a and 3 more");
    }
}
