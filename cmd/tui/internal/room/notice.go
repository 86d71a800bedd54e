package room

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Notice is the sentence in place of the footer. It goes after some time, or with the first
// key once it is a second old.
type Notice struct {
	text  string
	tone  tone
	tick  int
	since int  // the tick in which it was first shown
	until int  // the tick at which it goes
	Stale bool // it differs from what was drawn last
}

// tone is the kind of a notice; it sets colour and sign.
type tone uint8

// The tones. ToneDim is an aside.
const (
	toneGood tone = iota
	toneBad
	ToneWarn
	ToneDim
)

const (
	noticeTicks = 120 // how long a notice stays, and one tick more for each letter beyond glance
	glance      = 60
	freshTicks  = 20 // how long a key leaves a new notice alone
	noticeRows  = 6  // the most rows that a notice covers
)

// Tick lets a twentieth of a second pass.
func (n *Notice) Tick() {
	n.tick++
	if n.text != "" && n.tick >= n.until {
		n.Dismiss()
	}
}

// Say shows a sentence; bad marks it as a complaint.
func (n *Notice) Say(text string, bad bool) {
	if bad {
		n.Show(text, toneBad)
		return
	}
	n.Show(text, toneGood)
}

// Show shows a sentence for as long as it takes to read.
func (n *Notice) Show(text string, tone tone) {
	n.text, n.tone = strings.ReplaceAll(text, "\n", " "), tone
	n.since, n.until = n.tick, n.tick+noticeTicks+max(len(text)-glance, 0)
	n.Stale = true
}

// Dismiss removes the notice.
func (n *Notice) Dismiss() { n.text, n.Stale = "", true }

// DismissOld removes a notice that is a second old.
func (n *Notice) DismissOld() {
	if n.text != "" && n.tick-n.since >= freshTicks {
		n.Dismiss()
	}
}

// UnknownKey answers a key without a binding, unless another notice is shown.
func (n *Notice) UnknownKey() {
	if n.text == "" {
		n.Show("no such key here; ? lists them", ToneDim)
	}
}

// Lines draws the notice in w columns, on as many rows as it needs; nil without a notice.
func (n *Notice) Lines(th *look.Theme, w int) []string {
	if n.text == "" {
		return nil
	}
	k, sign := look.Good, string(th.Outcome[packetlog.Decoded])
	switch n.tone {
	case toneBad:
		k, sign = look.Bad, "!"
	case ToneWarn:
		k, sign = look.Warn, "!"
	case ToneDim:
		k, sign = look.Dim, ""
	}
	lines := look.Wrap(n.text, w-4)
	if len(lines) > noticeRows {
		lines = append(lines[:noticeRows-1:noticeRows-1], strings.Join(lines[noticeRows-1:], " "))
	}
	c := look.NewCanvas(w, max(len(lines), 1))
	for y, line := range lines {
		c.Clip(3, y, w-4, k, line)
	}
	c.Text(1, 0, k, sign)
	return c.Lines(th)
}
