package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"wirelab/internal/tomlkeys"
)

// checkKeys reports an error for the first key of tree, in order of lines, that is not among keys.
// prefix is the path of tree in the file.
func (r *schemaReader) checkKeys(prefix string, tree map[string]any, keys []string) {
	unknown := slices.Sorted(maps.Keys(tree))
	unknown = slices.DeleteFunc(unknown, func(k string) bool { return slices.Contains(keys, k) })
	slices.SortStableFunc(unknown, func(a, b string) int { return tomlkeys.LineOf(r.lines, prefix+a) - tomlkeys.LineOf(r.lines, prefix+b) })
	if len(unknown) > 0 {
		r.failUnknown(prefix+unknown[0], "key", unknown[0], keys)
	}
}

// Values of the parameter required of readText and readInt.
const (
	requiredKey = true
	optionalKey = false
)

// readText reads a short printable text into dst. A key that does not exist is an error if
// required is set; otherwise dst is unchanged.
func (r *schemaReader) readText(prefix string, tree map[string]any, key string, dst *string, required bool) {
	v, ok := tree[key]
	if !ok {
		if required {
			r.failMissing(prefix+key, "a text")
		}
		return
	}
	s, ok := v.(string)
	if !ok || !isPrintableName(s) {
		r.fail(prefix+key, formatValue(v)+" is not valid", fmt.Sprintf("a printable text of 1 to %d characters", maxText))
		return
	}
	*dst = s
}

// isPrintableName reports whether s is short, printable, and without blanks at its ends.
func isPrintableName(s string) bool {
	return s != "" && utf8.ValidString(s) && s == strings.TrimSpace(s) && len([]rune(s)) <= maxText && !strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsPrint(c)
	})
}

// readInt reads a whole number from lo to hi; meaning describes it for errors, such as "rows in each
// frame". It returns lo on errors and if the key does not exist, which is an error if required is set.
func (r *schemaReader) readInt(tree map[string]any, key string, required bool, lo, hi int, meaning string) int {
	if _, ok := tree[key]; !ok && required {
		r.failMissing(key, fmt.Sprintf("%d to %d %s", lo, hi, meaning))
		return lo
	}
	return r.readOptionalInt("", tree, key, lo, hi, meaning)
}

// readOptionalInt reads a whole number from lo to hi, or returns lo if the key does not exist. prefix is the key of
// the table in the file, with a dot, and meaning describes the number; both are for errors, which are stored in r.
func (r *schemaReader) readOptionalInt(prefix string, tree map[string]any, key string, lo, hi int, meaning string) int {
	expected := fmt.Sprintf("%d to %d %s", lo, hi, meaning) // "0 to 1000 frames that repeat the initial state"
	v, ok := tree[key]
	if !ok {
		return lo
	}
	n, ok := v.(int64)
	if f, isFloat := v.(float64); isFloat && f != math.Trunc(f) {
		expected = "a whole number, " + expected
	}
	if f, isFloat := v.(float64); isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		n, ok = int64(f), true
	}
	if !ok || n < int64(lo) || n > int64(hi) {
		r.fail(prefix+key, formatValue(v)+" is not valid", expected)
		return lo
	}
	return int(n)
}

// readBool reads true or false into dst, which stays unchanged if the key does not exist.
func (r *schemaReader) readBool(tree map[string]any, key string, dst *bool) {
	v, ok := tree[key]
	b, isBool := v.(bool)
	if isBool {
		*dst = b
	} else if ok {
		r.fail(key, formatValue(v)+" is not valid", "true or false")
	}
}

// failMissing reports an error for a key that does not exist.
func (r *schemaReader) failMissing(key, expected string) {
	table := "the schema"
	if cut := strings.LastIndex(key, "."); cut > 0 {
		table = key[:cut]
	}
	r.fail(key, "is missing from "+table, expected)
}

// toFloat converts a TOML value to a finite number. It returns false if the value is none.
func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}

// quoted quotes s for an error, shortened to maxText characters.
func quoted(s string) string {
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// formatValue formats a TOML value for an error. Lists and tables are "this".
func formatValue(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case []any, map[string]any:
		return "this"
	}
	return fmt.Sprint(v)
}
