"""A worker written after docs/protocol.md, in another language than deadheat.

    misbehaving_worker.py [notes] [slow] [long] [waits] [FAULT@MOMENT[=TEXT]]

It behaves well unless a fault is named. With `long` it takes its calls for long ones, of which a
warm-up is one round, and none of which needs it. With `waits` it makes up the account of a core that others
want: half of its wall time and more is waiting. Moments are `start`, the requests
(`hello` stands for what is said unasked), and in a block of a replicate, never
of a pilot: `input`, `turn`, `passed` and `wait`.
"""

import fcntl
import json
import os
import signal
import sys
import time


def descriptors(variable):
    text = os.environ.pop(variable, None)
    numbers = [int(number) for number in text.split(",")] if text else []
    for number in numbers:
        os.set_inheritable(number, False)
    return numbers


def forever(action):
    while True:
        action()


def write(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


class Worker:
    def __init__(self, arguments):
        pipes = descriptors("DEADHEAT_WORKER")
        self.baton = descriptors("DEADHEAT_BATON")
        self.takes_notes = "notes" in arguments
        self.waits = "waits" in arguments
        self.long = "long" in arguments
        self.samples = 0
        self.work = range(20_000) if "slow" in arguments else range(200)
        faults = [word for word in arguments if "@" in word]
        fault, _, self.text = (faults or ["@"])[0].partition("=")
        self.fault, _, self.moment = fault.partition("@")
        self.warm = False
        self.happens("start")
        if not pipes:
            sys.exit("misbehaving_worker.py: it is no worker here")
        self.requests = os.fdopen(pipes[0], "r", encoding="utf-8")
        self.replies = pipes[1]
        self.notes = pipes[2]
        flags = fcntl.fcntl(self.notes, fcntl.F_GETFL)
        fcntl.fcntl(self.notes, fcntl.F_SETFL, flags | os.O_NONBLOCK)

    def note(self, contender):
        if self.takes_notes:
            try:
                os.write(self.notes, bytes([contender]))
            except OSError:
                pass

    def is_now(self, fault, moment):
        in_a_block = moment in ("input", "turn", "passed", "wait", "block")
        now = (fault, moment) == (self.fault, self.moment)
        return now and (self.warm or not in_a_block)

    def happens(self, moment):
        """Does what the fault is, where it is one of this moment."""
        if not self.is_now(self.fault, moment):
            return
        match self.fault:
            case "exit":
                os._exit(3)
            case "leave":
                os._exit(0)
            case "raise":
                raise ValueError("no nerves left")
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "hang":
                forever(lambda: time.sleep(1_000))
            case "spin":
                forever(lambda: None)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "print":
                for descriptor in (1, 2):
                    for _ in range(40):
                        write(descriptor, b"blah " * 20_000)
                    write(descriptor, b"\nthe last of it\n")
            case "print-and-raise":
                for descriptor in (1, 2):
                    write(descriptor, b"blah " * 200_000)
                raise ValueError("said too much")
            case "print-forever":
                forever(lambda: write(2, b"blah " * 10))
            case "close-replies":
                os.close(self.replies)
                forever(lambda: time.sleep(1_000))
            case "close-baton":
                for end in self.baton:
                    os.close(end)
                forever(lambda: time.sleep(1_000))
            case "endless":
                forever(lambda: write(self.replies, b"x" * 65_536))
            case "dribble":
                forever(lambda: (write(self.replies, b"x"), time.sleep(0.01)))
            case "leave-children":
                # They hold all pipes open, and one has a group of its own.
                for apart in (False, True):
                    if os.fork() == 0:
                        if apart:
                            os.setsid()
                        forever(lambda: time.sleep(1_000))
                os._exit(7)
            case "start-daemon":
                self.fault = ""
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        forever(lambda: time.sleep(1_000))
                    os._exit(0)
                os.wait()
            case "start-child":
                self.fault = ""
                if os.fork() == 0:
                    forever(lambda: None)

    def say(self, kind, moment, **said):
        self.happens(moment)
        line = json.dumps({kind: said}) + "\n"
        if self.is_now("say", moment):
            line = self.text + "\n"
        if self.is_now("twice", moment):
            line += line
        write(self.replies, line.encode())

    def serve(self):
        self.say(
            "hello",
            "hello",
            protocol=2,
            worker="misbehaving 1.0",
            metrics=["cpu_ns", "wall_ns"] + ["run_delay_ns"] * self.waits,
        )
        for line in self.requests:
            (kind, request), *_ = json.loads(line).items()
            getattr(self, kind)(**request)
        self.happens("end")

    def list(self):
        names = ["bad", "good"]
        self.say("listed", "list", benchmarks=[{"name": name} for name in names])

    def prepare(self, **_):
        self.say("prepared", "prepare")

    def sample(self, iterations):
        self.note(1)
        began, cpu_began = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(iterations):
            sum(self.work)
        cpu, wall = time.process_time_ns() - cpu_began, time.perf_counter_ns() - began
        self.note(0)
        if not self.waits:
            return [cpu, wall]
        self.samples += 1
        delay = cpu * (1 + self.samples % 3)
        return [cpu, cpu + delay, delay]

    def calibrate(self, seed, least_ns):
        if self.long:
            said = {"iterations": 1, "call_ns": [2e7], "warm_at_once": True}
            return self.say("calibrated", "calibrate", **said)
        iterations = 1
        while (wall := self.sample(iterations)[1]) < least_ns:
            iterations *= 2
        call_ns = [wall / iterations]
        self.say("calibrated", "calibrate", iterations=iterations, call_ns=call_ns)

    def warm_up(self, seed, order, iterations):
        for _ in range(3):
            self.sample(iterations)
        self.warm = True
        self.say("warm", "warm_up", rounds=3)

    def smoke(self, seed):
        self.say("sound", "smoke")

    def take(self):
        self.note(0)
        self.happens("wait")
        if not os.read(self.baton[0], 1):
            raise EOFError
        os.sched_yield()

    def hand_over(self):
        if not self.is_now("keep", "baton"):
            os.write(self.baton[1], b"|")
        self.happens("passed")

    def block(self, seed, iterations, turns, unrecorded, unrecorded_iterations):
        try:
            values = self.turns(iterations, turns, unrecorded, unrecorded_iterations)
        except (EOFError, BrokenPipeError):
            if self.is_now("die-alone", "wait"):
                raise
            problem = {"peer_gone": {}}
            self.say("failed", "bereft", contender=None, problem=problem)
            sys.exit()
        if self.is_now("negate", "block"):
            values = [-value for value in values]
        if self.is_now("nan", "block"):
            values[-1] = float("nan")
        if self.is_now("drop", "block"):
            values.pop()
        said = {"values": values}
        if self.is_now("keep", "block"):
            said["keep_waiting"] = self.text
        self.say("block", "block", **said)

    def turns(self, iterations, turns, unrecorded, unrecorded_iterations):
        self.happens("input")
        if self.is_now("skip", "turn"):
            recorded = [turn for turn in turns[unrecorded:] if turn is not None]
            return [1, 1] * len(recorded)
        values = []
        shared = None in turns
        own = [turn is not None for turn in turns] + [False]
        if shared and not own[0]:
            self.hand_over()
        for place, turn in enumerate(turns):
            if turn is None:
                continue
            if shared and (place == 0 or not own[place - 1]):
                self.take()
            self.happens("turn")
            if place < unrecorded:
                self.sample(unrecorded_iterations)
            else:
                values += self.sample(iterations)
            if shared and not own[place + 1]:
                self.hand_over()
        if shared and not own[len(turns) - 1]:
            self.take()
        return values

    def bye(self):
        self.happens("bye")
        sys.exit()


if __name__ == "__main__":
    Worker(sys.argv[1:]).serve()
