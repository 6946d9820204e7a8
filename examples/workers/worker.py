#!/usr/bin/env python3
"""A worker, as docs/protocol.md describes it. Put your own functions into BENCHMARKS, then
    deadheat bench examples/workers/worker.py"""
import json, os, random, sys, time

def numbers(seed):
    return random.Random(seed).choices(range(1_000_000), k=200)

# By name: what makes an input from a seed, and the contenders, the baseline first.
BENCHMARKS = {
    "sum": (numbers, {"generator": lambda numbers: sum(n for n in numbers), "list": sum}),
    "sort": (numbers, {"sorted": sorted}),
}

def sample(function, given, iterations):
    cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    for _ in range(iterations):
        function(given)
    wall_ns = time.perf_counter_ns() - wall
    return [wall_ns, time.thread_time_ns() - cpu]

def calibrate(functions, given, least_ns, **_):
    call_ns = []
    for function in functions:
        iterations = 1
        while sample(function, given, iterations)[0] < least_ns:
            iterations *= 2
        call_ns.append(min(sample(function, given, iterations)[0] for _ in range(3)) / iterations)
    return "calibrated", {"iterations": 1 + int(least_ns / min(call_ns)), "call_ns": call_ns}

def warm_up(functions, given, order, iterations, **_):
    rounds, idle, took, best = 0, 0, 0, float("inf")
    while idle < 2 and rounds < 50 and took < 1e7:
        took = sum(sample(functions[i], given, iterations)[0] for i in order)
        rounds, idle = rounds + 1, 0 if took < 0.99 * best else idle + 1
        best = min(best, took)
    return "warm", {"rounds": rounds}

def block(functions, given, turns, iterations, unrecorded=0, unrecorded_iterations=1, **_):
    values, mine = [], [turn is not None for turn in turns]
    if BATON and not mine[0]:
        os.write(BATON[1], b"\1")  # the input is ready
    for i, turn in enumerate(turns + [None]):
        # The baton comes in at the start of own turns, and at the end of the block.
        own, owned = i < len(mine) and mine[i], i > 0 and mine[i - 1]
        if BATON and (own or i == len(mine)) and not owned:
            if not os.read(BATON[0], 1):
                raise BrokenPipeError
            os.sched_yield()  # lets the other process fall asleep
        if own and i < unrecorded:
            sample(functions[turn], given, unrecorded_iterations)
        elif own:
            values += sample(functions[turn], given, iterations)
        if BATON and own and not (i + 1 < len(mine) and mine[i + 1]):
            os.write(BATON[1], b"\1")
    return "block", {"values": values}

def smoke(functions, given, **_):
    for function in functions:
        function(given)
    return "sound", {}

def failed(problem):
    return "failed", {"contender": None, "problem": problem}

def answer(kind, asked, prepared):
    if kind == "list":
        listed = [{"name": name, "contenders": list(c)} for name, (_, c) in BENCHMARKS.items()]
        return "listed", {"benchmarks": listed}
    if kind == "prepare" and not prepared:
        make, contenders = BENCHMARKS.get(asked["benchmark"], (None, {}))
        wanted = asked.get("contender")
        prepared += make, [call for name, call in contenders.items() if wanted in (None, name)]
        return ("prepared", {"renews_input": True}) if prepared[1] else failed({"unknown": {}})
    action = {"calibrate": calibrate, "warm_up": warm_up, "block": block, "smoke": smoke}.get(kind)
    if not prepared or not action:
        return failed({"out_of_turn": {}})
    return action(prepared[1], prepared[0](asked.pop("seed")), **asked)

if "DEADHEAT_WORKER" not in os.environ:
    sys.exit("This is a worker. To race its functions: deadheat bench " + sys.argv[0])
PIPES = [int(fd) for fd in os.environ.pop("DEADHEAT_WORKER").split(",")]
BATON = [int(fd) for fd in os.environ.pop("DEADHEAT_BATON", "").split(",") if fd]
for fd in PIPES + BATON:
    os.set_inheritable(fd, False)
reply = "hello", {"protocol": 2, "worker": "worker.py", "metrics": ["wall_ns", "cpu_ns"]}
prepared = []
with os.fdopen(PIPES[0], encoding="utf-8") as requests:
    while os.write(PIPES[1], json.dumps(dict([reply])).encode() + b"\n") and reply[0] != "failed":
        request = json.loads(requests.readline() or '{"bye": {}}')
        if "bye" in request:
            break
        try:
            reply = answer(*request.popitem(), prepared)
        except BrokenPipeError:
            reply = failed({"peer_gone": {}})
        except Exception as error:
            reply = failed({"panicked": f"{type(error).__name__}: {error}"})
