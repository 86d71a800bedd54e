package look

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Distinct shortens names to at most n columns each, so that different names stay different. It
// first cuts the ends. Names that would then be equal are cut in the middle, or at their common
// beginning, or numbered.
func Distinct(names []string, n int) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Short(name, n)
	}
	if slices.Equal(out, names) {
		return out
	}
	for tail := 1; tail <= n-2; tail++ { // keep more and more of the end
		again := findAmbiguous(names, out)
		if len(again) == 0 {
			return out
		}
		for i := range again {
			out[i] = shortMiddle(names[i], n, tail)
		}
	}
	for i, common := range findAmbiguous(names, out) { // show the part after the common beginning
		out[i] = "…" + Short(names[i][common:], n-1)
	}
	number := 0 // at last, number the names
	for i := range names {
		for again := findAmbiguous(names, out); again != nil; again = findAmbiguous(names, out) {
			if _, here := again[i]; !here {
				break
			}
			number++
			mark := "~" + strconv.Itoa(number)
			out[i] = Truncate(names[i], max(n-len(mark), 0)) + mark
		}
		if number > maxNumber {
			break
		}
	}
	return out
}

// maxNumber bounds the numbers that Distinct tries if n is too small even for numbers.
const maxNumber = 1000

// findAmbiguous returns the indices of shortened names that equal the shortened form of another
// name. The value is the length in bytes of the prefix that the full names share. cut contains
// the shortened names.
func findAmbiguous(names, cut []string) map[int]int {
	var found map[int]int
	note := func(k, common int) { // names[k] shares common bytes with another name of the same short form
		if found == nil {
			found = map[int]int{}
		}
		if before, ok := found[k]; ok {
			common = min(common, before)
		}
		if cut[k] != names[k] {
			found[k] = common
		}
	}
	first := make(map[string]int, len(cut)) // index of the first name with each short form
	for i, text := range cut {
		j, seen := first[text]
		if !seen {
			first[text] = i
		} else if names[i] != names[j] {
			common := commonPrefix(names[i], names[j])
			note(i, common)
			note(j, common)
		}
	}
	return found
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

// shortMiddle shortens a name that is wider than n columns by cutting out its middle; about tail
// columns of its end remain.
func shortMiddle(name string, n, tail int) string {
	if TextWidth(name) <= n {
		return name
	}
	end := name
	for TextWidth(end) > tail {
		_, size := utf8.DecodeRuneInString(end)
		end = end[size:]
	}
	if before := name[:len(name)-len(end)]; tail < n-2 && before != "" && strings.ContainsRune("-_. /", rune(before[len(before)-1])) {
		end = before[len(before)-1:] + end // "…-x" reads better than "…x"
	}
	return Truncate(name, n-1-TextWidth(end)) + "…" + end
}
