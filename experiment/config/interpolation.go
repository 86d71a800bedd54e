package config

import "fmt"

// Interpolation is how a display moves from one snapshot to the next.
type Interpolation uint8

// The ways to interpolate. Orientations go by the normalised mean of the
// quaternions in both.
const (
	Linear  Interpolation = iota // on the straight line
	Hermite                      // on a cubic, with velocities reckoned from the snapshots around: for low rates
	numInterpolations
)

// Interpolations lists the names that a configuration takes.
func Interpolations() []string {
	return []string{"linear", "hermite"}
}

// String returns the name that a configuration takes.
func (i Interpolation) String() string {
	if i < numInterpolations {
		return Interpolations()[i]
	}
	return fmt.Sprintf("interpolation(%d)", uint8(i))
}
