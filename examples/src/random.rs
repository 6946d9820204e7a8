//! Random inputs that are the same everywhere.

/// The generator of Steele, Lea & Flood (2014): a counter with an odd stride, its bits mixed.
///
/// Eight bytes of state and a few cycles a number: it can sit inside a workload without becoming the workload.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    counter: u64,
}

impl SplitMix64 {
    /// 2⁶⁴ divided by the golden ratio, made odd.
    const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

    /// A stream that is decided by its seed. Every seed is good, zero included.
    pub fn new(seed: u64) -> Self {
        Self { counter: seed }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(Self::STRIDE);
        let mut bits = self.counter;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from 0 to `bound` - 1; 0 if `bound` is 0.
    ///
    /// The high half of a product, which needs no division. Some numbers are likelier than others by less than `bound` in 2⁶⁴,
    /// which nobody will live to notice.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// [`below`](Self::below) for places in memory.
    #[inline]
    pub fn index_below(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [random.bits(), random.bits(), random.bits()],
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_below_a_bound_are_below_it_and_reach_every_value() {
        let mut random = SplitMix64::new(1);
        let mut counts = [0; 7];
        for _ in 0..7_000 {
            counts[random.index_below(7)] += 1;
        }
        assert!(
            counts.iter().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn nothing_is_below_nought_so_nought_is_the_answer() {
        assert_eq!(SplitMix64::new(3).below(0), 0);
        assert_eq!(SplitMix64::new(3).below(1), 0);
    }
}
