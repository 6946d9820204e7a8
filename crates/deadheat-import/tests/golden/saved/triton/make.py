"""Writes the tables by `perf_report`; the times are made up, as no GPU is needed to write a table."""

from triton.testing import Benchmark, perf_report


def write(unit, scale, name):
    plot = Benchmark(
        x_names=["size"],
        x_vals=[2**power for power in range(12, 16)],
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "Torch"],
        ylabel=unit,
        plot_name=name,
        args={},
    )

    def measure(size, provider):
        ms = 0.002 + 1e-7 * size * (1.0 if provider == "triton" else 1.07)
        return ms * scale if unit == "ms" else 12 * size / ms / 1e6

    perf_report(plot)(measure).run(save_path=".")


write("ms", 1.0, "old")
write("ms", 0.97, "new")
write("GB/s", 1.0, "rates")
