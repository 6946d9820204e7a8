"""Distribution functions: rows of arguments and, last, the value."""

from scipy import special, stats

DFS = [1, 1.5, 2, 3, 4, 5, 6, 7, 9, 10, 15, 21, 30, 39, 61, 87, 100, 250, 1000, 4999, 5001, 2e4, 1e5, 1e6]
LEVELS = [0.9, 0.6, 0.4, 0.1, 0.05, 0.0199, 0.00290, 1e-3, 0.000183, 1e-4, 1e-6, 1e-8, 1e-12]
TS = [0.01, 0.1, 0.5, 1.0, 1.2, 1.7, 1.8, 2.5, 4.0, 4.734239, 9.0, 15.0, 30.0]
BINOMIALS = [
    (0, 10, 0.5), (3, 10, 0.5), (7, 10, 0.3), (12, 40, 0.5), (30, 40, 0.25), (499, 1000, 0.5), (560, 1000, 0.5),
    (1, 1000, 0.01), (25, 1000, 0.01), (50200, 100000, 0.5), (980, 1000000, 0.001), (0, 5, 0.9), (5, 5, 0.9),
    (17, 23, 1 / 3), (2, 7, 2 / 3),
]


def binomials():
    yield from BINOMIALS
    for n in [2, 5, 11, 30, 100, 777, 5000]:
        for p in [0.002, 0.05, 1 / 3, 0.5, 0.9]:
            centre = round(n * p)
            for away in [-0.1, -0.03, 0.0, 0.02, 0.06, 0.15, 0.4, 0.7, 0.95]:
                yield min(max(centre + round(away * n), 0), n), n, p


def cumulative(k, n, p):
    """bdtr; where many trials cost it digits (1.7e-9 at a million) the function it is made of, which keeps them."""
    return special.bdtr(k, n, p) if n < 1e5 else special.betainc(n - k, k + 1, 1 - p)


def f_tails():
    """Quiet and loud ratios for few and many degrees of freedom, far into both tails."""
    for df1 in [1, 2, 3, 5.5, 10, 39, 250, 5000, 1e5]:
        for df2 in [1, 2, 4, 7.5, 20, 87, 960, 1e4, 1e6]:
            # In standard deviations of ln f, and a bit.
            spread = (2 / df1 + 2 / df2) ** 0.5
            for away in [-6.0, -2.5, -0.7, 0.1, 1.3, 4.0, 9.0]:
                f = 2.718281828 ** (away * spread)
                # The last tails before underflow have no digits to compare.
                if special.fdtrc(df1, df2, f) > 1e-290:
                    yield f, df1, df2


def chi_squared_tails():
    """Few and many degrees of freedom, far into both tails."""
    for df in [1, 2, 3, 4.5, 7, 12, 30, 99, 250, 1000, 5000.5, 3e4, 1e6]:
        for away in [-3.5, -2, -1.1, -0.6, -0.2, 0, 0.1, 0.5, 0.9, 1.5, 2, 2.7, 3.3, 4, 5.5, 7, 9, 12, 16]:
            # In standard deviations from the mean, and in powers of two.
            for x in [max(df + away * (2 * df) ** 0.5, 0.0), df * 2.0**away]:
                if x > 0 and special.chdtrc(df, x) > 1e-290:
                    yield x, df


def tables():
    zs = [z / 8 for z in range(-300, 67)] + [-37.0, -2.4999, 1e-9]
    ps = [10.0**-e for e in range(1, 301, 3)] + [i / 211 for i in range(1, 211)]
    return {
        "t_critical": [[level, df, -special.stdtrit(df, level / 2)] for df in DFS for level in LEVELS],
        "t_two_sided_p": [[t, df, 2 * special.stdtr(df, -t)] for df in DFS for t in TS],
        "t_log_density": [[t, df, stats.t.logpdf(t, df)] for df in DFS for t in TS],
        "normal_cdf": [[z, special.ndtr(z)] for z in zs],
        "normal_quantile": [[p, special.ndtri(p)] for p in ps],
        "binomial_two_sided_p": [[k, n, p, stats.binomtest(k, n, p).pvalue] for k, n, p in binomials()],
        "binomial_cdf": [[k, n, p, cumulative(k, n, p)] for k, n, p in binomials()],
        "f_upper_tail": [[f, df1, df2, special.fdtrc(df1, df2, f)] for f, df1, df2 in f_tails()],
        "chi_squared_upper_tail": [[x, df, special.chdtrc(df, x)] for x, df in chi_squared_tails()],
    }
