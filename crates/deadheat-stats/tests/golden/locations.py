"""Location, scale and the clustered standard error of one sample."""

import warnings

import numpy as np
import statsmodels.api as sm
from statsmodels.robust import norms, scale

import recipe

REPLICATES = [2, 3, 4, 6, 11, 40]


def samples(rng):
    """Effects as benchmarks make them: quiet, spiky, skewed, shifted by layout, few, many."""
    yield np.array([-.012, .004, -.021, -.008, .310, -.015, -.011, .002, -.018, -.009, -.027, -.013]), [3] * 4
    yield rng.normal(-0.01, 0.003, 40), [10] * 4
    yield rng.standard_t(2, 60) * 0.01, [5] * 12
    yield rng.normal(0, 0.01, 36) + np.repeat(rng.normal(0, 0.014, 6), 6), [6] * 6
    yield rng.exponential(0.02, 50), [1, 4, 9, 16, 20]
    yield np.concatenate([rng.normal(0, 0.001, 48), [3.0, 7.0]]), [25, 25]
    yield rng.normal(0, 1, 7), [1] * 7
    yield rng.normal(0.2, 1e-7, 21), [7] * 3
    yield np.round(rng.normal(0.0, 0.02, 30), 2), [3] * 10


def by_hand():
    return [{"effects": d.tolist(), "sizes": sizes, **located(d, sizes)} for d, sizes in samples(np.random.default_rng(1964))]


def by_recipe():
    """Sizes cut n as evenly as whole numbers can: replicate i ends before n·(i + 1)/P."""
    cases = []
    for number, case in enumerate(recipe.cases()):
        replicates = min(REPLICATES[number % len(REPLICATES)], case["n"])
        ends = [case["n"] * i // replicates for i in range(replicates + 1)]
        cases.append({**case, "replicates": replicates, **located(recipe.first(case), np.diff(ends).tolist())})
    return cases


def located(d, sizes):
    sigma = spread(d)
    theta = None
    if sigma > 0:
        # The tolerance counts in scales; below the rounding of the effects it would never be met.
        tol = max(1e-12, 1e-15 * np.max(np.abs(d)) / sigma)
        theta = float(norms.estimate_location(d, sigma, norms.HuberT(1.5), maxiter=5000, tol=tol))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.OLS(d, np.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    spreadless = not np.isfinite(fit.pvalues[0])
    return {
        "scaled_mad": float(scale.mad(d)),
        "huber": theta,
        "mean": float(fit.params[0]),
        "clustered_se": float(fit.bse[0]),
        "clustered_p": None if spreadless else float(fit.pvalues[0]),
        "std_dev": float(np.std(d, ddof=1)),
        "quartiles": np.quantile(d, [0.25, 0.5, 0.75]).tolist(),
    }


def spread(d):
    """The MAD, and where it is 0 the stand-ins of the specification."""
    mad = scale.mad(d)
    if mad > 1e-12:
        return float(mad)
    quarter, three_quarters = np.quantile(d, [0.25, 0.75])
    iqr = (three_quarters - quarter) / 1.349
    return float(iqr if iqr > 1e-12 else 1.2533 * np.mean(np.abs(d - np.median(d))))
