//go:build race

package experiment

// raceEnabled: the detector allocates for itself, so allocations say nothing.
const raceEnabled = true
