"""Comparison of outputs: whether two agree, and where they first differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# Messages show at most this many characters of an output.
MOST_SHOWN = 120


class Difference(NamedTuple):
    """The first place at which two outputs differ, such as `['v'][3]`; empty for the whole output.

    Holds the two values at that place, or else a description of the difference.
    """

    place: str
    baseline: Any
    candidate: Any
    words: str = ""

    def below(self, place: str) -> Difference:
        return self._replace(place=place + self.place)


class Tolerance(NamedTuple):
    """Numbers agree if they differ by at most `atol + rtol · |number of the baseline|`."""

    rtol: float = 0.0
    atol: float = 0.0

    def holds(self, baseline: Any, candidate: Any) -> bool:
        if baseline != baseline and candidate != candidate:  # Both are NaN.
            return True
        if not any(self) or baseline == candidate:
            return bool(baseline == candidate)
        if not isinstance(baseline, complex) and not isinstance(candidate, complex):
            baseline, candidate = float(baseline), float(candidate)
        return bool(abs(candidate - baseline) <= self.atol + self.rtol * abs(baseline) < INFINITE)


INFINITE = float("inf")


def difference(
    check: bool | Callable[[Any, Any], Any], tolerance: Tolerance, baseline: Any, candidate: Any
) -> Difference | None:
    """Compares two outputs with the user's function, or by `==` except that NaN equals NaN."""
    if callable(check):
        return None if truth(check(baseline, candidate)) else Difference("", baseline, candidate)
    return first_difference(baseline, candidate, tolerance)


def truth(equal: Any) -> bool:
    """The result of a comparison as a bool; arrays compare element by element."""
    return bool(equal.all() if hasattr(equal, "all") else equal)


def shape_of(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return shape
    return (len(value),) if isinstance(value, (list, tuple)) else ()


def are_equal(baseline: Any, candidate: Any) -> bool:
    try:
        if baseline is candidate:
            return True
        equal = baseline == candidate
        # An array of zeros equals 0 in all places, and an empty array equals any number.
        shapes = [shape_of(each) for each in (baseline, candidate)]
        is_spread = hasattr(equal, "all") and shapes[0][:1] != shapes[1][:1]
        return not is_spread and truth(equal)
    except Exception:  # Arrays of different shapes, or tables with different columns.
        return False


def first_difference(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    library = type(baseline).__module__.partition(".")[0]
    if library == "pandas" and type(baseline) is type(candidate):
        return of_pandas(baseline, candidate, tolerance)
    if library in ("torch", "cupy") or hasattr(type(baseline), "copy_to_host"):
        from deadheat._gpu_arrays import is_array

        if is_array(baseline) and is_array(candidate):
            return of_gpu_arrays(baseline, candidate, tolerance)
    if library == "numpy" and all(hasattr(each, "shape") for each in (baseline, candidate)):
        return of_arrays(baseline, candidate, tolerance)
    if are_equal(baseline, candidate):
        return None
    whole = Difference("", baseline, candidate)
    if is_number(baseline) and is_number(candidate):
        return None if tolerance.holds(baseline, candidate) else whole
    both = baseline, candidate
    if all(isinstance(each, Mapping) for each in both):
        return of_mappings(baseline, candidate, tolerance)
    if any(all(isinstance(each, kind) for each in both) for kind in (list, tuple)):
        return of_sequences(baseline, candidate, tolerance)
    if type(baseline) is not type(candidate):
        return whole
    if isinstance(baseline, (str, bytes)):
        place = next((n for n, (a, b) in enumerate(zip(*both)) if a != b), min(map(len, both)))
        return whole._replace(words=f"from character {place} on") if place else whole
    return of_objects(baseline, candidate, tolerance)


def is_number(value: Any) -> bool:
    from numbers import Number

    return isinstance(value, Number)


def of_mappings(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    for key in baseline:
        if key not in candidate:
            return Difference("", baseline, candidate, f"the key {shown(key)} is missing")
    for key in candidate:
        if key not in baseline:
            return Difference("", baseline, candidate, f"the key {shown(key)} is unexpected")
    for key in baseline:
        found = first_difference(baseline[key], candidate[key], tolerance)
        if found:
            return found.below(f"[{shown(key)}]")
    if type(baseline) is type(candidate) and list(baseline) != list(candidate):
        # Only ordered dicts: other dicts with the same items are equal or contain NaN.
        from collections import OrderedDict

        if isinstance(baseline, OrderedDict):
            return Difference("", baseline, candidate, "the order of the keys")
    return None


def of_sequences(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    for index, (one, other) in enumerate(zip(baseline, candidate)):
        found = first_difference(one, other, tolerance)
        if found:
            return found.below(f"[{index}]")
    if len(baseline) != len(candidate):
        words = f"the length is {len(candidate)}, not {len(baseline)}"
        return Difference("", baseline, candidate, words)
    return None


def of_objects(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    """Compares two unequal objects of one class. They agree if they differ only in NaN, or in
    numbers within the tolerance."""
    kind: Any = type(baseline)
    # The fields of dataclasses and attrs classes.
    fields = list(getattr(kind, "__dataclass_fields__", ()))
    fields += [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    if fields:
        for name in fields:
            found = first_difference(
                getattr(baseline, name, None), getattr(candidate, name, None), tolerance
            )
            if found:
                return found.below(f".{name}")
        return None
    if hasattr(baseline, "tolist"):  # Arrays of the standard library, tensors.
        return first_difference(baseline.tolist(), candidate.tolist(), tolerance)
    words = ""
    if kind.__eq__ is object.__eq__:
        name = kind.__name__
        words = f"a {name} equals only itself, as it has no __eq__; give check_outputs a function"
    return Difference("", baseline, candidate, words)


def of_arrays(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    import numpy

    if baseline.shape != candidate.shape:
        words = f"the shape is {candidate.shape}, not {baseline.shape}"
        return Difference("", baseline, candidate, words)
    try:
        if isinstance(baseline, numpy.ma.MaskedArray):
            raise TypeError
        equal = numpy.isclose(
            candidate, baseline, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True
        )
        if not any(tolerance):
            # `isclose` then means equality, except for integers beyond 2^53.
            equal &= (candidate == baseline) | (candidate != candidate)
    except TypeError:  # Strings, dates, objects, records and masked arrays.
        return first_difference(baseline.tolist(), candidate.tolist(), tolerance)
    if equal.all():
        return None
    at = tuple(int(index) for index in numpy.argwhere(~numpy.asarray(equal))[0])
    place = f"[{', '.join(map(str, at))}]" if at else ""
    return Difference(place, baseline[at], candidate[at])


def of_gpu_arrays(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    """Compares arrays of torch, CuPy or Numba where they are, and fetches the first difference."""
    from deadheat import _gpu_arrays

    if tuple(baseline.shape) != tuple(candidate.shape):
        words = f"the shape is {tuple(candidate.shape)}, not {tuple(baseline.shape)}"
        return Difference("", baseline, candidate, words)
    at = _gpu_arrays.first_apart(baseline, candidate, tolerance.rtol, tolerance.atol)
    if at is None:
        return None
    place = f"[{', '.join(map(str, at))}]" if at else ""
    return Difference(place, _gpu_arrays.element(baseline, at), _gpu_arrays.element(candidate, at))


def of_pandas(baseline: Any, candidate: Any, tolerance: Tolerance) -> Difference | None:
    if getattr(baseline, "equals", None) is None:  # A scalar, such as a date.
        same = are_equal(baseline, candidate) or (baseline != baseline and candidate != candidate)
        return None if same else Difference("", baseline, candidate)
    if baseline.equals(candidate):
        return None
    import pandas
    from pandas import testing

    whole = Difference("", baseline, candidate)
    checks = {
        pandas.DataFrame: testing.assert_frame_equal,
        pandas.Series: testing.assert_series_equal,
        pandas.Index: testing.assert_index_equal,
    }
    check = next((check for kind, check in checks.items() if isinstance(baseline, kind)), None)
    if check is None:
        return whole
    closeness: dict[str, Any] = {"check_exact": True}
    if any(tolerance):
        closeness = {"check_exact": False, "rtol": tolerance.rtol, "atol": tolerance.atol}
    try:
        check(baseline, candidate, **closeness)
    except AssertionError as error:
        return whole._replace(words=" ".join(str(error).split()))
    return None  # Close enough.


def shown(value: Any) -> str:
    """The value as a short string on one line."""
    from reprlib import Repr

    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    try:
        text = " ".join(short.repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def describe(
    found: Difference, names: tuple[str, str], outputs: tuple[Any, Any], seed: int | None
) -> str:
    """Describes a difference in one sentence. `names` and `outputs` list the baseline first;
    `seed` is the seed of the input."""
    words = f"{found.words[: 2 * MOST_SHOWN]}: " if found.words else ""
    place = f"at {found.place} " if found.place else ""
    said = f"'{names[1]}' returned {shown(found.candidate)}, '{names[0]}' {shown(found.baseline)}"
    whole = f"; whole outputs: {shown(outputs[1])} and {shown(outputs[0])}" if place else ""
    given = "" if seed is None else f" (input of seed {seed})"
    return f"{place}{words}{said}{whole}{given}"
