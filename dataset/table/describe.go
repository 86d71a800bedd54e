package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/internal/units"
)

// Describe returns a schema as a TOML file that ParseLayout reads; it may be the schema of another kind of data
// than a user's table. preamble is the number of frames that repeat the initial state. The file has default
// settings for the format of records. A body of bytes cannot be described.
func Describe(s *frame.Schema, preamble int) []byte {
	l := &Layout{Schema: s, Preamble: preamble, Header: true, Comma: ','}
	return l.Describe()
}

// Describe returns the layout as a TOML file, from which ParseLayout makes the same layout.
func (l *Layout) Describe() []byte {
	var b strings.Builder
	s := l.Schema
	if s.Name != "rpc" { // a reserved name, which ParseLayout refuses
		writeKey(&b, "name", s.Name)
	}
	writeKey(&b, "item", s.Item)
	writeKey(&b, "rate_hz", s.TickHz)
	if l.AutoRows {
		writeKey(&b, "rows", "auto")
	} else {
		writeKey(&b, "rows", s.Rows)
	}
	if l.Preamble > 0 {
		fmt.Fprintf(&b, "preamble = %d # frames that repeat the initial state, and are not sent\n", l.Preamble)
	}
	l.describeRecords(&b)
	for i := range s.Fields {
		b.WriteString("\n[[field]]\n")
		var c column
		if l.columns != nil {
			c = l.columns[i]
		}
		describeField(&b, &s.Fields[i], &c)
	}
	describeParts(&b, s)
	return []byte(b.String())
}

// describeField writes the keys of a field, whose values come from column c. The name of the column is "" if it is that of
// the field.
func describeField(b *strings.Builder, f *frame.Field, c *column) {
	writeKey(b, "name", f.Name)
	if c.name != "" && c.name != f.Name {
		writeKey(b, "column", c.name)
	}
	writeKey(b, "kind", f.Kind.String())
	if c.half != wholeNumber {
		writeKey(b, "half", halfNames[c.half])
	}
	if c.learn {
		writeKey(b, "values", "auto")
	} else if f.Named() {
		fmt.Fprintf(b, "%-7s = [", "values")
		for k, word := range f.Values {
			b.WriteString(strings.Repeat(", ", min(k, 1)) + strconv.Quote(word)) // no comma before the first
		}
		b.WriteString("]\n")
	} else if f.Kind.Bounded() && f.Kind != frame.Flag {
		describeRange(b, f)
	}
	if f.Unit != "" {
		writeKey(b, "unit", f.Unit)
	}
	if c.empty != "" {
		writeKey(b, "empty", c.empty)
	}
	describeHint(b, f)
}

// describeRecords writes the settings of the format of records that differ from the defaults.
func (l *Layout) describeRecords(b *strings.Builder) {
	if l.Format != "" {
		writeKey(b, "format", l.Format)
	}
	if !l.Header {
		writeKey(b, "header", false)
	}
	if l.Comma != ',' {
		writeKey(b, "separator", string(l.Comma))
	}
	for _, x := range [][2]string{{"decimal", l.Decimal}, {"where", l.where.String()}, {"frame", l.Frame}, {"round", l.Round}, {"key", l.Key},
		{"list", l.List}} {
		if x[1] != "" {
			writeKey(b, x[0], x[1])
		}
	}
	if l.skipStrays {
		writeKey(b, "skip_strays", true)
	}
}

// describeRange writes the range of a field, in units, and its tolerance, or its scale unless that is 1.
func describeRange(b *strings.Builder, f *frame.Field) {
	scale := f.Step()
	if f.Kind == frame.Enum {
		scale = 1
	}
	last := float64(f.Max)
	if f.Kind == frame.Angle {
		last++ // the end of a turn is its beginning, so Max is one step before the end
	}
	fmt.Fprintf(b, "%-7s = [%s, %s]\n", "range", formatSteps(float64(f.Min), scale), formatSteps(last, scale))
	switch {
	case f.Tolerance > 0 && f.Kind != frame.Angle: // the rounded ends of a turn do not give the exact scale of an angle
		fmt.Fprintf(b, "%-7s = %s\n", "tolerance", formatNumber(f.Tolerance))
	case scale != 1:
		fmt.Fprintf(b, "%-7s = %s\n", "scale", formatNumber(scale))
	}
}

// formatSteps formats a number of steps in units, such as 3 steps of 0.1 as 0.3 and not as 0.30000000000000004.
func formatSteps(steps, scale float64) string {
	v := float64(steps * scale)
	if short, err := strconv.ParseFloat(units.General(v, 15), 64); err == nil && math.Abs(short/scale-steps) < 1e-7 {
		v = short
	}
	return formatNumber(v)
}

// writeKey writes a key and its value as a line of TOML.
func writeKey(b *strings.Builder, key string, value any) {
	if text, ok := value.(string); ok {
		value = strconv.Quote(text) // printable text is quoted in TOML as in Go
	}
	fmt.Fprintf(b, "%-7s = %v\n", key, value)
}

// formatNumber formats v so that parsing gives the same value. Integers below 2^53 have no exponent.
func formatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return units.FormatDecimal(v)
	}
	return units.General(v, -1)
}
