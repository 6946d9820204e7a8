"""A suite of twelve tests, each of which has caught a benchmark tool out: fixtures, setups, names,
a test that is skipped, three that make no sense as benchmarks, and one whose state grows."""

import random

import pytest


@pytest.fixture(scope="session")
def numbers():
    return list(range(1_000))


class TestGroup:
    def test_of_a_class(self, benchmark, numbers):
        assert benchmark(sum, numbers) == 499_500


def test_rounds(benchmark):
    benchmark.pedantic(sorted, args=([3, 1, 2],), rounds=5, iterations=3)


def test_setup(benchmark):
    def shuffled():
        return ([random.random() for _ in range(100)],), {}

    benchmark.pedantic(list.sort, setup=shuffled, rounds=50)


def test_two_calls(benchmark):
    benchmark(sum, [1])
    benchmark(sum, [2])


def test_no_call(benchmark):
    pass


def test_decorator(benchmark):
    @benchmark
    def total():
        return sum(range(100))

    assert total == 4_950


@pytest.mark.parametrize("length", [1, 10], ids=["with/slash", "größer als"])
def test_names(benchmark, length):
    benchmark(lambda: sum(range(length)))


@pytest.mark.skip(reason="not here")
def test_skipped(benchmark):
    benchmark(sum, [1])


def test_grows(benchmark):
    kept = []
    benchmark(lambda: (kept.append(1), sum(kept)))


def test_random_work(benchmark):
    benchmark(lambda: sum(range(random.randrange(100, 200))))


def test_reads_a_file(benchmark, tmp_path):
    path = tmp_path / "text"
    path.write_text("text")
    benchmark(path.read_text)
