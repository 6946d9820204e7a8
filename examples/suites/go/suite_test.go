// Package suite is a suite of Go, with names and benchmarks of the kinds that suites have: a chain
// of arithmetic, and of twice as many steps with the build tag slower. docs/suites.md races its test
// executables as they are.
package suite

import (
	"fmt"
	"testing"
)

var sum uint64

// chain takes so many steps, each of which waits for the last.
func chain(steps int) {
	if slower {
		steps *= 2
	}
	for step := 0; step < steps; step++ {
		sum = (sum ^ uint64(step)) * 0x9E3779B97F4A7C15
	}
}

func run(b *testing.B, steps int) {
	for i := 0; i < b.N; i++ {
		chain(steps)
	}
}

func BenchmarkPlain(b *testing.B) {
	run(b, 1000)
}

func BenchmarkPanics(b *testing.B) {
	panic("out of luck")
}

func BenchmarkOdd(b *testing.B) {
	b.Run("name with \"quotes\" (and) [a-z]* $'", func(b *testing.B) { run(b, 500) })
}

func BenchmarkSized(b *testing.B) {
	for _, steps := range []int{100, 1000} {
		b.Run(fmt.Sprintf("chain/%d", steps), func(b *testing.B) { run(b, steps) })
	}
}

func BenchmarkTwice(b *testing.B) {
	for i := 0; i < 2; i++ {
		b.Run("same", func(b *testing.B) { run(b, 500) })
	}
}

func BenchmarkPrints(b *testing.B) {
	fmt.Print("12 times ")
	run(b, 500)
	b.ReportMetric(7, "things/op")
}

func BenchmarkFails(b *testing.B) {
	b.Fatal("no database")
}

func BenchmarkSkips(b *testing.B) {
	b.Skip("not today")
}
