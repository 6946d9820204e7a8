//! What is known of some replicates.

/// A value for some replicates, in their order. A row is searched by halving:
/// there are few replicates, and of a `BTreeMap` every kind of value costs
/// eight thousand lines of LLVM's language, an eighth of this crate.
#[derive(Clone, Debug)]
pub(super) struct ByReplicate<T>(Vec<(u32, T)>);

impl<T> ByReplicate<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    fn place(&self, replicate: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&replicate, |(of, _)| *of)
    }

    pub(super) fn get(&self, replicate: u32) -> Option<&T> {
        let place = self.place(replicate).ok()?;
        Some(&self.0[place].1)
    }

    /// Replaces the value of a replicate.
    pub(super) fn insert(&mut self, replicate: u32, value: T) {
        match self.place(replicate) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (replicate, value)),
        }
    }

    /// The value of a replicate, made first where there is none.
    pub(super) fn or_default(&mut self, replicate: u32) -> &mut T
    where
        T: Default,
    {
        let place = self.place(replicate).unwrap_or_else(|place| {
            self.0.insert(place, (replicate, T::default()));
            place
        });
        &mut self.0[place].1
    }

    pub(super) fn remove(&mut self, replicate: u32) -> Option<T> {
        let place = self.place(replicate).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Forgets this replicate and all after it.
    pub(super) fn forget_from(&mut self, replicate: u32) {
        let end = self.0.partition_point(|(of, _)| *of < replicate);
        self.0.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_replaced_and_forgotten_whatever_their_order() {
        let mut values = ByReplicate::new();
        for replicate in [7, 2, 9, 4] {
            values.insert(replicate, replicate * 10);
        }
        values.insert(4, 1);
        *values.or_default(5) += 3;
        *values.or_default(9) += 3;
        assert_eq!(values.0, [(2, 20), (4, 1), (5, 3), (7, 70), (9, 93)]);
        assert_eq!((values.get(7), values.get(8)), (Some(&70), None));
        assert_eq!((values.remove(4), values.remove(4)), (Some(1), None));
        values.forget_from(6);
        assert_eq!(values.0, [(2, 20), (5, 3)]);
    }
}
