// Package steps holds chains of steps, each of which needs the one before:
// PERCENT says how many per cent more of them.
package steps

import (
	"os"
	"strconv"
	"testing"
)

var steps = func() int {
	percent, _ := strconv.Atoi(os.Getenv("PERCENT"))
	return 100 * (100 + percent)
}()

var sink uint64

func BenchmarkMultiplying(b *testing.B) {
	for n := 0; n < b.N; n++ {
		bits := uint64(1)
		for i := 0; i < steps; i++ {
			bits = (bits ^ (bits >> 31)) * 0x6a09e667f3bcc909
		}
		sink = bits
	}
}

func BenchmarkShifting(b *testing.B) {
	for n := 0; n < b.N; n++ {
		bits := uint64(1)
		for i := 0; i < steps; i++ {
			bits ^= bits << 13
			bits ^= bits >> 7
			bits ^= bits << 17
		}
		sink = bits
	}
}
