//! Which points of many are drawn.

/// Of each stretch these are kept: its two extremes, and as many in between.
const OF_A_STRETCH: usize = 4;

/// At most `room` of `len` points in their order, as indices: all that `must`
/// be there as far as half the room goes, and of every stretch of the others
/// the extremes by `key` and two that stand for the rest. The same points for
/// the same series.
pub(super) fn thinned(
    len: usize,
    room: usize,
    key: impl Fn(usize) -> f64,
    must: impl Fn(usize) -> bool,
) -> Vec<usize> {
    if len <= room {
        return (0..len).collect();
    }
    let (musts, others): (Vec<usize>, Vec<usize>) = (0..len).partition(|index| must(*index));
    let most_musts = (room / 2).max(room.saturating_sub(others.len()));
    let mut kept: Vec<usize> = evenly(musts.len(), most_musts).map(|i| musts[i]).collect();
    let room = room - kept.len();
    let stretches = room / OF_A_STRETCH;
    if others.len() <= room || stretches == 0 {
        kept.extend(evenly(others.len(), room).map(|i| others[i]));
    } else {
        for stretch in 0..stretches {
            let at = |stretch: usize| stretch * others.len() / stretches;
            let part = &others[at(stretch)..at(stretch + 1)];
            let by_key = |a: &&usize, b: &&usize| key(**a).total_cmp(&key(**b));
            kept.extend(part.iter().min_by(by_key));
            kept.extend(part.iter().max_by(by_key));
            kept.extend([part.len() / 4, part.len() * 3 / 4].map(|i| part[i]));
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// At most `room` of `len` places, evenly spaced, the first and the last
/// among them.
pub(super) fn evenly(len: usize, room: usize) -> impl Iterator<Item = usize> {
    let room = room.min(len);
    (0..room).map(move |i| match room {
        1 => 0,
        // Of more than 2³² points nobody asks for 2³².
        several => i * (len - 1) / (several - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_all_drawn() {
        assert_eq!(thinned(5, 5, |_| 0.0, |_| false), [0, 1, 2, 3, 4]);
        assert!(thinned(0, 5, |_| 0.0, |_| false).is_empty());
        assert!(thinned(9, 0, |_| 0.0, |_| true).is_empty());
    }

    #[test]
    fn what_must_be_drawn_and_the_extremes_survive() {
        let key = |i: usize| match i {
            333 => 50.0,
            777 => -50.0,
            _ => (i % 7) as f64,
        };
        let must = |i: usize| i % 100 == 42;
        let kept = thinned(1_000, 40, key, must);
        assert!(kept.len() <= 40 && kept.len() > 30);
        assert!(kept.is_sorted_by(|a, b| a < b));
        for i in (42..1_000).step_by(100).chain([333, 777]) {
            assert!(kept.contains(&i), "{i}");
        }
    }

    #[test]
    fn there_are_never_more_than_there_is_room_for() {
        for len in [0, 1, 2, 3, 10, 99, 1_000] {
            for room in 0..60 {
                for every in [1, 2, 50, 2_000] {
                    let kept = thinned(len, room, |i| (i * 31 % 17) as f64, |i| i % every == 0);
                    assert!(kept.len() <= room && kept.iter().all(|i| *i < len));
                    assert!(kept.len() >= room.min(len) / 2, "{len} {room} {every}");
                }
            }
        }
    }

    #[test]
    fn even_spacing_has_both_ends() {
        assert_eq!(evenly(101, 5).collect::<Vec<_>>(), [0, 25, 50, 75, 100]);
        assert_eq!(evenly(3, 9).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(evenly(7, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(evenly(0, 4).count() + evenly(4, 0).count(), 0);
    }
}
