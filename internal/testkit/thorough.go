// Package testkit contains helpers for tests of several packages. Only tests import it.
package testkit

import "os"

// level is the environment variable that selects how much the tests check. Unset, each test checks
// a sample of its cases. 1 adds whole recordings and many seeds; .ci/run sets it for a few tests. 2
// checks everything; it takes too long for .ci/run and is one of the long checks in experiment/README.md.
const level = "WIRELAB_THOROUGH"

// Thorough reports whether the level is 1 or 2.
func Thorough() bool { return os.Getenv(level) != "" }

// Long reports whether the level is 2.
func Long() bool { return os.Getenv(level) == "2" }

// Choose returns thorough if Thorough reports true, and quick otherwise.
func Choose[T any](thorough, quick T) T { return ChooseLong(thorough, thorough, quick) }

// ChooseLong returns long if Long reports true, else thorough if Thorough reports true, else quick.
func ChooseLong[T any](long, thorough, quick T) T {
	switch {
	case Long():
		return long
	case Thorough():
		return thorough
	}
	return quick
}
