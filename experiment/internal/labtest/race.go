//go:build race

package labtest

// RaceEnabled: the detector allocates for itself, so allocations say nothing.
const RaceEnabled = true
