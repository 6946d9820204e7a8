import os
import google_benchmark as benchmark

MORE = 1.5 if os.environ.get("SLOWER") else 1.0


@benchmark.register
@benchmark.option.arg(64)
@benchmark.option.arg(256)
def sum(state):
    n = int(state.range(0) * MORE)
    while state:
        a = 0
        for i in range(n):
            a += i


@benchmark.register
def counters(state):
    n = 0
    while state:
        n += 1
    state.counters["plain"] = 42
    state.counters["rate"] = benchmark.Counter(n, benchmark.Counter.kIsRate)
    state.counters["not_a_number"] = float("nan")
    state.counters["endless"] = float("inf")
    state.items_processed = n
    state.set_label("größe")


@benchmark.register(name="in seconds")
@benchmark.option.unit(benchmark.kSecond)
def seconds(state):
    while state:
        pass


@benchmark.register
def failed(state):
    state.skip_with_error("no input")


if __name__ == "__main__":
    benchmark.main()
