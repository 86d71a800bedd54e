package room

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
)

// Notice is a message in place of the footer. It disappears after some time, or with the next key once
// it has been shown for a second.
type Notice struct {
	text      string
	tone      tone
	tick      int  // the present
	shownAt   int  // tick at which the notice appeared
	expiresAt int  // tick at which it disappears
	Changed   bool // the notice changed since it was last drawn
}

// tone is the kind of a notice, which selects style and marker.
type tone uint8

// The tones. ToneDim is for unimportant messages.
const (
	toneGood tone = iota
	toneBad
	ToneWarn
	ToneDim
)

const (
	baseTicks     = 120 // duration of a notice, plus one tick per byte beyond freeLetters; there are 20 ticks per second
	freeLetters   = 60  // bytes
	minTicks      = 20  // minimum duration, during which keys do not dismiss a notice
	maxNoticeRows = 6   // maximum height; the last row is cut if the text is longer
)

// Tick advances the time by one tick.
func (n *Notice) Tick() {
	n.tick++
	if n.text != "" && n.tick >= n.expiresAt {
		n.Dismiss()
	}
}

// Say shows a message, in the style of an error if isError is set.
func (n *Notice) Say(text string, isError bool) {
	if isError {
		n.Show(text, toneBad)
		return
	}
	n.Show(text, toneGood)
}

// Show shows a message with the style of tone, in place of the previous one. Longer messages are shown longer.
func (n *Notice) Show(text string, tone tone) {
	n.text, n.tone = strings.ReplaceAll(text, "\n", " "), tone
	n.shownAt, n.expiresAt = n.tick, n.tick+baseTicks+max(len(text)-freeLetters, 0)
	n.Changed = true
}

// Dismiss removes the notice.
func (n *Notice) Dismiss() { n.text, n.Changed = "", true }

// DismissOld removes the notice if it has been shown for a second.
func (n *Notice) DismissOld() {
	if n.text != "" && n.tick-n.shownAt >= minTicks {
		n.Dismiss()
	}
}

// UnknownKey shows a notice about a key without a binding, unless another notice is shown.
func (n *Notice) UnknownKey() {
	if n.text == "" {
		n.Show("no such key here; ? lists them", ToneDim)
	}
}

// Visible reports whether there is a notice.
func (n *Notice) Visible() bool { return n.text != "" }

// Lines returns the lines of the notice in w columns; nil if none exists.
func (n *Notice) Lines(th *look.Theme, w int) []string {
	if n.text == "" {
		return nil
	}
	style, marker := look.Good, string(th.Outcome[packetlog.Decoded])
	switch n.tone {
	case toneBad:
		style, marker = look.Bad, "!"
	case ToneWarn:
		style, marker = look.Warn, "!"
	case ToneDim:
		style, marker = look.Dim, ""
	}
	lines := look.WrapRows(n.text, w-4, maxNoticeRows)
	c := look.NewCanvas(w, max(len(lines), 1))
	for y, line := range lines {
		c.Clip(3, y, w-4, style, line)
	}
	c.Text(1, 0, style, marker)
	return c.Lines(th)
}
