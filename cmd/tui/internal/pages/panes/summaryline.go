package panes

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/internal/words"
)

// SummaryLine is one line with the main figures of the active encoder.
type SummaryLine struct {
	lane    engine.Lane
	item    string // name of an item of the data
	bits    string // the key of the bits per item
	clients int    // of a crowd, which has no lane; 0 without a crowd
}

func (p *SummaryLine) Name() string { return "Summary" }

// Observe implements room.Observer. The line changes when a slow redraw is due (see room.View.RedrawDue),
// and at once when a packet was decoded wrongly.
func (p *SummaryLine) Observe(v room.View) bool {
	lane := v.ActiveLane()
	if v.Snap.Crowd != nil {
		p.clients = len(v.Snap.Crowd.Clients)
	}
	if !v.RedrawDue && lane.Totals.Wrong == p.lane.Totals.Wrong {
		return false
	}
	p.lane, p.item = *lane, v.Snap.Item
	p.bits = "bits_per_changed_cube"
	if ChangesAsWhole(v.Snap.Schema) {
		p.bits = "bits_per_item"
	}
	return true
}

// Draw draws the figures of the last two seconds, as many as fit, and then the failures of the run.
func (p *SummaryLine) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	if p.clients > 0 {
		c.Clip(1, 0, c.W-2, look.Dim, "a crowd of "+words.Count(p.clients, "client")+": the page Crowd has its figures")
		return
	}
	const narrow = 66 // columns
	failures := p.failures(c.W >= narrow || p.lane.Totals.Wrong > 0)
	width := c.W - 2 - look.SpansWidth(failures)
	f := FiguresOf(&p.lane, p.item)
	recent := look.FitGroups(width, [][]look.Span{look.Labelled("2 s"), f.Spans("payload_kbps", look.Payload), f.Spans("network.loss_rate", look.Lost),
		f.Spans(p.bits, look.Ratio), f.Spans("wire_kbps", look.Wire)})
	c.Spans(1, 0, width, recent...)
	c.Spans(1+width, 0, c.W, failures...)
}

// failures returns the number of packets of the run that failed to decode and, if withWrong is set, of those decoded
// wrongly.
func (p *SummaryLine) failures(withWrong bool) []look.Span {
	t := &p.lane.Totals
	failed, wrong := look.Value, look.Value
	if t.Failed() > 0 {
		failed = look.Bad
	}
	if t.Wrong > 0 {
		wrong = look.Alarm
	}
	out := []look.Span{look.Dim.Span("  run  failed "), failed.Span(strconv.FormatInt(t.Failed(), 10))}
	if withWrong {
		out = append(out, look.Dim.Span("  wrong "), wrong.Span(strconv.FormatInt(t.Wrong, 10)))
	}
	return out
}
