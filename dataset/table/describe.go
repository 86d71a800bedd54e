package table

import (
	"fmt"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// Describe returns the schema of frames as a file that ParseLayout takes: what data of
// another kind would be as a table. It says nothing of how records are written. Bodies
// of bytes have no place in a table.
func Describe(s *frame.Schema, preamble int) []byte {
	var b strings.Builder
	line := func(key string, value any) {
		if text, ok := value.(string); ok {
			value = strconv.Quote(text)
		}
		fmt.Fprintf(&b, "%-7s = %v\n", key, value)
	}
	if s.Name != "rpc" { // the names of other data are theirs
		line("name", s.Name)
	}
	line("item", s.Item)
	line("rate_hz", s.TickHz)
	line("rows", s.Rows)
	if preamble > 0 {
		fmt.Fprintf(&b, "preamble = %d # frames that repeat the initial state, and are not sent\n", preamble)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		b.WriteString("\n[[field]]\n")
		line("name", f.Name)
		line("kind", f.Kind.String())
		if f.Kind.Bounded() && f.Kind != frame.Flag {
			scale := f.Scale
			if scale == 0 || f.Kind == frame.Enum {
				scale = 1
			}
			last := float64(f.Max)
			if f.Kind == frame.Angle {
				last++ // a turn ends where it begins
			}
			fmt.Fprintf(&b, "%-7s = [%s, %s]\n", "range", number64(float64(f.Min)*scale), number64(last*scale))
			if scale != 1 {
				fmt.Fprintf(&b, "%-7s = %s\n", "scale", number64(scale))
			}
		}
		if f.Unit != "" {
			line("unit", f.Unit)
		}
	}
	return []byte(b.String())
}

func number64(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
