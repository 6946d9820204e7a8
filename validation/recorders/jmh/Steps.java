package steps;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

/** Chains of steps, each of which needs the one before: PERCENT says how many per cent more of them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Steps {
    int steps = 100 * (100 + Integer.parseInt(System.getenv().getOrDefault("PERCENT", "0")));

    @Benchmark
    public long multiplying() {
        long bits = 1;
        for (int i = 0; i < steps; i++) {
            bits = (bits ^ (bits >>> 31)) * 0x6a09e667f3bcc909L;
        }
        return bits;
    }

    @Benchmark
    public long shifting() {
        long bits = 1;
        for (int i = 0; i < steps; i++) {
            bits ^= bits << 13;
            bits ^= bits >>> 7;
            bits ^= bits << 17;
        }
        return bits;
    }
}
