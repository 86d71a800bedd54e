// Package fuzzy finds the names that a user has typed in part.
package fuzzy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// Rank returns the indices of the names that match typed, best first: names that begin with typed, then names
// that contain it. If no name does, it returns the names that contain the letters of typed in their order, as
// "rotr" is in "rotor". Upper and lower case are the same. If typed is empty, all names match.
func Rank(typed string, names []string) (ranked []int) {
	typed = strings.ToLower(typed)
	var containing []int
	for i, name := range names {
		switch start := strings.Index(strings.ToLower(name), typed); {
		case start == 0:
			ranked = append(ranked, i)
		case start > 0:
			containing = append(containing, i)
		}
	}
	ranked = append(ranked, containing...)
	if len(ranked) > 0 {
		return ranked
	}
	for _, match := range fuzzy.Find(typed, names) {
		ranked = append(ranked, match.Index)
	}
	return ranked
}

// Complete returns the name that typed abbreviates: the only name that begins with typed or, if none does, the
// only one with the same first letter that matches it, see Rank. It returns false if several names are possible, or
// none. A name that equals typed is returned even if others begin with it.
func Complete(typed string, names []string) (name string, ok bool) {
	first, _ := utf8.DecodeRuneInString(strings.ToLower(typed))
	ranked := slices.DeleteFunc(Rank(typed, names), func(i int) bool {
		return strings.IndexRune(strings.ToLower(names[i]), first) != 0
	})
	begins := 0 // number of names that begin with typed
	for _, i := range ranked {
		if strings.EqualFold(names[i], typed) {
			return names[i], true
		}
		if len(names[i]) >= len(typed) && strings.EqualFold(names[i][:len(typed)], typed) {
			begins++
		}
	}
	if typed == "" || begins != 1 && len(ranked) != 1 {
		return "", false
	}
	return names[ranked[0]], true
}
