//! Functions that look at an input: `|&input| output`.

use std::hint::black_box;

use super::benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark};
use super::gauge::{Gauge, Reading};
use super::outputs::{Outputs, Room};

/// A function of an input, with its type still known where its loop is
/// compiled, so that it is inlined there as it would be anywhere else.
trait Call<I, O> {
    fn batch(&mut self, input: &I, iterations: u64, room: Room<'_, O>, gauge: &Gauge) -> Reading;
}

impl<I, O, F: FnMut(&I) -> O> Call<I, O> for F {
    fn batch(&mut self, input: &I, iterations: u64, room: Room<'_, O>, gauge: &Gauge) -> Reading {
        gauge.around(|| room.fill(iterations, || self(black_box(input))))
    }
}

/// A benchmark whose contenders share one input per block.
pub struct ByReference<'a, I, O> {
    make: Box<dyn FnMut(u64) -> I + 'a>,
    input: Option<I>,
    renews_input: bool,
    contenders: Vec<Box<dyn Call<I, O> + 'a>>,
    outputs: Outputs<O>,
}

impl<'a, I: 'a, O: 'a> ByReference<'a, I, O> {
    /// A benchmark whose input is made from a seed.
    pub fn new(make: impl FnMut(u64) -> I + 'a) -> Self {
        Self {
            make: Box::new(make),
            input: None,
            renews_input: true,
            contenders: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// The same input for all blocks: there is nothing to learn anew.
    pub fn without_renewal(mut self) -> Self {
        self.renews_input = false;
        self
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl FnMut(&I) -> O + 'a) {
        self.contenders.push(Box::new(call));
    }
}

impl<I, O> ComparesOutputs for ByReference<'_, I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<I, O> FunctionBenchmark for ByReference<'_, I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn renews_input(&self) -> bool {
        self.renews_input
    }

    fn prepare(&mut self, seed: u64) {
        // The old input goes first, so that the new one may lie where it lay.
        self.input = None;
        self.outputs.forget();
        self.input = Some((self.make)(seed));
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let input = self.input.as_ref().expect("prepare comes before sample");
        let room = self.outputs.make_room(iterations);
        let reading = self.contenders[contender].batch(input, iterations, room, gauge);
        self.outputs.finish(contender);
        reading
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}
