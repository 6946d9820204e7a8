//! Requests as lines.

use deadheat_model::{Json, Object};

use super::message::{Message, line, list, optional, place, text};
use crate::worker::protocol::{BlockRequest, Request};

impl Request {
    /// The line, newline included.
    pub(in crate::worker) fn to_line(&self) -> String {
        match self {
            Request::List => line("list", Object::new()),
            Request::Prepare {
                benchmark,
                contender,
                clock,
                cpu_overhead_ns,
                heap_bytes,
                stack_bytes,
            } => {
                let said = Object::new()
                    .with("benchmark", benchmark)
                    .with("contender", contender.as_ref())
                    .with("clock", clock)
                    .with("cpu_overhead_ns", *cpu_overhead_ns)
                    .with("heap_bytes", *heap_bytes)
                    .with("stack_bytes", *stack_bytes);
                line("prepare", said)
            }
            Request::Calibrate { seed, least_ns } => {
                let said = Object::new()
                    .with("seed", *seed)
                    .with("least_ns", *least_ns);
                line("calibrate", said)
            }
            Request::Smoke { seed } => line("smoke", Object::new().with("seed", *seed)),
            Request::WarmUp {
                seed,
                order,
                iterations,
            } => {
                let said = Object::new()
                    .with("seed", *seed)
                    .with("order", order.iter().copied().collect::<Json>())
                    .with("iterations", *iterations);
                line("warm_up", said)
            }
            Request::Block(block) => {
                let said = Object::new()
                    .with("seed", block.seed)
                    .with("iterations", block.iterations)
                    .with("turns", block.turns.iter().copied().collect::<Json>())
                    .with("unrecorded", block.unrecorded)
                    .with("unrecorded_iterations", block.unrecorded_iterations);
                line("block", said)
            }
            Request::Bye => line("bye", Object::new()),
        }
    }

    /// The request of a line; `None` when it is none.
    pub(in crate::worker) fn from_line(line: &[u8]) -> Option<Self> {
        let said = Message::parse(line)?;
        Some(match said.tag()? {
            "list" => Request::List,
            "prepare" => Request::Prepare {
                benchmark: said.text("benchmark")?,
                contender: said.optional("contender", text)?,
                clock: said.text("clock")?,
                cpu_overhead_ns: said.get("cpu_overhead_ns")?.as_number()?,
                heap_bytes: place(said.get("heap_bytes")?)?,
                stack_bytes: place(said.get("stack_bytes")?)?,
            },
            "calibrate" => Request::Calibrate {
                seed: said.number("seed")?,
                least_ns: said.get("least_ns")?.as_number()?,
            },
            "smoke" => Request::Smoke {
                seed: said.number("seed")?,
            },
            "warm_up" => Request::WarmUp {
                seed: said.number("seed")?,
                order: list(said.get("order")?, place)?,
                iterations: said.number("iterations")?,
            },
            "block" => Request::Block(BlockRequest {
                seed: said.number("seed")?,
                iterations: said.number("iterations")?,
                turns: list(said.get("turns")?, |turn| optional(turn, place))?,
                unrecorded: place(said.get("unrecorded")?)?,
                unrecorded_iterations: said.number("unrecorded_iterations")?,
            }),
            "bye" => Request::Bye,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::SEEDS;

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
                contender: None,
                clock: "os".to_owned(),
                cpu_overhead_ns: 0.1 + 0.2,
                heap_bytes: 1,
                stack_bytes: 2,
            },
            Request::List,
            Request::Prepare {
                benchmark: String::new(),
                contender: Some("é\u{1}".to_owned()),
                clock: "tsc 1".to_owned(),
                cpu_overhead_ns: 0.0,
                heap_bytes: 0,
                stack_bytes: 0,
            },
            Request::Calibrate {
                seed: 1,
                least_ns: 0.5,
            },
            Request::Smoke { seed: 2 },
            Request::WarmUp {
                seed: 3,
                order: vec![1, 0],
                iterations: 4,
            },
            Request::Block(BlockRequest {
                seed: SEEDS - 1,
                iterations: 3,
                turns: vec![None, Some(0), Some(1), None],
                unrecorded: 2,
                unrecorded_iterations: 1,
            }),
            Request::Block(BlockRequest {
                seed: 0,
                iterations: 3,
                turns: vec![],
                unrecorded: 0,
                unrecorded_iterations: 3,
            }),
            Request::Bye,
        ];
        for request in requests {
            let line = request.to_line();
            assert_eq!(Request::from_line(one_line(&line)), Some(request), "{line}");
        }
    }

    #[test]
    fn a_request_is_written_as_any_language_would() {
        let request = Request::Smoke { seed: 7 };
        assert_eq!(request.to_line(), "{\"smoke\":{\"seed\":7}}\n");
        assert_eq!(Request::Bye.to_line(), "{\"bye\":{}}\n");
    }
}
