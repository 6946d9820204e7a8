"""A function for pyperf, as one would write it: the arguments are module, function and seed."""

from importlib import import_module

import pyperf

NAMES = ("module", "function", "seed")


def hand_on(command, args):
    command.extend(getattr(args, name) for name in NAMES)


runner = pyperf.Runner(add_cmdline_args=hand_on)
for name in NAMES:
    runner.argparser.add_argument(name)
args = runner.parse_args()
module = import_module(args.module)
given = module.INPUTS[args.function](int(args.seed))
runner.bench_func(args.function, getattr(module, args.function), given)
