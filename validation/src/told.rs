//! The answer of a tool about one race.

use serde_json::{Value, json};

use crate::answer::Race;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Faster,
    Slower,
    Neither,
}

/// An answer. What a tool does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    pub called: Option<Call>,
    pub by_test: Option<Call>,
    /// The additional time that the candidate takes, in percent.
    pub percent: Option<f64>,
    pub interval: Option<(f64, f64)>,
    pub p: Option<f64>,
    pub refused: Option<String>,
    pub version: Option<String>,
}

impl Call {
    pub fn of(found: bool, percent: f64) -> Self {
        match (found, percent > 0.0) {
            (false, _) => Self::Neither,
            (true, true) => Self::Slower,
            (true, false) => Self::Faster,
        }
    }

    pub fn of_interval((low, high): (f64, f64)) -> Self {
        Self::of(low > 0.0 || high < 0.0, low)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Neither => "neither",
        }
    }

    /// From a row of raw data; `None` for one that says nothing.
    pub fn read(word: &Value) -> Option<Self> {
        match word.as_str()? {
            "faster" => Some(Self::Faster),
            "slower" => Some(Self::Slower),
            "neither" => Some(Self::Neither),
            _ => None,
        }
    }
}

impl Told {
    pub fn of_race(race: &Race) -> Result<Self, String> {
        let called = match race.verdict.as_deref() {
            Some("faster") => Call::Faster,
            Some("slower") => Call::Slower,
            Some(_) => Call::Neither,
            None => return Err("no verdict".to_owned()),
        };
        Ok(Self {
            called: Some(called),
            percent: Some(race.change.percent),
            interval: Some(race.change.interval),
            ..Self::default()
        })
    }

    pub fn into_row(self) -> Value {
        let mut row = json!({});
        let mut put = |key: &str, value: Value| row[key] = value;
        put("called", json!(self.called.map_or("nothing", Call::word)));
        if let Some(call) = self.by_test {
            put("by_test", json!(call.word()));
        }
        if let Some(percent) = self.percent {
            put("percent", json!(short(percent)));
        }
        if let Some((low, high)) = self.interval {
            put("low", json!(short(low)));
            put("high", json!(short(high)));
        }
        if let Some(p) = self.p {
            put("p", json!(short(p)));
        }
        if let Some(problem) = self.refused {
            put("problem", json!(problem));
        }
        if let Some(version) = self.version {
            put("version", json!(version));
        }
        row
    }
}

pub fn short(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// A ratio as a change in percent.
pub fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_holds_nought_calls_neither() {
        assert_eq!(Call::of_interval((-0.1, 0.2)), Call::Neither);
        assert_eq!(Call::of_interval((0.1, 0.2)), Call::Slower);
        assert_eq!(Call::of_interval((-0.2, -0.1)), Call::Faster);
    }

    #[test]
    fn a_row_has_what_was_said_and_nothing_else() {
        let told =
            Told { called: Some(Call::Slower), percent: Some(1.234_567_8), ..Told::default() };
        let row = told.into_row();
        assert_eq!(row, json!({"called": "slower", "percent": 1.23457}));
        assert_eq!(Call::read(&row["called"]), Some(Call::Slower));
        let nothing = Told::default().into_row();
        assert_eq!(nothing, json!({"called": "nothing"}));
        assert_eq!(Call::read(&nothing["called"]), None);
    }
}
