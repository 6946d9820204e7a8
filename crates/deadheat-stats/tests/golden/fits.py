"""Maximum-likelihood fits of three families to one sample."""

import numpy as np
from scipy import optimize, special, stats

import recipe


def fits():
    cases = []
    for case in recipe.cases():
        values = recipe.first(case)
        spread = np.ptp(values) > 0
        cases.append({
            **case,
            "normal": normal(values) if spread else None,
            "log_normal": log_normal(made_positive(values)) if np.ptp(np.abs(values)) > 0 else None,
            "gumbel": gumbel(values) if spread else None,
        })
    return cases


def normal(values):
    """Location, scale and log-likelihood."""
    location, scale = stats.norm.fit(values)
    return [float(x) for x in (location, scale, stats.norm.logpdf(values, location, scale).sum())]


def made_positive(values):
    """Half the largest size, and each value's own on top."""
    sizes = np.abs(values)
    return sizes + 0.5 * sizes.max()


def log_normal(values):
    """SciPy's shape is the scale of the logarithms, its scale the exponential of their location."""
    shape, _, scale = stats.lognorm.fit(values, floc=0)
    return [float(x) for x in (np.log(scale), shape, stats.lognorm.logpdf(values, shape, 0, scale).sum())]


def gumbel(values):
    """`gumbel_r.fit` stops early; the equation it solves is solved here as far as doubles go."""
    z = (values - values.min()) / np.ptp(values)

    def equation(beta):
        return beta + np.average(z, weights=np.exp(-z / beta)) - z.mean()

    beta = optimize.brentq(equation, 1e-3 * z.mean(), 2 * z.mean(), xtol=1e-15, rtol=8.9e-16)
    location = values.min() - np.ptp(values) * beta * (special.logsumexp(-z / beta) - np.log(len(z)))
    scale = np.ptp(values) * beta
    likelihood = stats.gumbel_r.logpdf(values, location, scale).sum()
    # No worse than SciPy's own fit.
    assert likelihood >= stats.gumbel_r.logpdf(values, *stats.gumbel_r.fit(values)).sum() - 1e-9 * abs(likelihood)
    return [float(x) for x in (location, scale, likelihood)]
