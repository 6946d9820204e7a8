//! One side of a comparison in a few plain figures.

use deadheat_model::{ContenderId, Metric, Samples, Side};
use deadheat_stats::summary::{max, mean, median_in_place, min, std_dev};

use crate::typical::typical;

/// Which samples belong to whom, looked up once for all metrics.
pub(crate) struct Members {
    of: Vec<Vec<u32>>,
}

impl Members {
    pub(crate) fn of(samples: &Samples, contenders: usize) -> Self {
        let mut of = vec![Vec::new(); contenders];
        for (index, sample) in samples.samples().iter().enumerate() {
            if let Some(list) = of.get_mut(sample.contender.index()) {
                list.push(index as u32);
            }
        }
        Self { of }
    }

    /// The samples of one contender, in the order taken.
    pub(crate) fn indices(&self, contender: ContenderId) -> &[u32] {
        self.of.get(contender.index()).map_or(&[], Vec::as_slice)
    }

    /// Values of one contender in one metric, per iteration.
    pub(crate) fn values(
        &self,
        samples: &Samples,
        metric: &Metric,
        contender: ContenderId,
    ) -> Vec<f64> {
        let Some(column) = samples.column(metric) else {
            return Vec::new();
        };
        let all = samples.samples();
        let divide = metric.adds_up();
        let value = |index: &u32| {
            let index = *index as usize;
            match all[index].iterations {
                iterations if divide && iterations != 1 => column[index] / iterations as f64,
                _ => column[index],
            }
        };
        self.of[contender.index()].iter().map(value).collect()
    }
}

/// The summary of `values`, which are reordered; `None` when there are none.
pub(crate) fn side(name: &str, values: &mut [f64]) -> Option<Side> {
    // Of a launch or a call most counts are zero, and then every figure is.
    if !values.is_empty() && values.iter().all(|value| value.to_bits() == 0) {
        return Some(Side {
            name: name.to_owned(),
            typical: None,
            mean: 0.0,
            min: 0.0,
            max: 0.0,
            std_dev: (values.len() > 1).then_some(0.0),
            samples: values.len(),
            median: 0.0,
        });
    }
    Some(Side {
        name: name.to_owned(),
        typical: typical(values),
        mean: mean(values)?,
        min: min(values)?,
        max: max(values)?,
        std_dev: std_dev(values),
        samples: values.len(),
        median: median_in_place(values)?,
    })
}
