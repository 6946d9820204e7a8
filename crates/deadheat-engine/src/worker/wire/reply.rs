//! Replies as lines.

use deadheat_model::{Json, Object, Throughput, column_name, metric_of_column};

use super::message::{Message, Said, line, list, numbers, place, text};
use crate::function::Pilot;
use crate::worker::listing::ListedBenchmark;
use crate::worker::protocol::{Problem, Reply};

/// Characters shown of a reply that does not belong where it is said.
const SHOWN: usize = 100;

impl Reply {
    /// The line, newline included.
    pub(in crate::worker) fn to_line(&self) -> String {
        match self {
            Reply::Hello {
                protocol,
                worker,
                metrics,
            } => {
                let columns = metrics.iter().map(column_name);
                let columns: Json = columns.map(|column| column.into_owned()).collect();
                let said = Object::new()
                    .with("protocol", *protocol)
                    .with("worker", worker)
                    .with("metrics", columns);
                line("hello", said)
            }
            Reply::Listed(benchmarks) => {
                let benchmarks: Json = benchmarks.iter().map(listed).collect();
                line("listed", Object::new().with("benchmarks", benchmarks))
            }
            Reply::Prepared { renews_input } => line(
                "prepared",
                Object::new().with("renews_input", *renews_input),
            ),
            Reply::Calibrated(pilot) => {
                let blocks = pilot.blocks_ns.iter().map(|block| numbers(block)).collect();
                let said = Object::new()
                    .with("iterations", pilot.iterations)
                    .with("most_iterations", pilot.most_iterations)
                    .with("call_ns", numbers(&pilot.call_ns))
                    .with("blocks_ns", Json::List(blocks))
                    .with("block_cost_ns", pilot.block_cost_ns);
                line("calibrated", said)
            }
            Reply::Sound => line("sound", Object::new()),
            Reply::Warm { rounds, ready } => {
                let said = Object::new().with("rounds", *rounds);
                let said = match ready {
                    Some(seed) => said.with("ready", *seed),
                    None => said,
                };
                line("warm", said)
            }
            Reply::Block { values } => line("block", Object::new().with("values", numbers(values))),
            Reply::Failed { contender, problem } => {
                let said = Object::new()
                    .with("contender", *contender)
                    .with("problem", told(problem));
                line("failed", said)
            }
        }
    }

    /// The beginning of the line, for a message about it.
    pub(crate) fn said(&self) -> String {
        let line = self.to_line();
        let said = line.trim_end();
        match said.char_indices().nth(SHOWN) {
            None => said.to_owned(),
            Some((end, _)) => format!("{}...", &said[..end]),
        }
    }

    /// The reply of a line; `None` when it is none.
    pub(in crate::worker) fn from_line(line: &[u8]) -> Option<Self> {
        let said = Message::parse(line)?;
        Some(match said.tag()? {
            "hello" => Reply::Hello {
                protocol: said.number("protocol")?.try_into().ok()?,
                // The first version says nothing else, and is to be told that
                // it is the first.
                worker: said.optional("worker", text)?.unwrap_or_default(),
                metrics: said
                    .optional("metrics", |columns| list(columns, text))?
                    .unwrap_or_default()
                    .iter()
                    .map(|column| metric_of_column(column))
                    .collect(),
            },
            "listed" => Reply::Listed(list(said.get("benchmarks")?, listed_benchmark)?),
            "prepared" => Reply::Prepared {
                renews_input: said
                    .optional("renews_input", Json::as_bool)?
                    .unwrap_or(false),
            },
            "calibrated" => Reply::Calibrated(Pilot {
                iterations: said.number("iterations")?,
                most_iterations: said.optional("most_iterations", Json::as_u64)?,
                call_ns: list(said.get("call_ns")?, Json::as_number)?,
                blocks_ns: said
                    .optional("blocks_ns", |blocks| {
                        list(blocks, |block| {
                            list(block, Json::as_number)?.try_into().ok()
                        })
                    })?
                    .unwrap_or_default(),
                block_cost_ns: said.optional("block_cost_ns", Json::as_number)?,
            }),
            "sound" => Reply::Sound,
            "warm" => Reply::Warm {
                rounds: said.number("rounds")?,
                ready: said.optional("ready", Json::as_u64)?,
            },
            "block" => Reply::Block {
                values: list(said.get("values")?, Json::as_number)?,
            },
            "failed" => Reply::Failed {
                contender: said.optional("contender", place)?,
                problem: problem(said.get("problem")?)?,
            },
            _ => return None,
        })
    }
}

fn listed(benchmark: &ListedBenchmark) -> Json {
    let pair = |(name, value): &(String, String)| Json::from_iter([name, value]);
    let throughput = benchmark.throughput.map(|throughput| match throughput {
        Throughput::Bytes(bytes) => Json::tagged("bytes", bytes),
        Throughput::Items(items) => Json::tagged("items", items),
    });
    Object::new()
        .with("name", &benchmark.name)
        .with("contenders", benchmark.contenders.iter().collect::<Json>())
        .with(
            "parameters",
            benchmark.parameters.iter().map(pair).collect::<Json>(),
        )
        .with("throughput", throughput)
        .with("threads", benchmark.threads)
        .with("ignored", benchmark.ignored)
        .into()
}

/// Everything but the name has a default.
fn listed_benchmark(listed: &Json) -> Option<ListedBenchmark> {
    let said = Said(listed.as_object()?);
    let name = said.text("name")?;
    let contenders = said.optional("contenders", |names| list(names, text))?;
    let pair = |pair: &Json| {
        let [name, value]: [String; 2] = list(pair, text)?.try_into().ok()?;
        Some((name, value))
    };
    let threads = said.optional("threads", Json::as_u64)?.unwrap_or(1);
    Some(ListedBenchmark {
        contenders: contenders.unwrap_or_else(|| vec![name.clone()]),
        parameters: said
            .optional("parameters", |pairs| list(pairs, pair))?
            .unwrap_or_default(),
        throughput: said.optional("throughput", throughput)?,
        threads: u32::try_from(threads).ok()?,
        ignored: said.optional("ignored", Json::as_bool)?.unwrap_or(false),
        name,
    })
}

fn throughput(value: &Json) -> Option<Throughput> {
    match value.as_object()?.only()? {
        ("bytes", bytes) => Some(Throughput::Bytes(bytes.as_u64()?)),
        ("items", items) => Some(Throughput::Items(items.as_u64()?)),
        _ => None,
    }
}

fn told(problem: &Problem) -> Json {
    let word = |word: &'static str| Json::tagged(word, Object::new());
    match problem {
        Problem::Unknown => word("unknown"),
        Problem::OutOfTurn => word("out_of_turn"),
        Problem::Panicked(text) => Json::tagged("panicked", text),
        Problem::OutputDiffers => word("output_differs"),
        Problem::OutputVaries => word("output_varies"),
        Problem::PeerGone => word("peer_gone"),
    }
}

fn problem(value: &Json) -> Option<Problem> {
    match value.as_object()?.only()? {
        ("panicked", message) => Some(Problem::Panicked(text(message)?)),
        ("unknown", _) => Some(Problem::Unknown),
        ("out_of_turn", _) => Some(Problem::OutOfTurn),
        ("output_differs", _) => Some(Problem::OutputDiffers),
        ("output_varies", _) => Some(Problem::OutputVaries),
        ("peer_gone", _) => Some(Problem::PeerGone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Metric;

    /// The line without its end, and nothing of it in the middle.
    fn one_line(line: &str) -> &[u8] {
        let message = line.strip_suffix('\n').unwrap();
        assert!(!message.contains('\n'));
        message.as_bytes()
    }

    #[test]
    fn replies_are_lines_of_json_that_read_back() {
        let failed = |contender, problem| Reply::Failed { contender, problem };
        let replies = [
            Reply::Hello {
                protocol: 2,
                worker: "deadheat \"x\"".to_owned(),
                metrics: vec![Metric::Wall, Metric::Custom("wall".to_owned())],
            },
            Reply::Listed(vec![
                ListedBenchmark {
                    name: "sum/100".to_owned(),
                    contenders: vec!["loop".to_owned(), "fold".to_owned()],
                    parameters: vec![("length".to_owned(), "100".to_owned())],
                    throughput: Some(Throughput::Bytes(800)),
                    threads: 4,
                    ignored: true,
                },
                ListedBenchmark {
                    name: "x".to_owned(),
                    contenders: vec!["x".to_owned()],
                    parameters: vec![],
                    throughput: None,
                    threads: 1,
                    ignored: false,
                },
            ]),
            Reply::Prepared { renews_input: true },
            Reply::Calibrated(Pilot {
                iterations: 7,
                most_iterations: Some(9),
                call_ns: vec![0.1, 12.0],
                blocks_ns: vec![[1.0, 2.0, 3.0, 4.5]],
                block_cost_ns: None,
            }),
            Reply::Calibrated(Pilot {
                iterations: 7,
                most_iterations: None,
                call_ns: vec![],
                blocks_ns: vec![],
                block_cost_ns: Some(0.5),
            }),
            Reply::Sound,
            Reply::Warm {
                rounds: 3,
                ready: None,
            },
            Reply::Warm {
                rounds: 1,
                ready: Some(9),
            },
            Reply::Block {
                values: vec![0.1, 1e300, 5e-324, 0.1 + 0.2, 9_007_199_254_740_993.0],
            },
            failed(None, Problem::Unknown),
            failed(Some(1), Problem::OutOfTurn),
            failed(None, Problem::Panicked("at a.rs:1:\n\"no\"".to_owned())),
            failed(Some(2), Problem::OutputDiffers),
            failed(Some(0), Problem::OutputVaries),
            failed(None, Problem::PeerGone),
        ];
        for reply in replies {
            let line = reply.to_line();
            assert_eq!(Reply::from_line(one_line(&line)), Some(reply), "{line}");
        }
    }

    #[test]
    fn what_a_worker_need_not_say_has_a_default() {
        let said = |line: &str| Reply::from_line(line.as_bytes());
        let listed = said(r#"{"listed":{"benchmarks":[{"name":"sum"}]}}"#);
        let Some(Reply::Listed(benchmarks)) = listed else {
            panic!("{listed:?}");
        };
        assert_eq!(benchmarks[0].contenders, ["sum"]);
        assert_eq!((benchmarks[0].threads, benchmarks[0].ignored), (1, false));
        let renews_input = false;
        assert_eq!(
            said(r#"{"prepared":{}}"#),
            Some(Reply::Prepared { renews_input })
        );
        let calibrated = said(r#"{"calibrated":{"iterations":3,"call_ns":[2.5]}}"#);
        assert!(matches!(calibrated, Some(Reply::Calibrated(pilot)) if pilot.iterations == 3));
    }

    #[test]
    fn the_first_version_of_a_hello_is_understood_as_far_as_to_refuse_it() {
        let hello = Reply::from_line(br#"{"hello":{"protocol":1}}"#);
        assert!(matches!(hello, Some(Reply::Hello { protocol: 1, .. })));
    }

    #[test]
    fn a_reply_is_written_as_any_language_would() {
        let reply = Reply::Failed {
            contender: None,
            problem: Problem::Panicked("no".to_owned()),
        };
        let line = r#"{"failed":{"contender":null,"problem":{"panicked":"no"}}}"#;
        assert_eq!(reply.to_line(), format!("{line}\n"));
        assert_eq!(Reply::Sound.to_line(), "{\"sound\":{}}\n");
    }

    #[test]
    fn what_is_no_message_is_not_taken_for_one() {
        for line in [
            "",
            "hello",
            "{}",
            "[]",
            "7",
            "\"sound",
            "\"loud\"",
            r#"{"hello":1}"#,
            r#"{"hello":{}}"#,
            r#"{"listed":{"benchmarks":[{}]}}"#,
            r#"{"listed":{"benchmarks":[{"name":"a","threads":-1}]}}"#,
            r#"{"listed":{"benchmarks":[{"name":"a","throughput":{"apples":1}}]}}"#,
            r#"{"hello":{"protocol":-1}}"#,
            r#"{"block":{"values":[1,null]}}"#,
            r#"{"block":{"values":7}}"#,
            r#"{"calibrated":{"iterations":1,"call_ns":[],"blocks_ns":[[1,2,3]],"block_cost_ns":null}}"#,
            r#"{"failed":{"contender":"a","problem":{"unknown":{}}}}"#,
            r#"{"failed":{"contender":1,"problem":{"bored":{}}}}"#,
        ] {
            assert_eq!(Reply::from_line(line.as_bytes()), None, "{line}");
        }
    }
}
