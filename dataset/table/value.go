package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"wirelab/internal/tomlkeys"
)

// known refuses the first key of a table, by line, that is not among those.
func (r *reader) known(prefix string, tree map[string]any, keys []string) {
	strangers := slices.Sorted(maps.Keys(tree))
	strangers = slices.DeleteFunc(strangers, func(k string) bool { return slices.Contains(keys, k) })
	slices.SortStableFunc(strangers, func(a, b string) int { return tomlkeys.LineOf(r.lines, prefix+a) - tomlkeys.LineOf(r.lines, prefix+b) })
	if len(strangers) > 0 {
		r.unknown(prefix+strangers[0], "key", strangers[0], keys)
	}
}

// text reads a short printable text, if the key exists.
func (r *reader) text(prefix string, tree map[string]any, key string, dst *string, must bool) {
	v, ok := tree[key]
	if !ok {
		if must {
			r.missing(prefix+key, "a text")
		}
		return
	}
	s, ok := v.(string)
	if !ok || !showable(s) {
		r.fail(prefix+key, shown(v)+" makes no sense here", fmt.Sprintf("a text of 1 to %d characters that can be shown", maxText))
		return
	}
	*dst = s
}

// showable reports whether s may appear on a screen as it is.
func showable(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && len([]rune(s)) <= maxText && !strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsPrint(c)
	})
}

// whole reads a whole number from lo to hi; lo if it is not there and need not be.
func (r *reader) whole(tree map[string]any, key string, must bool, lo, hi int, what string) int {
	if _, ok := tree[key]; !ok && must {
		r.missing(key, fmt.Sprintf("%d to %d %s", lo, hi, what))
		return lo
	}
	return r.wholeAt("", tree, key, lo, hi, what)
}

// wholeAt is whole for a key that need not be there.
func (r *reader) wholeAt(prefix string, tree map[string]any, key string, lo, hi int, what string) int {
	expected := fmt.Sprintf("%d to %d %s", lo, hi, what)
	v, ok := tree[key]
	if !ok {
		return lo
	}
	n, ok := v.(int64)
	if f, broken := v.(float64); broken && f != math.Trunc(f) {
		expected = "a whole number, " + expected
	}
	if f, isFloat := v.(float64); isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		n, ok = int64(f), true
	}
	if !ok || n < int64(lo) || n > int64(hi) {
		r.fail(prefix+key, shown(v)+" makes no sense here", expected)
		return lo
	}
	return int(n)
}

func (r *reader) missing(key, expected string) {
	table := "the schema"
	if cut := strings.LastIndex(key, "."); cut > 0 {
		table = key[:cut]
	}
	r.fail(key, "is missing from "+table, expected)
}

// number reads a finite number.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}

func quoted(s string) string {
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

func shown(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case []any, map[string]any:
		return "this"
	}
	return fmt.Sprint(v)
}
