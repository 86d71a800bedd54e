// Package suggest finds the known name closest to one that is not known,
// for the end of an error: did you mean that? It knows nothing of what is named.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest bounds a name that may be a mistyped one: to compare is to multiply lengths.
const longest = 100

// Closest returns the only known name that begins with name, else the closest within
// one typo for every three letters; "" if there is none.
func Closest(name string, known []string) string {
	if len(name) > longest {
		return ""
	}
	low := strings.ToLower(name)
	begins, at := 0, ""
	for _, k := range known {
		if len(low) >= 3 && strings.HasPrefix(strings.ToLower(k), low) {
			begins++
			at = k
		}
	}
	if begins == 1 {
		return at
	}
	best, at := 1+len(name)/3, ""
	for _, k := range known {
		d := levenshtein.ComputeDistance(low, strings.ToLower(k))
		if d <= best && d < len(low) && (at == "" || d < best) { // one letter is not close to another
			best, at = d, k
		}
	}
	return at
}
