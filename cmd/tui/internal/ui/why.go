package ui

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// whyBox says why the last packet failed or was large, and what other troubles
// there were of late: the newest of each kind. It stands still while it is read.
type whyBox struct {
	list []experiment.Incident
	cfg  *experiment.Config
	now  time.Duration
	at   int // the one under the cursor
	w    int // of the last picture
}

// newWhy lists the troubles that a snapshot knows of.
func newWhy(snap *experiment.Snapshot, cfg *experiment.Config) *whyBox {
	return &whyBox{list: troubles(snap), cfg: cfg, now: snap.Now}
}

// key handles a key: enter opens the packet.
func (b *whyBox) key(msg tea.KeyMsg) request {
	n := listStep(msg)
	switch {
	case n != 0 && len(b.list) > 0:
		b.at = min(max(b.at+n, 0), len(b.list)-1)
		return request{}
	case msg.Type == tea.KeyEnter && len(b.list) > 0 && b.list[b.at].Reason != experiment.BecauseRefusedFrame:
		return request{closes: true, packet: &b.list[b.at].Opened.ID}
	}
	return request{closes: true}
}

func (b *whyBox) size(w, h int) (ow, oh int, right bool) {
	b.w = min(w, 112)
	rows := 2
	for i := range b.list {
		rows += len(b.lines(i)) + 1
	}
	return b.w, min(max(rows, 3), h), false
}

// lines is the sentence of one trouble, wrapped.
func (b *whyBox) lines(i int) []string {
	return wrap(b.list[i].Opened.Explain(b.list[i].Reason, b.cfg), b.w-6)
}

func (b *whyBox) draw(c *canvas, th *theme) {
	hint := []span{{inkDim, "the newest of each kind; enter opens the packet, any other key closes"}}
	c.frame(th, true, "Why", fit(headRoom(c.w, "Why"), hint, []span{{inkDim, "enter opens it, any other key closes"}}, nil)...)
	if len(b.list) == 0 {
		c.clip(2, 1, c.w-4, inkPlain, "nothing has gone wrong yet, and no packet was much larger than those before it")
		return
	}
	y := 1
	for i := b.top(c.h - 2); i < len(b.list) && y < c.h-1; i++ {
		y = b.draws(c, th, y, i)
	}
}

// top is the first trouble in the picture, so that the one under the cursor is in
// it.
func (b *whyBox) top(room int) int {
	first := b.at
	for rows := len(b.lines(b.at)) + 1; first > 0; first-- {
		if rows += len(b.lines(first-1)) + 1; rows > room+1 {
			break
		}
	}
	return first
}

// draws writes one trouble and returns the row after it.
func (b *whyBox) draws(c *canvas, th *theme, y, i int) int {
	x := &b.list[i]
	mark := " "
	if i == b.at {
		mark = th.chosen
	}
	c.text(1, y, inkChosen, mark)
	head := []span{{reasonHeadInk(x), x.Reason.String()}, {inkDim, ", " + ago(b.now-x.T) + ", " + times(x.N)}}
	c.spans(3, y, c.w-5, head...)
	y++
	for _, line := range b.lines(i) {
		if y < c.h-1 {
			c.clip(3, y, c.w-5, inkPlain, line)
			y++
		}
	}
	return y
}

// reasonHeadInk is the colour that the packet has elsewhere.
func reasonHeadInk(x *experiment.Incident) ink {
	if x.Reason.Large() || x.Reason == experiment.BecauseRefusedFrame {
		return inkWarn
	}
	return outcomeInk(x.Opened.Record.Outcome)
}

func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return fixed(d.Seconds(), 0) + " s ago"
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times so far"
}
