//! Functions that use up an input: `|input| output`.

use super::benchmark::{ComparesOutputs, Disagreement, FunctionBenchmark};
use super::gauge::{Gauge, Reading};
use super::outputs::{Outputs, Room};

trait Consume<I, O> {
    fn batch(&mut self, inputs: &mut Vec<I>, room: Room<'_, O>, gauge: &Gauge) -> Reading;
}

impl<I, O, F: FnMut(I) -> O> Consume<I, O> for F {
    fn batch(&mut self, inputs: &mut Vec<I>, room: Room<'_, O>, gauge: &Gauge) -> Reading {
        let inputs = inputs.drain(..);
        gauge.around(|| room.fill_from(inputs, self))
    }
}

/// A benchmark whose every call gets an input of its own, all of a block made
/// from one seed and so alike.
pub struct ByValue<I, O> {
    make: Box<dyn FnMut(u64) -> I>,
    seed: u64,
    inputs: Vec<I>,
    contenders: Vec<Box<dyn Consume<I, O>>>,
    outputs: Outputs<O>,
}

/// More inputs than this are not made for one sample: making them, which
/// nobody times, would take longer than everything that is timed.
const MOST_INPUTS: u64 = 1 << 12;

impl<I: 'static, O: 'static> ByValue<I, O> {
    /// A benchmark whose inputs are made from a seed.
    pub fn new(make: impl FnMut(u64) -> I + 'static) -> Self {
        Self {
            make: Box::new(make),
            seed: 0,
            inputs: Vec::new(),
            contenders: Vec::new(),
            outputs: Outputs::new(),
        }
    }

    /// Adds a contender; the first is the baseline.
    pub fn add(&mut self, call: impl FnMut(I) -> O + 'static) {
        self.contenders.push(Box::new(call));
    }
}

impl<I, O> ComparesOutputs for ByValue<I, O> {
    type Output = O;

    fn check_with(&mut self, equal: fn(&O, &O) -> bool) {
        self.outputs.check_with(equal);
    }
}

impl<I, O> FunctionBenchmark for ByValue<I, O> {
    fn contenders(&self) -> usize {
        self.contenders.len()
    }

    fn most_iterations(&self) -> u64 {
        MOST_INPUTS
    }

    fn prepare(&mut self, seed: u64) {
        self.outputs.forget();
        self.seed = seed;
    }

    fn sample(&mut self, contender: usize, iterations: u64, gauge: &Gauge) -> Reading {
        let (make, seed) = (&mut self.make, self.seed);
        self.inputs.extend((0..iterations).map(|_| make(seed)));
        let room = self.outputs.make_room(iterations);
        let reading = self.contenders[contender].batch(&mut self.inputs, room, gauge);
        self.outputs.finish(contender);
        reading
    }

    fn check(&self) -> Result<(), Disagreement> {
        self.outputs.check()
    }
}
