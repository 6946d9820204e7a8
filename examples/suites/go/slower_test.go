//go:build slower

package suite

const slower = true
