//! Rows in which every contender follows every other equally often.

/// The rows of a Williams design for `k` contenders: `k` rows when `k` is
/// even, `2k` when it is odd. Each row holds every contender once; over all
/// rows every contender precedes every other equally often, so what one
/// leaves behind for the next is spread evenly.
///
/// Source: Williams 1949, *Experimental designs balanced for the estimation
/// of residual effects of treatments*.
pub(crate) fn rows(k: usize) -> Vec<Vec<u8>> {
    // 0, 1, k−1, 2, k−2, …: neighbours differ by every amount once.
    let first: Vec<usize> = (0..k)
        .map(|place| {
            if place % 2 == 1 {
                place.div_ceil(2)
            } else {
                (k - place / 2) % k
            }
        })
        .collect();
    let shifted =
        |by: usize| -> Vec<u8> { first.iter().map(|label| ((label + by) % k) as u8).collect() };
    let mut rows: Vec<Vec<u8>> = (0..k).map(shifted).collect();
    if k % 2 == 1 && k > 1 {
        let mirrored: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.iter().rev().copied().collect())
            .collect();
        rows.extend(mirrored);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_follows_every_other_equally_often() {
        for k in 2..=12 {
            let rows = rows(k);
            assert_eq!(rows.len(), if k % 2 == 0 { k } else { 2 * k });
            let mut follows = vec![vec![0; k]; k];
            for row in &rows {
                for pair in row.windows(2) {
                    follows[usize::from(pair[0])][usize::from(pair[1])] += 1;
                }
            }
            let expected = if k % 2 == 0 { 1 } else { 2 };
            for (before, counts) in follows.iter().enumerate() {
                for (after, count) in counts.iter().enumerate() {
                    let wanted = if before == after { 0 } else { expected };
                    assert_eq!(*count, wanted, "k = {k}: {after} after {before}");
                }
            }
        }
    }

    #[test]
    fn every_row_holds_every_contender_once() {
        for k in 1..=12 {
            for mut row in rows(k) {
                row.sort_unstable();
                assert_eq!(row, (0..k as u8).collect::<Vec<_>>());
            }
        }
    }
}
