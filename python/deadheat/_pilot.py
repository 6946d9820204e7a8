"""Checks the first calls of a benchmark for anything that would make its times meaningless.

Only the pilot and the smoke test run these checks, before they time anything.
"""

from __future__ import annotations

from time import perf_counter_ns

from deadheat._errors import Refused
from deadheat._inputs import (
    Part,
    State,
    has_rest,
    is_rewindable,
    is_used_up,
    one_shot,
    parts_of,
    within,
)
from deadheat._lazy import Lazy, kind_of, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from deadheat._benchmarks import Benchmark

# If the first call takes longer, no second call checks how it handles a used input.
LONG_NS = 100_000_000

BY_PYPERF = "or let pyperf measure the script (--harness pyperf)"


class Examination:
    """Checks the first calls of each contender; `call` calls it and `make` makes an input."""

    def __init__(
        self, benchmark: Benchmark, call: Callable[[int], Any], make: Callable[[], Any]
    ) -> None:
        self._benchmark = benchmark
        self._call = call
        self._make = make
        self._given: Any = None
        # By contender: the kind of its output before draining, and its uncomputed part.
        self._kinds: dict[str, str] = {}
        self._lazy: dict[str, Lazy | None] = {}
        self.notes: list[str] = []
        # True while no call has changed the current input.
        self.is_fresh = False

    def look(self, number: int, name: str, function: Callable[..., Any]) -> bool:
        """Calls a contender, and returns whether its calls need an input each."""
        benchmark = self._benchmark
        if not self.is_fresh:
            self._given, self.is_fresh = self._make(), True
        given = None
        if benchmark.input is not None and not benchmark.input_per_call:
            given = Part("its input", self._given, True)
            refuse_iterators(given)
        # pyperf has made the function that times itself, and its arguments.
        parts = [] if benchmark.times_itself else parts_of(benchmark, function)
        begun = perf_counter_ns()
        output = self._call(number)
        is_short = perf_counter_ns() - begun < LONG_NS
        self._kinds.setdefault(name, kind_of(output))
        found = self._lazy[name] = lazy(output)
        # To ask a query or a lazy frame for its length would compute it.
        calls = Calls(lambda: self._call(number), None if found else output, is_short)
        label = benchmark.label(name)
        changes = given is not None and self._changes_input(label, given, calls)
        for part in parts:
            self._look_at(label, part, calls)
        if given is None and not benchmark.input_per_call and not benchmark.times_itself:
            refuse_empty(calls, self._way_out())
        return changes

    def saw(self, name: str, output: Any) -> None:
        """Records the kind of an output before it is drained."""
        self._kinds[name] = kind_of(output)

    # The input.

    def _changes_input(self, label: str, given: Part, calls: Calls) -> bool:
        """Returns whether a call changes its input, so that the next call needs a new one."""
        is_left = self._benchmark.input_per_call is False
        after = State(given.value)
        files = [value for value in within(given.value) if is_rewindable(value)]
        changed = given.before != after
        if changed or after.is_blind or files:
            self.is_fresh = False
        if files and (changed or after.is_blind):
            # A function that rewinds its file is fine.
            if calls.repeat_the_first():
                return False
            if not is_left:
                raise Refused(
                    "cannot be raced: its input is an open file or a cursor "
                    f"({type(files[0]).__name__}), which the first call reads to its end; give "
                    "every call its own input (input_per_call=True), or let all calls share it "
                    "(input_per_call=False)"
                )
        if not changed and after.is_blind:
            changed = self._fails_on_used_input(calls)
        if changed and is_left:
            self._note_change(label, given)
        elif changed:
            self.notes.append(
                f"{label} changes {given.named()}, so every call gets its own input, made outside "
                "the timed calls. With input_per_call=False, all calls of a block share one input."
            )
        return changed and not is_left

    def _fails_on_used_input(self, calls: Calls) -> bool:
        """Returns whether a second call on the input fails or returns another output, while a call
        on a fresh input does not. Only this reveals a change of an input without a pickle."""
        again = calls.again()
        if again is None or again.is_like_the_first:
            return False
        self._given = self._make()
        return calls.once_more().is_like_the_first

    # Arguments and captured variables.

    def _look_at(self, label: str, part: Part, calls: Calls) -> None:
        """Refuses a value that calls use up, and notes a value that they change."""
        benchmark, used_up = self._benchmark, "is used up by the first call"
        if one_shot(part.value) is not None:
            if is_used_up(part.value):
                self._refuse(part, used_up)
            return
        after = State(part.value)
        if after == part.before:
            return
        if is_rewindable(part.value):
            read = part.had_rest and not has_rest(part.value)
            if read and not calls.repeat_the_first():
                self._refuse(part, used_up)
            return
        before, now = part.before.length, after.length
        if before and now == 0:
            self._refuse(part, used_up)
        if before is not None and now is not None and before != now:
            again = calls.again()
            later = State(part.value).length if again else None
            if later is not None and later < now < before:
                self._refuse(part, "shrinks with every call")
            if not part.is_given:
                # A value that grows only once is a memo.
                if later is not None and later > now > before:
                    self.notes.append(
                        f"{part.named()} grows with every call of {label}, so later calls may take "
                        "longer."
                    )
                return
        is_counter = isinstance(part.value, (dict, set)) or (before or 0) < 2
        # A captured array may be a buffer that the function writes to on purpose.
        is_data = part.is_plain if part.is_given else part.is_sequence and not is_counter
        if is_data and not benchmark.is_test:
            if benchmark.input_per_call is not False:
                shared = "; with input_per_call=False, all calls share the changed one"
                self._refuse(part, "is changed by a call, so later calls see the change", shared)
            self._note_change(label, part)
        elif part.is_given or not is_counter:
            self._note_change(label, part)

    def _note_change(self, label: str, part: Part) -> None:
        pedantic = ""
        if self._benchmark.is_test and not self._benchmark.is_script:
            pedantic = " benchmark.pedantic(…, setup=…) makes a new one for every call."
        self.notes.append(
            f"{label} changes {part.named()}, which all calls share: every call but the first "
            f"finds it changed.{pedantic}"
        )

    def _refuse(self, part: Part, what: str, more: str = "") -> None:
        raise Refused(f"cannot be raced: {part.named()} {what}; {self._way_out()}{more}")

    def _way_out(self) -> str:
        if self._benchmark.is_script:
            return f"make it in the function, {BY_PYPERF}"
        if self._benchmark.is_test:
            return "make it in the `setup` of benchmark.pedantic, or in the function"
        return "make it in `input`, one for every call (input_per_call=True)"

    # The outputs.

    def refuse_lazy(self, name: str) -> None:
        """Refuses a contender whose output is not computed yet."""
        benchmark, found = self._benchmark, self._lazy[name]
        if found is None or benchmark.drain is False:
            return
        if benchmark.is_test and found.is_own:
            label = benchmark.label(name)
            self.notes.append(f"{label} returns {found.what}, with nothing computed yet.")
            return
        if benchmark.drain is not None:
            raise Refused(f"cannot be raced: drain leaves {found.what}, with nothing computed")
        others = [
            f", while {other!r} returns {kind}"
            for other, kind in self._kinds.items()
            if self._lazy[other] is None
        ]
        way_out = found.way_out
        if benchmark.is_test:
            way_out = "compute it in the function, as list() does"
            if benchmark.is_script:
                way_out = f"{way_out}, {BY_PYPERF}"
        elif "drain" in way_out:
            way_out += "; drain=False times only its creation"
        raise Refused(
            f"returns {found.what}, with nothing computed yet{''.join(others)}: {way_out}"
        )

    def note_kinds(self) -> None:
        """Notes that the drained outputs are of different kinds."""
        if callable(self._benchmark.drain) and len(set(self._kinds.values())) > 1:
            told = " and ".join(f"{name!r} returns {kind}" for name, kind in self._kinds.items())
            self.notes.append(f"{told}: deadheat applies drain to all of them, in the timed calls.")


def refuse_iterators(given: Part) -> None:
    for value in within(given.value):
        what = one_shot(value)
        if what is not None:
            where = "its input is" if value is given.value else "its input holds"
            raise Refused(
                f"cannot be raced: {where} {what}, which the first call uses up; make a list of it "
                "in `input`, or give every call its own input (input_per_call=True)"
            )


def refuse_empty(calls: Calls, way_out: str) -> None:
    """Refuses a function whose second and third call return empty outputs."""
    if is_empty(calls.first) is not False:
        return
    again = calls.again()
    if again is None or not again.is_empty or not calls.once_more().is_empty:
        return
    raise Refused(
        f"cannot be raced: its first call returns {kind_of(calls.first)} of {calls.length} and its "
        f"second an empty one, so the first call uses up its data; {way_out}"
    )


class Call:
    """A later call: whether its output equals that of the first call, and whether it is empty."""

    def __init__(self, is_like_the_first: bool, is_empty: bool) -> None:
        self.is_like_the_first = is_like_the_first
        self.is_empty = is_empty


class Calls:
    """The first call of a function, and further calls that check how it handles a used input."""

    def __init__(self, call: Callable[[], Any], first: Any, is_short: bool) -> None:
        self._call = call
        self.first = first
        self._seen = State(first)
        self.length = self._seen.length
        self._is_empty = is_empty(first)
        self._is_short = is_short
        self._again: Call | None = None

    def again(self) -> Call | None:
        """Makes the second call, once; None for a slow function."""
        if self._again is None and self._is_short:
            self._again = self.once_more()
        return self._again

    def once_more(self) -> Call:
        try:
            output = self._call()
        except Exception:
            return Call(False, False)
        return Call(State(output) == self._seen, is_empty(output) is True)

    def repeat_the_first(self) -> bool:
        """Returns whether the second call returns the output of the first, and it is not empty."""
        again = self.again()
        return again is not None and again.is_like_the_first and self._is_empty is not True


def is_empty(output: Any) -> bool | None:
    """Returns whether an output is empty or None; None if it has no length."""
    if output is None:
        return True
    try:
        return len(output) == 0
    except Exception:
        return None
