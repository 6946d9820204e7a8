"""Comparison of outputs: what agrees, and what an error says of what does not."""

from __future__ import annotations

import array
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest

import deadheat
from deadheat._outputs import Tolerance, describe, difference

NAN, OTHER_NAN = float("nan"), float("nan")
EXACT = Tolerance()
FEW = {"max_replicates": 6, "blocks": 4, "seed": 7}


@dataclass
class Point:
    x: float
    y: object = None


class Plain:
    pass


def described(baseline, candidate, tolerance=EXACT):
    outputs = baseline, candidate
    found = difference(True, tolerance, *outputs)
    return found and describe(found, ("old", "new"), outputs, None)


EQUAL = [
    (1, 1.0),
    (NAN, OTHER_NAN),
    ([1, NAN, "a"], [1, OTHER_NAN, "a"]),
    ({"a": {"b": (NAN, 2)}}, {"a": {"b": (OTHER_NAN, 2)}}),
    (Point(NAN, [1]), Point(OTHER_NAN, [1])),
    (complex(NAN, 1), complex(OTHER_NAN, 1)),
    (Decimal("NaN"), Decimal("NaN")),
    (array.array("d", [1, NAN]), array.array("d", [1, OTHER_NAN])),
    ({1: 2, 3: 4}, {3: 4, 1: 2}),
]


@pytest.mark.parametrize(("baseline", "candidate"), EQUAL)
def test_equal_outputs_agree_and_so_does_nan(baseline, candidate):
    assert difference(True, EXACT, baseline, candidate) is None


DIFFERENT = [
    (3, 4, "'new' returned 4, 'old' 3"),
    (1.0, NAN, "'new' returned nan, 'old' 1.0"),
    ([1, 2, 3], [1, 5, 3], "at [1] 'new' returned 5, 'old' 2"),
    ([1, 2], [1, 2, 3], "the length is 3, not 2: "),
    ({"id": 5, "v": [0, {"w": 1}]}, {"id": 5, "v": [0, {"w": 2}]}, "at ['v'][1]['w'] 'new'"),
    ({"a": 1, "b": 2}, {"a": 1}, "the key 'b' is missing: "),
    ({"a": 1}, {"a": 1, "b": 2}, "the key 'b' is unexpected: "),
    (OrderedDict(a=NAN, b=1), OrderedDict(b=1, a=OTHER_NAN), "the order of the keys: "),
    ([1], (1,), "'new' returned (1,), 'old' [1]"),
    (Point(1, {"z": 1}), Point(1, {"z": 2}), "at .y['z'] 'new' returned 2, 'old' 1"),
    ("abcdef", "abcxef", "from character 3 on: 'new' returned 'abcxef'"),
    (Plain(), Plain(), "a Plain equals only itself, as it has no __eq__"),
    ({1, 2}, {1, 3}, "'new' returned {1, 3}, 'old' {1, 2}"),
    (None, 0, "'new' returned 0, 'old' None"),
]


@pytest.mark.parametrize(("baseline", "candidate", "words"), DIFFERENT)
def test_the_first_difference_is_named_with_both_values(baseline, candidate, words):
    found = difference(True, EXACT, baseline, candidate)
    said = describe(found, ("old", "new"), (baseline, candidate), 77)
    assert words in said
    assert said.endswith("(input of seed 77)")


def test_long_outputs_are_shortened_to_one_line():
    outputs = [["x" * 10**6] * 1_000], [["\n" * 10**6] * 1_000]
    said = described(*outputs)
    assert said.startswith("at [0][0] 'new' returned ")
    assert "; whole outputs: [[" in said
    assert len(said) < 900
    assert "\n" not in said
    assert "seed" not in said


def test_an_output_whose_repr_fails_is_named_by_its_class():
    class Silent:
        def __repr__(self):
            raise ValueError

    assert "Silent" in described(1, Silent())


@pytest.mark.parametrize(
    ("baseline", "candidate", "tolerance", "agree"),
    [
        (sum([0.1] * 10), 0.1 * 10, Tolerance(rtol=1e-12), True),
        (100, 101, Tolerance(rtol=0.01), True),
        (100, 102, Tolerance(rtol=0.01), False),
        (0.0, 1e-9, Tolerance(rtol=1e-3), False),
        (0.0, 1e-9, Tolerance(atol=1e-8), True),
        ([{"a": (1.0, NAN)}], [{"a": (1.0 + 1e-9, OTHER_NAN)}], Tolerance(atol=1e-8), True),
        (Point(1.0), Point(1.0 + 1e-9), Tolerance(atol=1e-8), True),
        (Fraction(1, 3), 1 / 3, Tolerance(rtol=1e-9), True),
        (Decimal("1.00"), Decimal("1.01"), Tolerance(rtol=0.1), True),
        (1 + 1j, 1 + 1.0001j, Tolerance(rtol=0.01), True),
        (float("inf"), 5.0, Tolerance(rtol=0.1), False),
        (float("inf"), float("inf"), Tolerance(rtol=0.1), True),
        ("1.0", "1.01", Tolerance(rtol=0.1), False),
    ],
)
def test_numbers_may_differ_by_a_tolerance_wherever_they_are(baseline, candidate, tolerance, agree):
    assert (difference(True, tolerance, baseline, candidate) is None) == agree


def test_a_function_of_the_user_decides():
    assert difference(lambda a, b: len(a) == len(b), EXACT, [1], [2]) is None
    assert difference(lambda a, b: a is b, EXACT, [1], [1]) is not None


def test_arrays_of_numpy_are_compared_by_numpy():
    numpy = pytest.importorskip("numpy")
    array = numpy.array

    said = described
    assert said(array([1.0, NAN]), array([1.0, NAN])) is None
    assert said(array([[1, 2], [3, 4]]), array([[1, 2], [3, 5]])).startswith("at [1, 1] ")
    assert "the shape is (3,), not (2,)" in said(numpy.zeros(2), numpy.zeros(3))
    assert said(array([1.0]), array([1.0 + 1e-9])) is not None
    assert said(array([1.0]), array([1.0 + 1e-9]), tolerance=Tolerance(atol=1e-8)) is None
    assert said({"a": [array([1.0, NAN])]}, {"a": [array([1.0, NAN])]}) is None
    assert said({"a": [array([1.0])]}, {"a": [array([2.0])]}).startswith("at ['a'][0][0] ")
    assert said(array(["a", "b"]), array(["a", "c"])).startswith("at [1] ")
    assert said(array([2**60]), array([2**60 + 1])) is not None
    assert said(numpy.float64(NAN), NAN) is None
    assert said(numpy.float64(1), numpy.float64(2)) is not None
    masked = numpy.ma.array([1, 2], mask=[False, True])
    assert said(masked, masked.copy()) is None
    assert said(masked, numpy.ma.array([1, 2])) is not None


def test_an_array_and_a_number_are_different_outputs():
    numpy = pytest.importorskip("numpy")
    for one, other in [(numpy.zeros(9), 0), (numpy.zeros(9), [0]), (numpy.array([]), 5)]:
        assert described(one, other)
        assert described(other, one)
    assert described(numpy.array([1, 2]), [1, 2]) is None
    assert described(numpy.float64(2), 2.0) is None
    assert described(numpy.bool_(True), True) is None


def test_tables_of_pandas_are_compared_by_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, NAN], "b": ["x", "y"]})
    near = frame.assign(a=[1.0 + 1e-9, NAN])
    assert difference(True, EXACT, frame, frame.copy()) is None
    assert difference(True, EXACT, [frame.a], [frame.a.copy()]) is None
    assert 'column name="a"' in described(frame, near)
    assert difference(True, Tolerance(rtol=1e-6), frame, near) is None
    assert difference(True, EXACT, frame.index, frame.index + 1) is not None
    assert difference(True, EXACT, frame, frame[["a"]]) is not None
    assert difference(True, EXACT, pandas.NaT, pandas.NaT) is None


def test_a_race_says_which_input_gave_which_outputs():
    with pytest.raises(deadheat.RaceFailed) as failed:
        deadheat.race(
            lambda n: {"id": 1, "v": [n % 2]},
            lambda n: {"id": 1, "v": [2]},
            input=lambda seed: seed,
            check_outputs=True,
            **FEW,
        )
    said = str(failed.value)
    told = "'new' returns a different output than 'old' for the same input: at ['v'][0] 'new'"
    assert told in said
    assert "(input of seed " in said
    assert "\n" not in said


def test_tolerances_and_nan_hold_in_a_race():
    def added():
        return [sum(map(float, ["0.1", "0.2"])), NAN]

    def written():
        return [float("0.3"), NAN]

    deadheat.race(added, written, check_outputs=True, rtol=1e-9, **FEW)
    with pytest.raises(
        deadheat.RaceFailed, match=r"at \[0\] 'written' returned 0\.3, 'added' 0\.30+4"
    ):
        deadheat.race(added, written, check_outputs=True, **FEW)


@pytest.mark.parametrize("check", [False, lambda a, b: True])
def test_tolerances_that_have_no_effect_are_refused(check):
    with pytest.raises(deadheat.UsageError, match="need check_outputs=True"):
        deadheat.race(abs, abs, check_outputs=check, rtol=0.1)


def test_a_benchmark_of_a_file_has_tolerances_too(worker):
    spoken = worker(
        "@deadheat.benchmark(check_outputs=True, atol=0.1, candidates=[lambda: 1.05, lambda: 2])\n"
        "def f(): return 1"
    )
    spoken.heard()
    spoken.prepare("f")
    failed = spoken.ask("smoke", seed=1)["failed"]
    assert failed["contender"] == 2
    detail = failed["problem"]["output_differs"]["detail"]
    assert detail == "'<lambda> #2' returned 2, 'f' 1"
