"""What a sample looks like when it is drawn: bins, box plot, smooth density."""

import numpy as np
from scipy import stats

import recipe

# Of the 65 points of a curve.
POINTS = [0, 9, 20, 32, 40, 51, 64]


def drawings():
    cases = []
    for case in recipe.cases():
        values = np.sort(recipe.first(case))
        lower, median, upper = np.percentile(values, [25, 50, 75])
        iqr, n = upper - lower, len(values)
        inside = values[(values >= lower - 1.5 * iqr) & (values <= upper + 1.5 * iqr)]
        sd = np.std(values, ddof=1)
        bandwidth = 0.9 * (min(sd, iqr / 1.349) if iqr > 0 else sd) * n**-0.2
        cases.append({
            **case,
            "width": float(2 * iqr / np.cbrt(n)) or None,
            "counts": np.histogram(values, np.linspace(lower, upper, 8))[0].tolist() if iqr > 0 else None,
            "box": [float(x) for x in (lower, median, upper)],
            "beyond": [int((values < lower - 1.5 * iqr).sum()), int((values > upper + 1.5 * iqr).sum())],
            "whiskers": [float(min(inside.min(), lower)), float(max(inside.max(), upper))] if len(inside) else None,
            "bandwidth": float(bandwidth) or None,
            "density": density(values, bandwidth, lower - iqr, upper + iqr) if iqr > 0 else None,
        })
    return cases


def density(values, bandwidth, low, high):
    """Of 65 points from `low` to `high` some, with the largest of all as unit."""
    kernel = stats.gaussian_kde(values, bw_method=bandwidth / np.std(values, ddof=1))
    heights = kernel(np.linspace(low, high, 65))
    return [round(float(x), 6) for x in heights[POINTS] / heights.max()]
