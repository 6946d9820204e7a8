//go:build !slower

package suite

import "testing"

const slower = false

// With the tag it is gone.
func BenchmarkGone(b *testing.B) {
	run(b, 500)
}
