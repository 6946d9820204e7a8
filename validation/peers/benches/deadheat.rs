//! A race.

use deadheat_validation_peers::Case;

fn main() {
    deadheat::main(|suite| {
        let [baseline, candidate] = Case::of_environment().sides();
        suite
            .benchmark("work")
            .baseline("baseline", move || baseline.run())
            .candidate("candidate", move || candidate.run());
    });
}
