"""Writes the reference values that tests/golden.rs compares the crate with.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 && python crates/deadheat-stats/tests/golden/make_golden.py

Run from the root of the repository, with Python 3.11 or later. The output is the same on every run.
"""

import json
from pathlib import Path

import numpy as np
import statsmodels.api as sm
from scipy import special, stats
from statsmodels.robust import norms, scale
from statsmodels.stats.multitest import multipletests

HERE = Path(__file__).parent


def write(name, content):
    text = json.dumps(content, indent=None, separators=(",", ":"), allow_nan=False)
    # One case per line, so that a change shows as a change of that case.
    (HERE / name).write_text(text.replace("},{", "},\n{").replace("],\"", "],\n\"") + "\n")


def distributions():
    dfs = [1, 2, 3, 5, 7, 10, 39, 100, 1000, 4999, 5001, 1e5, 1e6]
    levels = [0.9, 0.6, 0.4, 0.1, 0.05, 0.0199, 1e-3, 1e-4, 1e-8]
    ts = [0.01, 0.5, 1.2, 1.7, 1.8, 2.5, 4.734239, 9.0, 30.0]
    binomials = [
        (0, 10, 0.5), (3, 10, 0.5), (7, 10, 0.3), (12, 40, 0.5), (30, 40, 0.25), (499, 1000, 0.5), (560, 1000, 0.5),
        (1, 1000, 0.01), (25, 1000, 0.01), (50200, 100000, 0.5), (980, 1000000, 0.001), (0, 5, 0.9), (5, 5, 0.9),
        (17, 23, 1 / 3), (2, 7, 2 / 3),
    ]
    zs = [-37.0, -20.0, -8.0, -3.0, -2.5, -2.4999, -1.0, -0.1, 0.0, 0.3, 1.0, 2.0, 4.0]
    ps = [1e-300, 1e-100, 1e-20, 1e-9, 1e-4, 0.025, 0.2, 0.4999, 0.6, 0.9, 0.975, 0.9999]
    write("distributions.json", {
        "t_critical": [[level, df, -special.stdtrit(df, level / 2)] for df in dfs for level in levels],
        "t_quantile": [[p, df, special.stdtrit(df, p)] for df in dfs for p in [0.001, 0.2, 0.3, 0.7, 0.95]],
        "t_two_sided_p": [[t, df, 2 * special.stdtr(df, -t)] for df in dfs for t in ts],
        "normal_cdf": [[z, special.ndtr(z)] for z in zs],
        "normal_quantile": [[p, special.ndtri(p)] for p in ps],
        "binomial_two_sided_p": [[k, n, p, stats.binomtest(k, n, p).pvalue] for k, n, p in binomials],
    })


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


def locations():
    cases = []
    for d, sizes in samples(np.random.default_rng(1964)):
        mad = scale.mad(d)
        # The tolerance counts in scales; below the rounding of the effects it would never be met.
        tol = max(1e-12, 1e-15 / mad)
        theta = norms.estimate_location(d, mad, norms.HuberT(1.5), maxiter=5000, tol=tol)
        groups = np.repeat(np.arange(len(sizes)), sizes)
        fit = sm.OLS(d, np.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        cases.append({
            "effects": d.tolist(),
            "sizes": sizes,
            "scaled_mad": float(mad),
            "huber": float(theta),
            "mean": float(fit.params[0]),
            "clustered_se": float(fit.bse[0]),
            "clustered_p": float(fit.pvalues[0]),
            "std_dev": float(np.std(d, ddof=1)),
            "quartiles": np.quantile(d, [0.25, 0.5, 0.75]).tolist(),
            "signed_rank_exact": signed_rank(d, "exact"),
            "signed_rank_asymptotic": signed_rank(d, "asymptotic"),
        })
    write("locations.json", cases)


def signed_rank(d, method):
    """None where ties or zeros put the exact null distribution out of SciPy's reach."""
    if method == "exact" and (0 in d or len(np.unique(np.abs(d))) < len(d)):
        return None
    return float(stats.wilcoxon(d, method=method, correction=False).pvalue)


def families():
    rng = np.random.default_rng(1995)
    cases = []
    for size in [1, 2, 5, 20, 60]:
        p = rng.uniform(0, 1, size) ** 3
        if size == 20:
            p[4:8] = p[3]
        cases.append({
            "p": p.tolist(),
            "holm": multipletests(p, method="holm")[1].tolist(),
            "benjamini_hochberg": multipletests(p, method="fdr_bh")[1].tolist(),
        })
    write("families.json", cases)


if __name__ == "__main__":
    distributions()
    locations()
    families()
