//! A duo raced by deadheat: a bench target like anybody's, except that it is
//! told by its environment which duo that is.

use deadheat_validation::duo::{Duo, Effort, LogNormal};

fn main() {
    let duo = Duo::from_environment();
    let (mut quicker, mut slower) = (duo.quicker(), duo.slower());
    deadheat::main(move |suite| {
        let benchmark = suite.benchmark("duo");
        match duo.effort {
            Effort::Drawn => {
                benchmark
                    .baseline("f2", move || quicker.call())
                    .candidate("f1", move || slower.call());
            }
            Effort::OfInput => {
                benchmark
                    .input(move |seed| LogNormal::new(duo.sigma, seed).draw())
                    .baseline("f2", move |factor| quicker.call_with(*factor))
                    .candidate("f1", move |factor| slower.call_with(*factor));
            }
        }
    });
}
