//go:build race

package world

// race reports whether the race detector is on.
const race = true
