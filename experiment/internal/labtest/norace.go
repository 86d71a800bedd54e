//go:build !race

package labtest

// RaceEnabled reports whether the race detector is on.
const RaceEnabled = false
