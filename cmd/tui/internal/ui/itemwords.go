package ui

import (
	"strings"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// newsAll reports whether frames of a schema change as a whole: a call is one row, the
// bytes of a message are all news. Per item and per changed item are then one figure.
func newsAll(s *frame.Schema) bool { return s != nil && s.Rows <= 1 }

// perWhat names what bits are divided by: "changed cube", or "byte".
func perWhat(s *frame.Schema, item string) string {
	if newsAll(s) {
		return item
	}
	return "changed " + item
}

// perShort is the same where there is little room: "changed", or "byte".
func perShort(s *frame.Schema, item string) string {
	if newsAll(s) {
		return item
	}
	return "changed"
}

// perHead is what perWhat says, above a column: "chg", or "byte".
func perHead(per string) string {
	if strings.HasPrefix(per, "changed ") {
		return "chg"
	}
	return per
}

// enough reports whether enough changed in a sample for bits per changed item to mean
// something.
func enough(s *engine.Sample) bool {
	return s.Changed > 0 && (s.Changed >= enoughChanged*int64(s.Sent) || s.Changed == s.Items)
}

// enoughLately reports the same of the last two seconds.
func enoughLately(r *engine.Recent) bool {
	return r.ChangedPerFrame >= enoughChanged || r.BitsPerChanged == r.BitsPerItem
}

// gaugesOf are what the ends of a protocol say of themselves: the receiver, which
// knows what came, or the sender until anything did.
func gaugesOf(t *figures.Totals) []encoders.Gauge {
	if len(t.Receiver) > 0 {
		return t.Receiver
	}
	return t.Sender
}

// gaugeFigure shows a gauge as a number with its name and unit.
func gaugeFigure(g encoders.Gauge) figure {
	switch {
	case g.Unit == "bytes":
		return figure{inkDim, g.Name, fixed(g.Value/1000, 1), "KB"}
	case g.Unit == "":
		return figure{inkDim, g.Name, fixed(g.Value, 0), ""}
	}
	return figure{inkDim, g.Name, fixed(g.Value, 1), g.Unit}
}
