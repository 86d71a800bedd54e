//go:build race

package labtest

// RaceEnabled reports whether the race detector is on. The detector allocates, so
// tests of allocations skip.
const RaceEnabled = true
