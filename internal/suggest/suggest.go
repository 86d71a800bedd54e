// Package suggest finds the known name that is most similar to an unknown one, for errors that
// end in "did you mean ...?".
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxName is the length of the longest name that is compared: the time grows with the product
// of the lengths.
const maxName = 100

// Closest returns the only known name that begins with name, or else the most similar one with at
// most one typo for every three letters, or "".
func Closest(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	low := strings.ToLower(name)
	matches, match := 0, ""
	for _, k := range known {
		if len(low) >= 3 && strings.HasPrefix(strings.ToLower(k), low) {
			matches++
			match = k
		}
	}
	if matches == 1 {
		return match
	}
	least, match := 1+len(name)/3, ""
	for _, k := range known {
		d := levenshtein.ComputeDistance(low, strings.ToLower(k))
		if d <= least && d < len(low) && (match == "" || d < least) { // a single letter is not similar to another
			least, match = d, k
		}
	}
	return match
}
