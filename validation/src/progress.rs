//! The time that a table still takes, told on standard error.

use std::time::Instant;

pub struct Progress {
    left: usize,
    made: usize,
    began: Instant,
}

impl Progress {
    pub fn over(observations: usize) -> Self {
        Self { left: observations, made: 0, began: Instant::now() }
    }

    pub fn made(&mut self, what: &str) {
        self.made += 1;
        self.left = self.left.saturating_sub(1);
        let each = self.began.elapsed().as_secs_f64() / self.made as f64;
        eprintln!("  {what}; {}", rest(self.left, each));
    }
}

/// The observations and the time that are left, if each takes so many seconds.
fn rest(observations: usize, each: f64) -> String {
    match observations {
        0 => "that was the last".to_owned(),
        left => format!("{left} more to come, about {:.0} min", (left as f64 * each / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_was_made_did() {
        assert_eq!(rest(30, 10.0), "30 more to come, about 5 min");
        assert_eq!(rest(1, 1.0), "1 more to come, about 1 min");
        assert_eq!(rest(0, 10.0), "that was the last");
    }
}
