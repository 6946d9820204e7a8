"""p-values adjusted over families of hypotheses."""

import numpy as np
from statsmodels.stats.multitest import multipletests


def families():
    rng = np.random.default_rng(1995)
    cases = []
    for number in range(300):
        size = [1, 2, 3, 5, 8, 13, 20, 30, 60][number % 9]
        p = rng.uniform(0, 1, size) ** (1 + number % 4)
        if size >= 8 and number % 2 == 0:
            p[4:8] = p[3]
        if size >= 3 and number % 5 == 0:
            p[:2] = [0.0, 1.0]
        cases.append({
            "p": p.tolist(),
            "holm": multipletests(p, method="holm")[1].tolist(),
            "benjamini_hochberg": multipletests(p, method="fdr_bh")[1].tolist(),
        })
    return cases
