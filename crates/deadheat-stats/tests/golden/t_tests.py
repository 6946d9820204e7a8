"""Welch's, Student's and the normal test of a difference of means, and one-way analysis of variance."""

import numpy as np
from scipy import stats

import recipe

REPLICATES = [2, 3, 4, 6, 11, 40]


def t_tests():
    cases = []
    for number, case in enumerate(recipe.cases()):
        first, second = recipe.first(case), recipe.second(case)
        # As many pairs as the shorter sample allows.
        pairs = min(len(first), len(second))
        differences = second[:pairs] - first[:pairs]
        cases.append({
            **case,
            "welch": independent(first, second, equal_var=False),
            "student": independent(first, second, equal_var=True),
            "paired": paired(differences),
            "z": normal(differences),
            "anova": anova(first, min(REPLICATES[number % len(REPLICATES)], case["n"] // 2)),
        })
    return cases


def independent(first, second, equal_var):
    """difference, t, df, p, and the 95 % interval; None where neither side has any spread."""
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return None
    return described(stats.ttest_ind(second, first, equal_var=equal_var), second.mean() - first.mean())


def paired(differences):
    if np.ptp(differences) == 0:
        return None
    return described(stats.ttest_1samp(differences, 0.0), differences.mean())


def described(result, difference):
    interval = result.confidence_interval(0.95)
    return [float(x) for x in (difference, result.statistic, result.df, result.pvalue, interval.low, interval.high)]


def normal(differences):
    """mean, standard error, z and p."""
    if np.ptp(differences) == 0:
        return None
    se = stats.sem(differences)
    z = differences.mean() / se
    return [float(x) for x in (differences.mean(), se, z, 2 * stats.norm.sf(abs(z)))]


def anova(values, replicates):
    """Replicates and, for them, F and p; replicate i ends before n·(i + 1)/P. None without spread within."""
    if replicates < 2:
        return None
    ends = [len(values) * i // replicates for i in range(replicates + 1)]
    groups = [values[a:b] for a, b in zip(ends, ends[1:])]
    if all(np.ptp(group) == 0 for group in groups):
        return None
    f, p = stats.f_oneway(*groups)
    return [replicates, float(f), float(p)]
