package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/internal/units"
)

// Describe returns the schema of frames as a file that ParseLayout takes: what data of
// another kind would be as a table. Of how records are written it says nothing, there
// are none. Bodies of bytes have no place in a table.
func Describe(s *frame.Schema, preamble int) []byte {
	l := &Layout{Schema: s, Preamble: preamble, Header: true, Comma: ','}
	return l.Describe()
}

// Describe returns the layout as a file that ParseLayout takes, and makes the same of.
func (l *Layout) Describe() []byte {
	var b strings.Builder
	s := l.Schema
	if s.Name != "rpc" { // the names of other data are theirs
		line(&b, "name", s.Name)
	}
	line(&b, "item", s.Item)
	line(&b, "rate_hz", s.TickHz)
	line(&b, "rows", s.Rows)
	if l.Preamble > 0 {
		fmt.Fprintf(&b, "preamble = %d # frames that repeat the initial state, and are not sent\n", l.Preamble)
	}
	l.describeRecords(&b)
	for i := range s.Fields {
		f := &s.Fields[i]
		b.WriteString("\n[[field]]\n")
		line(&b, "name", f.Name)
		if l.columns != nil && l.columns[i] != f.Name {
			line(&b, "column", l.columns[i])
		}
		line(&b, "kind", f.Kind.String())
		if l.values != nil && l.values[i] != nil {
			fmt.Fprintf(&b, "%-7s = [", "values")
			for k, word := range l.values[i] {
				b.WriteString(strings.Repeat(", ", min(k, 1)) + strconv.Quote(word))
			}
			b.WriteString("]\n")
		} else if f.Kind.Bounded() && f.Kind != frame.Flag {
			describeRange(&b, f)
		}
		if f.Unit != "" {
			line(&b, "unit", f.Unit)
		}
		describeHint(&b, &f.Hint)
	}
	describeParts(&b, s)
	return []byte(b.String())
}

// describeRecords writes how records are written, where that is not the usual way.
func (l *Layout) describeRecords(b *strings.Builder) {
	if l.Format != "" {
		line(b, "format", l.Format)
	}
	if !l.Header {
		line(b, "header", false)
	}
	if l.Comma != ',' {
		line(b, "separator", string(l.Comma))
	}
	if l.Frame != "" {
		line(b, "frame", l.Frame)
	}
}

// describeRange writes the range of a field, in units, and the scale.
func describeRange(b *strings.Builder, f *frame.Field) {
	scale := f.Step()
	if f.Kind == frame.Enum {
		scale = 1
	}
	last := float64(f.Max)
	if f.Kind == frame.Angle {
		last++ // a turn ends where it begins
	}
	fmt.Fprintf(b, "%-7s = [%s, %s]\n", "range", number64(float64(f.Min)*scale), number64(last*scale))
	if scale != 1 {
		fmt.Fprintf(b, "%-7s = %s\n", "scale", number64(scale))
	}
}

// line writes a key and its value.
func line(b *strings.Builder, key string, value any) {
	if text, ok := value.(string); ok {
		value = strconv.Quote(text) // what can be shown is spelt the same in TOML
	}
	fmt.Fprintf(b, "%-7s = %v\n", key, value)
}

// number64 writes v so that the same value is read back, integers below 2^53 without an exponent.
func number64(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return units.FormatDecimal(v)
	}
	return units.General(v, -1)
}
