//! Who runs before the first slot of a block, unrecorded.

/// The contenders to run before the slots, in order: on a new input all of
/// them, so that none meets it for the first time while it is timed, and the
/// one of the first slot last, so that it follows itself as the second of a
/// pair does. On an input that everyone knows only that one, where another
/// ran last.
pub(crate) fn primes(
    renews_input: bool,
    prime: Option<usize>,
    slots: &[usize],
) -> impl Iterator<Item = usize> {
    let all: &[usize] = if renews_input { slots } else { &[] };
    let firsts = all.iter().enumerate();
    let mut everyone: Vec<usize> = firsts
        .filter(|(place, contender)| !slots[..*place].contains(contender))
        .map(|(_, contender)| *contender)
        .collect();
    everyone.reverse();
    if everyone.is_empty() {
        everyone.extend(prime);
    }
    everyone.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primed(renews_input: bool, prime: Option<usize>, slots: &[usize]) -> Vec<usize> {
        primes(renews_input, prime, slots).collect()
    }

    #[test]
    fn on_a_new_input_everyone_runs_once_and_the_first_of_the_block_last() {
        assert_eq!(primed(true, None, &[0, 1, 1, 0]), [1, 0]);
        assert_eq!(primed(true, Some(1), &[1, 0, 0, 1]), [0, 1]);
        assert_eq!(primed(true, None, &[2, 0, 1]), [1, 0, 2]);
        assert_eq!(primed(true, None, &[0]), [0]);
    }

    #[test]
    fn on_the_same_input_only_a_change_of_contender_is_primed() {
        assert!(primed(false, None, &[0, 1, 1, 0]).is_empty());
        assert_eq!(primed(false, Some(1), &[1, 0, 0, 1]), [1]);
    }
}
