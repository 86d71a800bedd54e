// Package testkit contains what the tests of several packages share. Only tests import it.
package testkit

import "os"

// Thorough reports whether tests run in full: many seeds, whole recordings, every size.
// .ci/run sets WIRELAB_THOROUGH=1; without it each test checks a sample of the same cases.
func Thorough() bool { return os.Getenv("WIRELAB_THOROUGH") != "" }

// Choose returns thorough if Thorough reports true, and quick otherwise.
func Choose[T any](thorough, quick T) T {
	if Thorough() {
		return thorough
	}
	return quick
}
