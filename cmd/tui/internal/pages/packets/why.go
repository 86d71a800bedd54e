package packets

import (
	"strconv"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/report"
	"wirelab/internal/units"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// why says why the last packet failed or was large, and what other troubles
// there were of late: the newest of each kind. It stands still while it is read.
type why struct {
	list []inspector.Incident
	cfg  *config.Config
	now  time.Duration
	at   int // the one under the cursor
	w    int // of the last picture
}

// NewWhy lists the troubles that a snapshot knows of.
func NewWhy(snap *engine.Snapshot, cfg *config.Config) *why {
	return &why{list: troubles(snap), cfg: cfg, now: snap.Now}
}

// Key handles a key: enter opens the packet.
func (b *why) Key(msg tea.KeyMsg) room.Request {
	n := room.ReadStep(msg)
	switch {
	case n != 0 && len(b.list) > 0:
		b.at = min(max(b.at+n, 0), len(b.list)-1)
		return room.Request{}
	case msg.Type == tea.KeyEnter && len(b.list) > 0 && b.list[b.at].Reason != inspector.BecauseRefusedFrame:
		return room.Request{Closes: true, Packet: &b.list[b.at].Opened.ID}
	}
	return room.Request{Closes: true}
}

func (b *why) Size(w, h int) (ow, oh int, right bool) {
	b.w = min(w, 112)
	rows := 2
	for i := range b.list {
		rows += len(b.lines(i)) + 1
	}
	return b.w, min(max(rows, 3), h), false
}

// lines is the sentence of one trouble, wrapped.
func (b *why) lines(i int) []string {
	return look.Wrap(report.Explain(&b.list[i].Opened, b.list[i].Reason, b.cfg), b.w-6)
}

func (b *why) Draw(c *look.Canvas, th *look.Theme) {
	hint := []look.Span{look.Dim.Span("the newest of each kind; enter opens the packet, any other key closes")}
	c.Frame(th, true, "Why", look.Fit(look.HeadRoom(c.W, "Why"), hint,
		[]look.Span{look.Dim.Span("enter opens it, any other key closes")}, nil)...)
	if len(b.list) == 0 {
		c.Clip(2, 1, c.W-4, look.Plain, "nothing has gone wrong yet, and no packet was much larger than those before it")
		return
	}
	y := 1
	for i := b.top(c.H - 2); i < len(b.list) && y < c.H-1; i++ {
		y = b.drawOne(c, th, y, i)
	}
}

// top is the first trouble in the picture, so that the one under the cursor is in
// it.
func (b *why) top(room int) int {
	first := b.at
	for rows := len(b.lines(b.at)) + 1; first > 0; first-- {
		rows += len(b.lines(first-1)) + 1
		if rows > room+1 {
			break
		}
	}
	return first
}

// drawOne writes one trouble and returns the row after it.
func (b *why) drawOne(c *look.Canvas, th *look.Theme, y, i int) int {
	x := &b.list[i]
	mark := " "
	if i == b.at {
		mark = th.Chosen
	}
	c.Text(1, y, look.Chosen, mark)
	head := []look.Span{reasonHeadInk(x).Span(x.Reason.String()), look.Dim.Span(", " + ago(b.now-x.T) + ", " + times(x.N))}
	c.Spans(3, y, c.W-5, head...)
	y++
	for _, line := range b.lines(i) {
		if y < c.H-1 {
			c.Clip(3, y, c.W-5, look.Plain, line)
			y++
		}
	}
	return y
}

// reasonHeadInk is the colour that the packet has elsewhere.
func reasonHeadInk(x *inspector.Incident) look.Ink {
	if x.Reason.Large() || x.Reason == inspector.BecauseRefusedFrame {
		return look.Warn
	}
	return look.OutcomeInk(x.Opened.Record.Outcome)
}

func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return units.Fixed(d.Seconds(), 0) + " s ago"
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times so far"
}
