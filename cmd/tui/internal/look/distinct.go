package look

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ShortenDistinct shortens names to at most n columns each, so that different names stay different. It
// first cuts the ends. Names that then look equal are ambiguous: they are cut in the middle or, if
// that does not suffice, at their common beginning. The last resort is to number them, "~1", which
// may exceed n columns if n is tiny. After maxNumber numbers, names may remain ambiguous.
func ShortenDistinct(names []string, n int) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Shorten(name, n)
	}
	if slices.Equal(out, names) {
		return out
	}
	// Keep more and more of the end; the beginning and the ellipsis need a column each.
	for tail := 1; tail <= n-2; tail++ {
		ambiguous := findAmbiguous(names, out)
		if len(ambiguous) == 0 {
			return out
		}
		for i := range ambiguous {
			out[i] = shortMiddle(names[i], n, tail)
		}
	}
	for i, common := range findAmbiguous(names, out) { // keep the part after the common beginning, where the names differ
		out[i] = "…" + Shorten(names[i][common:], n-1)
	}
	number := 0
	for i := range names {
		// A numbered name may equal another name, so try numbers until it does not.
		for {
			if _, isAmbiguous := findAmbiguous(names, out)[i]; !isAmbiguous {
				break
			}
			number++
			suffix := "~" + strconv.Itoa(number)
			out[i] = Truncate(names[i], max(n-len(suffix), 0)) + suffix
		}
		if number > maxNumber {
			break
		}
	}
	return out
}

// maxNumber bounds the numbers of ShortenDistinct, because each of them needs a search of all names.
const maxNumber = 1000

// findAmbiguous returns the shortened names whose short form equals that of a different name.
// short[i] is the short form of names[i]. The map is from the index of an ambiguous name to the
// length in bytes of the prefix that it shares with the other name; of several other names, the shortest
// such prefix. A name that is not shortened is never included: it must not change.
func findAmbiguous(names, short []string) map[int]int {
	ambiguous := map[int]int{}
	// note records that names[index] shares a prefix of common bytes with another name of the same short form.
	note := func(index, common int) {
		if before, ok := ambiguous[index]; ok {
			common = min(common, before)
		}
		if short[index] != names[index] {
			ambiguous[index] = common
		}
	}
	firstIndex := make(map[string]int, len(short)) // index of the first name with each short form
	for i, text := range short {
		j, seen := firstIndex[text]
		if !seen {
			firstIndex[text] = i
		} else if names[i] != names[j] {
			common := commonPrefix(names[i], names[j])
			note(i, common)
			note(j, common)
		}
	}
	return ambiguous
}

// commonPrefix returns the length in bytes of the prefix that a and b share, in whole characters.
func commonPrefix(a, b string) int {
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			return i
		}
	}
	return len(a)
}

// shortMiddle shortens a name that is wider than n columns by replacing its middle with "…". It keeps the
// last tail columns of the name. If the character before them is a separator, such as "-", and there is room,
// it keeps the separator too.
func shortMiddle(name string, n, tail int) string {
	if TextWidth(name) <= n {
		return name
	}
	end := name
	for TextWidth(end) > tail {
		_, size := utf8.DecodeRuneInString(end)
		end = end[size:]
	}
	cut := name[:len(name)-len(end)]
	if tail < n-2 && cut != "" && strings.ContainsRune("-_. /", rune(cut[len(cut)-1])) {
		end = cut[len(cut)-1:] + end // "…-x" reads better than "…x"
	}
	return Truncate(name, n-1-TextWidth(end)) + "…" + end
}
