"""Distances between two samples, moments and the Shapiro–Wilk test."""

import warnings

import numpy as np
from scipy import stats

import recipe


def shapes():
    cases = []
    for case in recipe.cases():
        first, second = recipe.first(case), recipe.second(case)
        ks = kolmogorov_smirnov(first, second)
        spread = np.ptp(first) > 0
        shapiro = stats.shapiro(first) if spread and len(first) >= 3 else None
        cases.append({
            **case,
            "ks_statistic": float(ks.statistic),
            "ks_p": float(ks.pvalue),
            "wasserstein": float(stats.wasserstein_distance(first, second)),
            "skewness": float(stats.skew(first)) if spread else None,
            "excess_kurtosis": float(stats.kurtosis(first)) if spread else None,
            "shapiro_w": shapiro and float(shapiro.statistic),
            "shapiro_p": shapiro and float(shapiro.pvalue),
        })
    return cases


def kolmogorov_smirnov(first, second):
    """SciPy's exact answer. Where it rounds to a little above 1, SciPy discards it, warns and takes the limit instead,
    which must then be 1 as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = stats.ks_2samp(first, second)
    assert not caught or found.pvalue == 1.0
    return found
