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
// three letters; otherwise the most similar one, with at most one typo and one more for every three
// letters; "" if no name is similar. Case is ignored.
func Closest(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	lower := strings.ToLower(name)
	matches, match := 0, ""
	for _, k := range known {
		if len(lower) >= 3 && strings.HasPrefix(strings.ToLower(k), lower) {
			matches++
			match = k
		}
	}
	if matches == 1 {
		return match
	}
	minDistance, match := 1+len(name)/3, "" // minDistance is at first the largest distance that is accepted
	for _, k := range known {
		d := levenshtein.ComputeDistance(lower, strings.ToLower(k))
		if d <= minDistance && d < len(lower) && (match == "" || d < minDistance) { // a single letter is not similar to another
			minDistance, match = d, k
		}
	}
	return match
}
