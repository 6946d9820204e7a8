//! Messages as lines: one JSON object each, `{"block":{"seed":7,…}}`, or a bare
//! `"bye"` where there is nothing more to say.
//!

use deadheat_model::{Json, Object};

use super::protocol::{Problem, Reply, Request};
use crate::function::Pilot;

impl Request {
    /// The line, newline included.
    pub(super) fn to_line(&self) -> String {
        line(match self {
            Request::Prepare {
                benchmark,
                clock,
                cpu_overhead_ns,
                heap_bytes,
                stack_bytes,
            } => {
                let said = Object::new()
                    .with("benchmark", benchmark)
                    .with("clock", clock)
                    .with("cpu_overhead_ns", *cpu_overhead_ns)
                    .with("heap_bytes", *heap_bytes)
                    .with("stack_bytes", *stack_bytes);
                Json::tagged("prepare", said)
            }
            Request::Calibrate { seed } => {
                Json::tagged("calibrate", Object::new().with("seed", *seed))
            }
            Request::Smoke { seed } => Json::tagged("smoke", Object::new().with("seed", *seed)),
            Request::WarmUp {
                seed,
                order,
                iterations,
            } => {
                let said = Object::new()
                    .with("seed", *seed)
                    .with("order", places(order))
                    .with("iterations", *iterations);
                Json::tagged("warm_up", said)
            }
            Request::Block {
                seed,
                iterations,
                prime,
                slots,
            } => {
                let said = Object::new()
                    .with("seed", *seed)
                    .with("iterations", *iterations)
                    .with("prime", *prime)
                    .with("slots", places(slots));
                Json::tagged("block", said)
            }
            Request::Bye => "bye".into(),
        })
    }

    /// The request of a line; `None` when it is none.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let said = Message::parse(line)?;
        Some(match said.tag()? {
            "prepare" => Request::Prepare {
                benchmark: said.text("benchmark")?,
                clock: said.text("clock")?,
                cpu_overhead_ns: said.get("cpu_overhead_ns")?.as_number()?,
                heap_bytes: place(said.get("heap_bytes")?)?,
                stack_bytes: place(said.get("stack_bytes")?)?,
            },
            "calibrate" => Request::Calibrate {
                seed: said.number("seed")?,
            },
            "smoke" => Request::Smoke {
                seed: said.number("seed")?,
            },
            "warm_up" => Request::WarmUp {
                seed: said.number("seed")?,
                order: list(said.get("order")?, place)?,
                iterations: said.number("iterations")?,
            },
            "block" => Request::Block {
                seed: said.number("seed")?,
                iterations: said.number("iterations")?,
                prime: optional(said.get("prime")?, place)?,
                slots: list(said.get("slots")?, place)?,
            },
            "bye" => Request::Bye,
            _ => return None,
        })
    }
}

impl Reply {
    /// The line, newline included.
    pub(super) fn to_line(&self) -> String {
        line(match self {
            Reply::Hello { protocol } => {
                Json::tagged("hello", Object::new().with("protocol", *protocol))
            }
            Reply::Prepared { values } => {
                Json::tagged("prepared", Object::new().with("values", *values))
            }
            Reply::Calibrated(pilot) => {
                let blocks = pilot.blocks_ns.iter().map(|block| numbers(block)).collect();
                let said = Object::new()
                    .with("iterations", pilot.iterations)
                    .with("call_ns", numbers(&pilot.call_ns))
                    .with("blocks_ns", Json::List(blocks))
                    .with("block_cost_ns", pilot.block_cost_ns);
                Json::tagged("calibrated", said)
            }
            Reply::Sound => "sound".into(),
            Reply::Warm { rounds } => Json::tagged("warm", Object::new().with("rounds", *rounds)),
            Reply::Block { values } => {
                Json::tagged("block", Object::new().with("values", numbers(values)))
            }
            Reply::Failed { contender, problem } => {
                let said = Object::new()
                    .with("contender", *contender)
                    .with("problem", told(problem));
                Json::tagged("failed", said)
            }
        })
    }

    /// The reply of a line; `None` when it is none.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let said = Message::parse(line)?;
        Some(match said.tag()? {
            "hello" => Reply::Hello {
                protocol: said.number("protocol")?.try_into().ok()?,
            },
            "prepared" => Reply::Prepared {
                values: place(said.get("values")?)?,
            },
            "calibrated" => Reply::Calibrated(Pilot {
                iterations: said.number("iterations")?,
                call_ns: list(said.get("call_ns")?, Json::as_number)?,
                blocks_ns: list(said.get("blocks_ns")?, |block| {
                    list(block, Json::as_number)?.try_into().ok()
                })?,
                block_cost_ns: optional(said.get("block_cost_ns")?, Json::as_number)?,
            }),
            "sound" => Reply::Sound,
            "warm" => Reply::Warm {
                rounds: said.number("rounds")?,
            },
            "block" => Reply::Block {
                values: list(said.get("values")?, Json::as_number)?,
            },
            "failed" => Reply::Failed {
                contender: optional(said.get("contender")?, place)?,
                problem: problem(said.get("problem")?)?,
            },
            _ => return None,
        })
    }
}

fn told(problem: &Problem) -> Json {
    match problem {
        Problem::Unknown => "unknown".into(),
        Problem::OutOfTurn => "out_of_turn".into(),
        Problem::Panicked(text) => Json::tagged("panicked", text),
        Problem::OutputDiffers => "output_differs".into(),
        Problem::OutputVaries => "output_varies".into(),
    }
}

fn problem(value: &Json) -> Option<Problem> {
    if let Some(("panicked", text)) = value.as_object().and_then(Object::only) {
        return Some(Problem::Panicked(text.as_text()?.to_owned()));
    }
    match value.as_text()? {
        "unknown" => Some(Problem::Unknown),
        "out_of_turn" => Some(Problem::OutOfTurn),
        "output_differs" => Some(Problem::OutputDiffers),
        "output_varies" => Some(Problem::OutputVaries),
        _ => None,
    }
}

/// A message: its kind and what it says.
struct Message(Json);

impl Message {
    fn parse(line: &[u8]) -> Option<Self> {
        Json::parse(std::str::from_utf8(line).ok()?).map(Message)
    }

    fn tag(&self) -> Option<&str> {
        match &self.0 {
            Json::Object(object) => object.only().map(|(tag, _)| tag),
            bare => bare.as_text(),
        }
    }

    fn get(&self, name: &str) -> Option<&Json> {
        let (_, said) = self.0.as_object()?.only()?;
        said.as_object()?.get(name)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    fn text(&self, name: &str) -> Option<String> {
        Some(self.get(name)?.as_text()?.to_owned())
    }
}

fn line(message: Json) -> String {
    format!("{message}\n")
}

fn places(places: &[usize]) -> Json {
    places.iter().copied().collect()
}

fn numbers(numbers: &[f64]) -> Json {
    numbers.iter().copied().collect()
}

fn place(value: &Json) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

fn list<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    value.as_list()?.iter().map(item).collect()
}

/// `None` when it is neither null nor what `item` reads.
fn optional<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match value {
        Json::Null => Some(None),
        value => item(value).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line without its end, and nothing of it in the middle.
    fn one_line(line: &str) -> &[u8] {
        let message = line.strip_suffix('\n').unwrap();
        assert!(!message.contains('\n'));
        message.as_bytes()
    }

    #[test]
    fn requests_are_lines_of_json_that_read_back() {
        let requests = [
            Request::Prepare {
                benchmark: "a \"b\"\n".to_owned(),
                clock: "os".to_owned(),
                cpu_overhead_ns: 0.1 + 0.2,
                heap_bytes: 1,
                stack_bytes: 2,
            },
            Request::Calibrate { seed: 1 },
            Request::Smoke { seed: 2 },
            Request::WarmUp {
                seed: 3,
                order: vec![1, 0],
                iterations: 4,
            },
            Request::Block {
                seed: u64::MAX,
                iterations: 3,
                prime: None,
                slots: vec![0, 1, 1, 0],
            },
            Request::Block {
                seed: 0,
                iterations: 3,
                prime: Some(1),
                slots: vec![],
            },
            Request::Bye,
        ];
        for request in requests {
            let line = request.to_line();
            assert_eq!(Request::from_line(one_line(&line)), Some(request), "{line}");
        }
    }

    #[test]
    fn replies_are_lines_of_json_that_read_back() {
        let failed = |contender, problem| Reply::Failed { contender, problem };
        let replies = [
            Reply::Hello { protocol: 1 },
            Reply::Prepared { values: 12 },
            Reply::Calibrated(Pilot {
                iterations: 7,
                call_ns: vec![0.1, 12.0],
                blocks_ns: vec![[1.0, 2.0, 3.0, 4.5]],
                block_cost_ns: None,
            }),
            Reply::Calibrated(Pilot {
                iterations: 7,
                call_ns: vec![],
                blocks_ns: vec![],
                block_cost_ns: Some(0.5),
            }),
            Reply::Sound,
            Reply::Warm { rounds: 3 },
            Reply::Block {
                values: vec![0.1, 1e300, 5e-324, 0.1 + 0.2, 9_007_199_254_740_993.0],
            },
            failed(None, Problem::Unknown),
            failed(Some(1), Problem::OutOfTurn),
            failed(None, Problem::Panicked("at a.rs:1:\n\"no\"".to_owned())),
            failed(Some(2), Problem::OutputDiffers),
            failed(Some(0), Problem::OutputVaries),
        ];
        for reply in replies {
            let line = reply.to_line();
            assert_eq!(Reply::from_line(one_line(&line)), Some(reply), "{line}");
        }
    }

    #[test]
    fn a_message_is_written_as_any_language_would() {
        let request = Request::Calibrate { seed: 7 };
        assert_eq!(request.to_line(), "{\"calibrate\":{\"seed\":7}}\n");
        assert_eq!(Request::Bye.to_line(), "\"bye\"\n");
        let reply = Reply::Failed {
            contender: None,
            problem: Problem::Panicked("no".to_owned()),
        };
        let line = r#"{"failed":{"contender":null,"problem":{"panicked":"no"}}}"#;
        assert_eq!(reply.to_line(), format!("{line}\n"));
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
            r#"{"hello":{"protocol":-1}}"#,
            r#"{"block":{"values":[1,null]}}"#,
            r#"{"block":{"values":7}}"#,
            r#"{"calibrated":{"iterations":1,"call_ns":[],"blocks_ns":[[1,2,3]],"block_cost_ns":null}}"#,
            r#"{"failed":{"contender":"a","problem":"unknown"}}"#,
            r#"{"failed":{"contender":1,"problem":"bored"}}"#,
        ] {
            assert_eq!(Reply::from_line(line.as_bytes()), None, "{line}");
        }
    }
}
