//! The races between twins, and what makes sure that they are two.

use std::hint::black_box;
use std::num::Wrapping;

use deadheat::Suite;

use crate::kernels::WORDS;
use crate::random::Random;

pub(crate) type Words = [u64; WORDS];

type Function = extern "C" fn(&Words, u64) -> u64;

#[allow(non_snake_case, unused_parens, unused_variables, unused_mut, unused_assignments)]
#[allow(clippy::all)]
mod functions {
    use super::{WORDS, Words, Wrapping};

    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}
use functions::*;

include!(concat!(env!("OUT_DIR"), "/registry.rs"));

pub fn register(suite: &mut Suite) {
    for (one, two) in &TWINS {
        assert_ne!(
            *one as usize, *two as usize,
            "twins were folded into one function: a race between them says nothing"
        );
    }
    let words = words(0);
    for around in [gcc_around, clang_around, rustc_around as Function] {
        black_box(around(&words, 1));
    }
    races(suite);
}

fn words(seed: u64) -> Box<Words> {
    let mut random = Random::new(seed);
    let mut words = Box::new([0; WORDS]);
    words.fill_with(|| random.word());
    words
}
