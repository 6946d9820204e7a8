import pyperf

from steps import averaging, multiplying

runner = pyperf.Runner()
runner.bench_func("multiplying", multiplying)
runner.bench_func("averaging", averaging)
