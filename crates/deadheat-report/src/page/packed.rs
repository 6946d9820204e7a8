//! Columns of numbers in little room: whole steps around a middle. Data of
//! plots lie close together, so few digits of each tell all there is to see.

use deadheat_model::Json;

/// Steps to the spread of a column's middle half. Finer than an eye can see,
/// however far one zooms into where the values are.
const STEPS: f64 = 400.0;

/// `[middle, step, n, …]`, which stands for the values middle + n·step.
pub(super) fn packed(values: impl IntoIterator<Item = f64>) -> Json {
    let values: Vec<f64> = values.into_iter().collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: usize| sorted.get(sorted.len() * share / 4).copied().unwrap_or(0.0);
    let middle = at(2);
    let whole = || sorted.last().unwrap_or(&0.0) - sorted.first().unwrap_or(&0.0);
    let spread = [at(3) - at(1), whole(), middle.abs()];
    let spread = spread.into_iter().find(|spread| *spread > 0.0);
    let step = power_of_ten_below(spread.unwrap_or(1.0) / STEPS);
    let steps = |value: f64| Json::Integer(((value - middle) / step).round() as i128);
    let head = [Json::Number(middle), Json::Number(step)];
    Json::Row(
        head.into_iter()
            .chain(values.iter().map(|value| steps(*value)))
            .collect(),
    )
}

/// Whole numbers that mostly rise by little: the first, then differences.
pub(super) fn rising(values: impl IntoIterator<Item = u32>) -> Json {
    let mut last = 0;
    let difference = |value: u32| {
        let difference = i128::from(value) - last;
        last = i128::from(value);
        Json::Integer(difference)
    };
    Json::Row(values.into_iter().map(difference).collect())
}

/// A number with six significant digits, for what stands alone.
pub(super) fn rounded(value: f64) -> Json {
    Json::Number(format!("{value:.5e}").parse().unwrap_or(value))
}

fn power_of_ten_below(value: f64) -> f64 {
    let text = format!("{value:e}");
    let exponent = text.rsplit_once('e').map_or("0", |(_, exponent)| exponent);
    // Read as text, so that a thousandth is the double next to it.
    format!("1e{exponent}")
        .parse()
        .ok()
        .filter(|step| *step > 0.0)
        .unwrap_or(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(json: &Json) -> Vec<f64> {
        let numbers: Vec<f64> = json
            .as_list()
            .unwrap()
            .iter()
            .filter_map(Json::as_number)
            .collect();
        numbers[2..]
            .iter()
            .map(|steps| numbers[0] + steps * numbers[1])
            .collect()
    }

    #[test]
    fn values_come_back_to_a_fraction_of_their_spread() {
        // A millisecond with a spread of a hundred nanoseconds, and an outlier.
        let values: Vec<f64> = (0..100)
            .map(|i| 1e6 + f64::from(i) * 2.0)
            .chain([5e7])
            .collect();
        let json = packed(values.iter().copied());
        for (value, back) in values.iter().zip(unpacked(&json)) {
            assert!((value - back).abs() <= 0.25, "{value} {back}");
        }
        assert!(json.to_string().len() < 5 * values.len(), "{json}");
    }

    #[test]
    fn odd_columns_are_kept() {
        for values in [
            vec![],
            vec![0.0],
            vec![7.5, 7.5],
            vec![0.0, 0.0, 0.0, 0.0, 1e-12],
            vec![-3e300, 3e300],
        ] {
            let back = unpacked(&packed(values.iter().copied()));
            assert_eq!(back.len(), values.len());
            for (value, back) in values.iter().zip(back) {
                assert!((value - back).abs() <= value.abs() * 1e-3, "{value} {back}");
            }
        }
    }

    #[test]
    fn rising_numbers_are_told_by_their_steps() {
        assert_eq!(rising([3, 4, 5, 9, 0]).to_string(), "[3,1,1,4,-9]");
    }

    #[test]
    fn six_digits_suffice() {
        assert_eq!(rounded(0.123456789).to_string(), "0.123457");
    }
}
