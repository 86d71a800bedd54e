package ui

import (
	"slices"
	"strings"

	"wirelab/experiment"
	"wirelab/lossmodel"
)

// notes is what there is to say: a notice, shown for a while, and what was said
// already.
type notes struct {
	text  string
	tone  noteTone
	since int  // when it was first shown
	until int  // tick at which it goes
	stale bool // it is not as it was last drawn
	seen  int  // newest notice of the lab

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
func (s *session) hear() {
	if n := s.snap.Notice; n.ID != s.note.seen {
		s.note.seen = n.ID
		s.say(n.Text, n.Bad)
		if n.Bad {
			s.pending.forget()
		}
	}
	s.hearEncoder()
	s.warn()
	if s.note.text != "" && s.ticks >= s.note.until {
		s.note.text, s.note.stale = "", true
	}
}

// hearEncoder says when the encoder refuses frames, each complaint once: one that
// fails on every frame has the same to say sixty times a second, with another
// number in it. As long as it fails the header says so.
func (s *session) hearEncoder() {
	if len(s.snap.Lanes) == 0 {
		return
	}
	lane := &s.snap.Lanes[0]
	n := lane.Totals.EncodeFailed
	rose := n > s.note.refused
	s.note.refused = n
	if !rose {
		return
	}
	s.note.fails = s.ticks + freshTicks
	text := "it does not say why"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if numberless := lane.Encoder + strings.Map(undigit, text); numberless != s.note.refusal {
		s.note.refusal = numberless
		s.say("the encoder refused a frame: "+text, true)
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
func (s *session) fails() bool { return s.ticks < s.note.fails }

// warn tells what the links do that their settings do not say, once for every
// change of a netem line: to find out takes milliseconds.
func (s *session) warn() {
	cfg := s.config()
	if cfg.Down.Netem == s.note.links[0].Netem && cfg.Up.Netem == s.note.links[1].Netem {
		return
	}
	s.note.links = [2]lossmodel.Spec{cfg.Down, cfg.Up}
	var list []string
	for _, spec := range []*lossmodel.Spec{&cfg.Down, &cfg.Up} {
		for _, w := range spec.Warnings() {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	if len(list) > 0 {
		s.show(strings.Join(list, ". "), toneWarn)
	}
}

// say shows a sentence for a while.
func (s *session) say(text string, bad bool) {
	if bad {
		s.show(text, toneBad)
		return
	}
	s.show(text, toneGood)
}

// show shows text for as long as it takes to read.
func (s *session) show(text string, tone noteTone) {
	const easy = 60 // letters that are read at a glance
	s.note.text, s.note.tone = strings.ReplaceAll(text, "\n", " "), tone
	s.note.since = s.ticks
	s.note.until = s.ticks + noteTicks + max(len(text)-easy, 0)
	s.note.stale = true
}

// dismiss takes the notice away.
func (s *session) dismiss() { s.note.text, s.note.stale = "", true }

// noteTicks is how long a notice stays.
const noteTicks = 120

// freshTicks is how long a notice is too new for a key to take it away: a second.
const freshTicks = 20

// outgrow takes away a notice that was there before the key that comes now was
// thought of.
func (s *session) outgrow() {
	if s.note.text != "" && s.ticks-s.note.since >= freshTicks {
		s.dismiss()
	}
}

// stray answers a key that means nothing.
func (s *session) stray() {
	if s.note.text == "" {
		s.show("no such key here; ? lists them", toneDim)
	}
}

// noteRows is the most rows that a notice covers.
const noteRows = 6

// notice draws the notice in w columns, on as many rows as it needs; none if there
// is nothing to say.
func (n *notes) notice(th *theme, w int) []string {
	if n.text == "" {
		return nil
	}
	k, sign := inkGood, string(th.outcome[experiment.Decoded])
	switch n.tone {
	case toneBad:
		k, sign = inkBad, "!"
	case toneWarn:
		k, sign = inkWarn, "!"
	case toneDim:
		k, sign = inkDim, ""
	}
	lines := wrap(n.text, w-4)
	if len(lines) > noteRows {
		lines = append(lines[:noteRows-1:noteRows-1], strings.Join(lines[noteRows-1:], " "))
	}
	c := newCanvas(w, max(len(lines), 1))
	for y, line := range lines {
		c.clip(3, y, w-4, k, line)
	}
	c.text(1, 0, k, sign)
	return c.lines(th)
}
