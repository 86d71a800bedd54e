//go:build race

package world

// race says whether the race detector slows everything down.
const race = true
