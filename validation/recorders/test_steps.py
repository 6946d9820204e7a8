from steps import averaging, multiplying


def test_multiplying(benchmark):
    benchmark(multiplying)


def test_averaging(benchmark):
    benchmark(averaging)
