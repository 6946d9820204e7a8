//! A race on a new neutral link per replicate, from the session through the run file to the answer.

use deadheat::parts::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::parts::engine::{
    Contenders, EngineError, NeverStop, Noise, Session, SimulatedClock, SimulatedContenders,
    Simulation, Unwatched,
};
use deadheat::parts::format::{RunFileWriter, read_run};
use deadheat::parts::model::{
    Benchmark, Block, BlockRecord, Design, Environment, Metric, NeutralLink, NeutralLinks,
    Observed, Placed, Placing, RefusedLink, Rerun, RerunKind, Run, RunHeader, Scope, Slot,
    Workload,
};
use deadheat::parts::report::{Detail, TextOptions, to_json, to_text};
use deadheat_testing::runs::{self, benchmark, contenders, design};

/// Simulated contenders that report the placement of their code.
struct PlacedContenders {
    contenders: SimulatedContenders,
    block: Option<(usize, u32)>,
    told: Option<(usize, u32)>,
}

impl Contenders for PlacedContenders {
    fn metrics(&self) -> &[Metric] {
        self.contenders.metrics()
    }

    fn open(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.contenders.open(benchmark)
    }

    fn warm_up(&mut self, benchmark: usize, slots: &[Slot]) -> Result<(), EngineError> {
        self.contenders.warm_up(benchmark, slots)
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        self.block = Some((block.benchmark, block.replicate));
        self.contenders.run(block, record)
    }

    fn placed(&mut self) -> Option<Placed> {
        let (benchmark, replicate) = self.block.filter(|block| self.told != Some(*block))?;
        self.told = self.block;
        let link = |seed| {
            Placing::Neutral(NeutralLink {
                seed,
                hash: format!("{seed:016x}"),
                matched: false,
            })
        };
        let refused = RefusedLink {
            seed: 64,
            reason: "it \"crashed\"\nwith SIGSEGV".to_owned(),
        };
        // The rerun on the own link reports no placement.
        (benchmark == 0).then(|| Placed {
            benchmark,
            replicate,
            contenders: vec![link(replicate + 1), link(40 - replicate)],
            refused: if replicate == 2 {
                vec![refused]
            } else {
                vec![]
            },
            fallen_back: None,
        })
    }

    fn observed(&mut self) -> Vec<Observed> {
        match self.block {
            Some((0, 0)) => runs::seen_as_started(2),
            _ => Vec::new(),
        }
    }

    fn launched(&mut self) -> u64 {
        self.contenders.launched()
    }

    fn close(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.contenders.close(benchmark)
    }
}

fn header(blocks_per_replicate: u32) -> RunHeader {
    let benchmark = |own_link| Benchmark {
        rerun: own_link,
        ..benchmark("twins", contenders(["old", "new"], &Workload::Recording))
    };
    let own_link = Rerun {
        kind: RerunKind::OwnLink,
        of: 0,
        replicates: 11,
    };
    let design = Design {
        blocks_per_replicate,
        warmup: 1,
        ..design(planned_looks(0, 11, 0.05).unwrap())
    };
    let benchmarks = vec![benchmark(None), benchmark(Some(own_link))];
    RunHeader {
        environment: Environment {
            neutral_links: vec![NeutralLinks {
                executable: "twins".to_owned(),
                made_by: Ok("LLD 14.0.6".to_owned()),
                unsectioned: vec!["libold.a(k.o)".to_owned()],
                matched: None,
                random_addresses: false,
            }],
            ..Environment::default()
        },
        ..runs::header(design, 5, benchmarks)
    }
}

#[test]
fn a_race_just_run_and_the_same_read_back_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for blocks_per_replicate in [1, 25] {
        let header = header(blocks_per_replicate);
        let path = folder.path().join(format!("{blocks_per_replicate}.jsonl"));
        let clock = SimulatedClock::default();
        let simulation = Simulation {
            baseline_ns: 2e7,
            effects: vec![0.05],
            noise: Noise {
                sample: 0.01,
                layout: 0.007,
                ..Noise::NONE
            },
            seed: 9,
        };
        let mut contenders = PlacedContenders {
            contenders: SimulatedContenders::new(simulation, clock.clone()),
            block: None,
            told: None,
        };
        let mut run = Run::new(header.clone());
        Session {
            contenders: &mut contenders,
            clock: &clock,
            rule: &mut PlannedRule::new(&header),
            sink: &mut RunFileWriter::create(&path, &header).unwrap(),
            watcher: &mut Unwatched,
            stop: &NeverStop,
            max_replicates: 11,
            budget: None,
            outlive_failures: false,
        }
        .race(&mut run)
        .unwrap();
        let read = read_run(&path).unwrap();
        assert!(!run.placed.is_empty());
        assert_eq!(read.placed, run.placed);
        let answers = [&run, &read].map(|run| {
            let analysis = analyse(run, Options::default());
            let text = to_text(
                &analysis,
                &TextOptions {
                    detail: Detail::Full,
                    ..TextOptions::default()
                },
            );
            (to_json(&analysis), text)
        });
        assert_eq!(answers[0], answers[1]);
        let (json, text) = &answers[0];
        for field in ["\"own_link\": {", "\"spreads\": {", "\"links-refused\""] {
            assert!(json.contains(field), "{field} in {json}");
        }
        for words in [
            "this verdict is about the source",
            "the change with your own link: +",
            "libold.a(k.o)",
        ] {
            let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(one_line.contains(words), "{words} in {text}");
        }
        let analysis = analyse(&read, Options::default());
        assert_eq!(analysis.comparisons.len(), 1);
        assert_eq!(analysis.comparisons[0].evidence.scope, Scope::Source);
    }
}
