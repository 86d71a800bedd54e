// Package suggest finds the known name that is most similar to an unknown one, for errors that
// end in "did you mean ...?".
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxName is the length of the longest name that is compared, because the time grows with the
// product of the lengths.
const maxName = 100

// Closest returns the known name that begins with name, if there is exactly one and name has at least
// two letters; otherwise the most similar one, with at most one typo for every three letters; "" if no
// name is similar. Case is ignored.
func Closest(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	lower := strings.ToLower(name)
	matches, match := 0, ""
	for _, k := range known {
		if len(lower) >= 2 && strings.HasPrefix(strings.ToLower(k), lower) {
			matches++
			match = k
		}
	}
	if matches == 1 {
		return match
	}
	minDistance, match := 1+len(name)/3, "" // one more than the largest distance that is accepted
	for _, k := range known {
		if d := distance(lower, strings.ToLower(k)); d < minDistance {
			minDistance, match = d, k
		}
	}
	return match
}

// distance returns the number of typos by which two names differ. Two swapped letters are one typo.
func distance(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	for i := 1; i < len(a); i++ {
		swapped := a[:i-1] + a[i:i+1] + a[i-1:i] + a[i+1:]
		d = min(d, 1+levenshtein.ComputeDistance(swapped, b))
	}
	return d
}
