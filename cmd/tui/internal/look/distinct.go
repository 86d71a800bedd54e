package look

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ShortenDistinct shortens names to at most n columns each, so that different names stay different. It
// first cuts the ends. Names that then look equal are ambiguous: they are cut in the middle. The last resort is to
// number them, "~1", which may exceed n columns if n is tiny. After maxNumber numbers, names may remain ambiguous.
func ShortenDistinct(names []string, n int) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Shorten(name, n)
	}
	// Keep more and more of the end; the beginning and the ellipsis need a column each.
	for tail := 1; tail <= n-2; tail++ {
		for _, i := range findAmbiguous(names, out) {
			out[i] = shortMiddle(names[i], n, tail)
		}
	}
	for number := 1; number <= maxNumber; number++ {
		ambiguous := findAmbiguous(names, out)
		if len(ambiguous) == 0 {
			break
		}
		i, suffix := ambiguous[0], "~"+strconv.Itoa(number)
		out[i] = Truncate(names[i], max(n-len(suffix), 0)) + suffix
	}
	return out
}

// maxNumber bounds the numbers of ShortenDistinct, because each of them needs a search of all names.
const maxNumber = 1000

// findAmbiguous returns the indices of the shortened names whose short form equals that of a different name.
// short[i] is the short form of names[i]. A name that is not shortened is never included: it must not change.
func findAmbiguous(names, short []string) (indices []int) {
	first := map[string]string{}   // the first name with each short form
	ambiguous := map[string]bool{} // the short forms of different names
	for i, text := range short {
		if name, seen := first[text]; seen && name != names[i] {
			ambiguous[text] = true
		}
		first[text] = names[i]
	}
	for i, text := range short {
		if ambiguous[text] && text != names[i] {
			indices = append(indices, i)
		}
	}
	return indices
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
