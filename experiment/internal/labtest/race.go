//go:build race

package labtest

// RaceEnabled reports whether the race detector is on. It allocates memory, so tests of allocations are
// skipped.
const RaceEnabled = true
