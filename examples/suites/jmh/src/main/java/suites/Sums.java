package suites;

import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** Chains of multiplications, as benchmarks of every kind that JMH has. */
public class Sums {
    static final int STEPS = steps();

    static int steps() {
        try (Scanner scanner = new Scanner(Sums.class.getResourceAsStream("/steps"))) {
            return scanner.nextInt();
        }
    }

    static long chain(int steps) {
        long state = steps;
        for (int step = 0; step < steps; step++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
        }
        return state;
    }

    @Benchmark
    public long plain() {
        return chain(10 * STEPS);
    }

    @Benchmark
    @BenchmarkMode({Mode.AverageTime, Mode.Throughput})
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public long twoModes() {
        return chain(10 * STEPS);
    }

    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Threads(2)
    public long sampled() {
        return chain(100 * STEPS);
    }

    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Fork(0)
    public long once() {
        return chain(100_000 * STEPS);
    }

    @Benchmark
    public byte[] allocates() {
        return new byte[100 * STEPS];
    }

    @Benchmark
    public long panics() {
        throw new IllegalStateException("out of luck");
    }

    @Benchmark
    public void exits() {
        System.exit(3);
    }

    /** With parameters, and a name with a sign that regular expressions know. */
    @State(Scope.Benchmark)
    public static class Sized {
        @Param({"1", "10"})
        int size;

        @Param({"a b", "c|d", "e,f"})
        String kind;

        @Benchmark
        public long chain() {
            return Sums.chain(size * STEPS) + kind.length();
        }
    }
}
