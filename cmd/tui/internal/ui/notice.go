package ui

import (
	"slices"
	"strings"

	"wirelab/experiment"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"
)

// notice is something for the person to read, shown for a while.
type notice struct {
	text  string
	tone  noteTone
	since int // when it was first shown
	until int
	seen  int // newest notice of the lab

	refusal string            // newest complaint of the encoder, without its numbers
	refused int64             // frames that it refused so far
	fails   int               // tick until which it counts as failing
	links   [2]lossmodel.Spec // whose netem lines were warned about, down and up
}

// noteTone is how a notice is meant.
type noteTone uint8

const (
	toneGood noteTone = iota
	toneBad
	toneWarn
	toneDim // an aside
)

// hear takes up what the lab has to say.
func (m *Model) hear() {
	if n := m.snap.Notice; n.ID != m.note.seen {
		m.note.seen = n.ID
		m.say(n.Text, n.Bad)
		if n.Bad {
			m.want.forget()
		}
	}
	m.hearEncoder()
	m.warn()
	if m.note.text != "" && m.ticks >= m.note.until {
		m.note.text, m.stale = "", true
	}
}

// hearEncoder says when the encoder refuses frames, each complaint once: one that
// fails on every frame has the same to say sixty times a second, with another
// number in it. As long as it fails the header says so.
func (m *Model) hearEncoder() {
	if len(m.snap.Lanes) == 0 {
		return
	}
	lane := &m.snap.Lanes[0]
	n := lane.Totals.EncodeFailed
	rose := n > m.note.refused
	m.note.refused = n
	if !rose {
		return
	}
	m.note.fails = m.ticks + freshTicks
	text := "it does not say why"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if numberless := lane.Encoder + strings.Map(undigit, text); numberless != m.note.refusal {
		m.note.refusal = numberless
		m.say("the encoder refused a frame: "+text, true)
	}
}

// undigit leaves out digits.
func undigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// fails reports whether the encoder refuses frames just now.
func (m *Model) fails() bool { return m.ticks < m.note.fails }

// warn tells what the links do that their settings do not say, once for every
// change of a netem line: to find out takes milliseconds.
func (m *Model) warn() {
	cfg := m.want.config(m.snap)
	if cfg.Down.Netem == m.note.links[0].Netem && cfg.Up.Netem == m.note.links[1].Netem {
		return
	}
	m.note.links = [2]lossmodel.Spec{cfg.Down, cfg.Up}
	var list []string
	for _, spec := range []*lossmodel.Spec{&cfg.Down, &cfg.Up} {
		for _, w := range spec.Warnings() {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	if len(list) > 0 {
		m.show(strings.Join(list, ". "), toneWarn)
	}
}

// say shows a sentence for a while.
func (m *Model) say(text string, bad bool) {
	if bad {
		m.show(text, toneBad)
		return
	}
	m.show(text, toneGood)
}

// show shows text for as long as it takes to read.
func (m *Model) show(text string, tone noteTone) {
	const easy = 60 // letters that are read at a glance
	m.note.text, m.note.tone = strings.ReplaceAll(text, "\n", " "), tone
	m.note.since = m.ticks
	m.note.until = m.ticks + noteTicks + max(len(text)-easy, 0)
	m.stale = true
}

// dismiss takes the notice away.
func (m *Model) dismiss() { m.note.text, m.stale = "", true }

// freshTicks is how long a notice is too new for a key to take it away: a second.
const freshTicks = 20

// outgrow takes away a notice that was there before the key that comes now was
// thought of.
func (m *Model) outgrow() {
	if m.note.text != "" && m.ticks-m.note.since >= freshTicks {
		m.dismiss()
	}
}

// accept says in a few words what is being done, in place of what was said
// before it.
func (m *Model) accept(c experiment.Command) {
	switch {
	case c.Change != nil && c.Change.Label() != "":
		m.say(c.Change.Label(), false)
	case c.Speed != nil:
		m.say("speed "+speedText(m.theme, *c.Speed), false)
	default: // the lab or the header will say
		m.dismiss()
	}
}

// stray answers a key that means nothing.
func (m *Model) stray() {
	if m.note.text == "" {
		m.show("no such key here; ? lists them", toneDim)
	}
}

// noteRows is the most rows that a notice covers.
const noteRows = 6

// notice draws the notice, on as many rows as it needs.
func (m *Model) notice() []string {
	k, sign := inkGood, string(m.theme.outcome[engine.Decoded])
	switch m.note.tone {
	case toneBad:
		k, sign = inkBad, "!"
	case toneWarn:
		k, sign = inkWarn, "!"
	case toneDim:
		k, sign = inkDim, ""
	}
	lines := wrap(m.note.text, m.w-4)
	if len(lines) > noteRows {
		lines = append(lines[:noteRows-1:noteRows-1], strings.Join(lines[noteRows-1:], " "))
	}
	c := newCanvas(m.w, max(len(lines), 1))
	for y, line := range lines {
		c.clip(3, y, m.w-4, k, line)
	}
	c.text(1, 0, k, sign)
	return c.lines(m.theme)
}
