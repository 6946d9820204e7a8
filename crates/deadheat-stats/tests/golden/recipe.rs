//! The samples behind the reference values, made by the same recipe as in `recipe.py` to the last
//! bit.

use serde_json::Value;

const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Two samples and what the reference says of them.
pub struct Case {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    /// The recipe of the samples, for messages.
    pub name: String,
    /// The reference values, by name.
    pub value: Value,
}

impl Case {
    /// A reference value; `None` where the reference has none.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.value[key].as_f64()
    }

    /// A reference value that every case has.
    #[track_caller]
    pub fn number(&self, key: &str) -> f64 {
        self.get(key)
            .unwrap_or_else(|| panic!("{}: no {key}", self.name))
    }

    /// A list of reference values.
    #[track_caller]
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        let list = self.value[key].as_array();
        let list = list.unwrap_or_else(|| panic!("{}: no {key}", self.name));
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    }
}

/// The cases of a file, at least as many as the specification asks for.
pub fn cases(json: &str) -> Vec<Case> {
    let list: Vec<Value> = serde_json::from_str(json).unwrap();
    assert!(list.len() >= 300, "{} cases are too few", list.len());
    list.into_iter().map(case).collect()
}

fn case(value: Value) -> Case {
    let family = value["family"].as_str().unwrap();
    let [seed, n, m] = ["seed", "n", "m"].map(|key| value[key].as_u64().unwrap());
    let shift = value["shift"].as_f64().unwrap();
    Case {
        first: sample(family, seed, n as usize, 0.0),
        second: sample(family, seed ^ 0x5_DEEC_E66D, m as usize, shift),
        name: format!("{family} {n} against {m}, seed {seed}, shift {shift}"),
        value,
    }
}

/// Doubles in [0, 1) from SplitMix64.
fn uniform(seed: u64) -> impl Iterator<Item = f64> {
    (1_u64..).map(move |i| {
        let z = seed.wrapping_add(i.wrapping_mul(GOLDEN_RATIO));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let z = z ^ (z >> 31);
        (z >> 11) as f64 * 2_f64.powi(-53)
    })
}

fn sample(family: &str, seed: u64, n: usize, shift: f64) -> Vec<f64> {
    let mut stream = uniform(seed);
    let mut next = || stream.next().unwrap();
    let value = |_| {
        let bell = next() + next() + next() + next() - 2.0;
        let last = next();
        match family {
            "bell" => bell + shift,
            "skew" => last * last / (1.001 - last) + shift,
            "spiky" => {
                let spike = if last < 0.02 {
                    bell * 0.01 + 5.0
                } else {
                    bell * 0.01
                };
                spike + shift * 0.01
            }
            "ties" => (bell * 4.0 + shift * 4.0).floor() / 4.0,
            "zeros" if last < 0.6 => 0.0,
            "zeros" => bell + shift,
            "tiny" => (bell + shift) * 1e-9,
            "huge" => (bell + shift) * 1e12,
            "positive" => 1000.0 * (1.0 + 0.1 * (bell + shift)) + 200.0 * last * last,
            other => panic!("no family {other}"),
        }
    };
    (0..n).map(value).collect()
}
