//! The report as JSON, as Python's `json.dump(report, file, indent=1)` writes it.

use crate::difference::{Difference, Measurement, Report, Test};
use crate::spelling::float;
use crate::text::{Text, scalars};
use crate::value::Value;

impl Report<'_> {
    /// The whole report, in ASCII, without an end of line behind it.
    pub fn dump(&self) -> String {
        let mut json = Writer::default();
        json.list(&self.differences, |json, difference| {
            write_difference(json, difference);
        });
        json.text
    }
}

fn write_difference(json: &mut Writer, difference: &Difference<'_>) {
    let Difference {
        name,
        label,
        measurements,
        time_unit,
        run_type,
        aggregate_name,
        test,
    } = difference;
    json.begin('{');
    json.key("name");
    json.string(name);
    json.key("label");
    json.value(label);
    json.key("measurements");
    json.list(measurements, |json, measurement| {
        write_measurement(json, measurement);
    });
    for (key, value) in [
        ("time_unit", time_unit),
        ("run_type", run_type),
        ("aggregate_name", aggregate_name),
    ] {
        json.key(key);
        json.value(value);
    }
    json.key("utest");
    write_test(json, test.as_ref());
    json.end('}');
}

fn write_measurement(json: &mut Writer, measurement: &Measurement<'_>) {
    let Measurement { real, cpu } = measurement;
    json.begin('{');
    for (key, value) in [
        ("real_time", &real.old),
        ("cpu_time", &cpu.old),
        ("real_time_other", &real.new),
        ("cpu_time_other", &cpu.new),
    ] {
        json.key(key);
        json.value(value);
    }
    json.key("time");
    json.float(real.change);
    json.key("cpu");
    json.float(cpu.change);
    json.end('}');
}

fn write_test(json: &mut Writer, test: Option<&Test>) {
    let Some(test) = test else {
        json.text += "{}";
        return;
    };
    json.begin('{');
    json.key("have_optimal_repetitions");
    json.value(&Value::Bool(test.optimal));
    json.key("cpu_pvalue");
    json.float(test.cpu_p);
    json.key("time_pvalue");
    json.float(test.real_p);
    let keys = ["nr_of_repetitions", "nr_of_repetitions_other"];
    for (key, count) in keys.into_iter().zip(test.repetitions) {
        json.key(key);
        json.text += &count.to_string();
    }
    json.end('}');
}

/// Text that grows, and how deep the next line is indented.
#[derive(Debug, Default)]
struct Writer {
    text: String,
    depth: usize,
    /// Whether something stands between these brackets already.
    filled: bool,
}

impl Writer {
    fn begin(&mut self, bracket: char) {
        self.text.push(bracket);
        self.depth += 1;
        self.filled = false;
    }

    fn end(&mut self, bracket: char) {
        self.depth -= 1;
        if self.filled {
            self.line();
        }
        self.text.push(bracket);
        self.filled = true;
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', self.depth));
    }

    /// Goes to where the next key or item stands.
    fn next(&mut self) {
        if self.filled {
            self.text.push(',');
        }
        self.filled = true;
        self.line();
    }

    fn key(&mut self, key: &str) {
        self.next();
        self.string(&Text::from(key));
        self.text += ": ";
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.begin('[');
        for item in items {
            self.next();
            write(self, item);
        }
        self.end(']');
    }

    fn float(&mut self, number: f64) {
        if number.is_nan() {
            self.text += "NaN";
        } else if number.is_infinite() {
            self.text += if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
        } else {
            self.text += &float(number);
        }
    }

    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.text += "null",
            Value::Bool(yes) => self.text += if *yes { "true" } else { "false" },
            Value::Int(number) => self.text += &number.to_string(),
            Value::Big(digits) => self.text += digits,
            Value::Float(number) => self.float(*number),
            Value::Text(text) => self.string(text),
            Value::List(items) => self.list(items, Self::value),
            Value::Dict(entries) => {
                self.begin('{');
                for (key, value) in entries {
                    self.next();
                    self.string(key);
                    self.text += ": ";
                    self.value(value);
                }
                self.end('}');
            }
        }
    }

    fn string(&mut self, text: &Text<'_>) {
        self.text.push('"');
        for scalar in scalars(text.as_bytes()) {
            match char::from_u32(scalar) {
                Some('"') => self.text += "\\\"",
                Some('\\') => self.text += "\\\\",
                Some('\n') => self.text += "\\n",
                Some('\r') => self.text += "\\r",
                Some('\t') => self.text += "\\t",
                Some('\u{8}') => self.text += "\\b",
                Some('\u{c}') => self.text += "\\f",
                Some(c @ ' '..='~') => self.text.push(c),
                Some(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.text += &format!("\\u{unit:04x}");
                    }
                }
                None => self.text += &format!("\\u{scalar:04x}"),
            }
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Value<'_>) -> String {
        let mut json = Writer::default();
        json.value(value);
        json.text
    }

    #[test]
    fn lists_and_objects_are_indented_by_one() {
        let value = Value::Dict(vec![
            (
                "a".into(),
                Value::List(vec![Value::Int(1), Value::List(vec![])]),
            ),
            ("b".into(), Value::Dict(vec![])),
        ]);
        let want = "{\n \"a\": [\n  1,\n  []\n ],\n \"b\": {}\n}";
        assert_eq!(written(&value), want);
    }

    #[test]
    fn strings_are_ascii() {
        let mut bytes = "ä\u{1f600}\"\\\u{7f}\u{1}/".as_bytes().to_vec();
        crate::text::push_scalar(&mut bytes, 0xdc00);
        let want = r#""\u00e4\ud83d\ude00\"\\\u007f\u0001/\udc00""#;
        assert_eq!(written(&Value::Text(Text::new(bytes))), want);
    }

    #[test]
    fn numbers_that_are_none_have_names() {
        let list = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0].map(Value::Float);
        let want = "[\n NaN,\n Infinity,\n -Infinity,\n 1.0\n]";
        assert_eq!(written(&Value::List(list.into())), want);
    }
}
