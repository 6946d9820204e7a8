"""Rank tests of one and of two samples."""

from scipy import stats

import recipe

EXACT_SIZES = [2, 3, 4, 5, 6, 8, 10, 13, 17, 20, 25, 30, 35, 40, 45, 50, 55, 60]
COMPARED_SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 30, 60, 100, 200, 500, 1000, 2000, 5000]
WITHOUT_TIES = ["bell", "skew", "spiky", "tiny", "huge", "positive"]


def by_recipe():
    return [{**case, **compared(recipe.first(case), recipe.second(case))} for case in recipe.cases()]


def compared(x, y):
    def mann_whitney(**options):
        return float(stats.mannwhitneyu(x, y, **options).pvalue)

    d = x - y if len(x) == len(y) else x
    below, above = int((d < 0).sum()), int((d > 0).sum())
    return {
        "u_first": float(stats.mannwhitneyu(x, y, method="asymptotic").statistic),
        "mann_whitney_continuous": mann_whitney(method="asymptotic", use_continuity=True),
        "mann_whitney_plain": mann_whitney(method="asymptotic", use_continuity=False),
        "mann_whitney_auto": mann_whitney(method="auto"),
        "rank_sum": float(stats.ranksums(x, y).pvalue),
        "signed_rank": float(stats.wilcoxon(d, method="asymptotic", correction=False).pvalue) if d.any() else None,
        "signs": [below, above],
        "sign_test": float(stats.binomtest(below, below + above).pvalue) if below + above else 1.0,
    }


def exactly():
    """Small samples without ties, for which SciPy counts arrangements too."""
    return [
        {**case, **counted(recipe.first(case), recipe.second(case))}
        for case in recipe.cases(sizes=EXACT_SIZES, families=WITHOUT_TIES, rounds=3)
    ]


def counted(x, y):
    return {
        "mann_whitney": float(stats.mannwhitneyu(x, y, method="exact").pvalue),
        "signed_rank": float(stats.wilcoxon(x, method="exact").pvalue),
    }


def as_compare_py_does():
    """What compare.py asks SciPy for, for as few repetitions as it takes and for many."""
    return [
        {**case, "p": float(stats.mannwhitneyu(recipe.first(case), recipe.second(case), alternative="two-sided").pvalue)}
        for case in recipe.cases(sizes=COMPARED_SIZES)
    ]
