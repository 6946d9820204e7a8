import pytest


def test_small(benchmark):
    benchmark(sum, [1, 2, 3])


class TestSort:
    def test_sort(self, benchmark):
        benchmark(sorted, [3, 1, 2] * 20)


@pytest.mark.skip(reason="not today")
def test_skipped(benchmark):
    benchmark(sum, [])


def test_without_benchmark():
    assert True
