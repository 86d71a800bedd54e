// Package thorough says how much tests should check: for tests only.
package thorough

import "os"

// Checks reports whether campaigns go on for as long as their claims deserve: many
// seeds, whole recordings, every size. .ci/run asks for it by WIRELAB_THOROUGH=1;
// without it each test does a little of the same.
func Checks() bool { return os.Getenv("WIRELAB_THOROUGH") != "" }

// Of returns all, how much a campaign takes, where checks are thorough, and else some.
func Of[T any](all, some T) T {
	if Checks() {
		return all
	}
	return some
}
