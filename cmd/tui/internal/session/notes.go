package session

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// Notes are the notice that is shown now, and what must be known so that nothing
// is said twice.
type Notes struct {
	text  string
	tone  Tone
	since int  // when it was first shown
	until int  // tick at which it goes
	Stale bool // it is not as it was last drawn
	seen  int  // newest notice of the lab

	refusal string            // newest complaint of the encoder, without its numbers
	refused int64             // frames that it refused so far
	fails   int               // tick until which it counts as failing
	remarks string            // of the data, as they were shown
	links   [2]lossmodel.Spec // whose netem lines were warned about, down and up
}

// Tone is how a notice is meant.
type Tone uint8

const (
	toneGood Tone = iota
	toneBad
	toneWarn
	ToneDim // an aside
)

// hear takes up what the lab has to say.
func (s *Session) hear() {
	if n := s.Snap.Notice; n.ID != s.Note.seen {
		s.Note.seen = n.ID
		s.Say(n.Text, n.Bad)
		if n.Bad {
			s.Pending.forget()
		}
	}
	s.hearEncoder()
	s.warn()
	if s.Note.text != "" && s.Ticks >= s.Note.until {
		s.Dismiss()
	}
}

// hearEncoder reports frames that the encoder refuses. A complaint that differs
// from the last one in its numbers only is not repeated: an encoder that fails on
// every frame complains sixty times a second. While it fails the header says so.
func (s *Session) hearEncoder() {
	if len(s.Snap.Lanes) == 0 {
		return
	}
	lane := &s.Snap.Lanes[0]
	n := lane.Totals.EncodeFailed
	rose := n > s.Note.refused
	s.Note.refused = n
	if !rose {
		return
	}
	s.Note.fails = s.Ticks + freshTicks
	text := "it does not say why"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if numberless := lane.Encoder + strings.Map(undigit, text); numberless != s.Note.refusal {
		s.Note.refusal = numberless
		s.Say("the encoder refused a frame: "+text, true)
	}
}

// undigit leaves out digits.
func undigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// Fails reports whether the encoder refuses frames just now.
func (s *Session) Fails() bool { return s.Ticks < s.Note.fails }

// warn shows what is to be known of the data, and the warnings of both links, once after every change of a netem line:
// to work them out takes milliseconds.
func (s *Session) warn() {
	cfg := s.Config()
	if list := strings.Join(s.Snap.Remarks, ". "); list != s.Note.remarks {
		if s.Note.remarks = list; list != "" {
			s.Show(list, toneWarn)
		}
	}
	if cfg.Down.Netem == s.Note.links[0].Netem && cfg.Up.Netem == s.Note.links[1].Netem {
		return
	}
	s.Note.links = [2]lossmodel.Spec{cfg.Down, cfg.Up}
	var list []string
	for _, spec := range []*lossmodel.Spec{&cfg.Down, &cfg.Up} {
		for _, w := range spec.Warnings() {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	if len(list) > 0 {
		s.Show(strings.Join(list, ". "), toneWarn)
	}
}

// Say shows a sentence for a while.
func (s *Session) Say(text string, bad bool) {
	if bad {
		s.Show(text, toneBad)
		return
	}
	s.Show(text, toneGood)
}

// Show shows text for as long as it takes to read.
func (s *Session) Show(text string, tone Tone) {
	const easy = 60 // letters that are read at a glance
	s.Note.text, s.Note.tone = strings.ReplaceAll(text, "\n", " "), tone
	s.Note.since = s.Ticks
	s.Note.until = s.Ticks + noteTicks + max(len(text)-easy, 0)
	s.Note.Stale = true
}

// Dismiss takes the notice away.
func (s *Session) Dismiss() { s.Note.text, s.Note.Stale = "", true }

// noteTicks is how long a notice stays.
const noteTicks = 120

// freshTicks is for how long a key leaves a new notice alone: a second.
const freshTicks = 20

// DismissOld takes away a notice that is a second old: called when a key comes.
func (s *Session) DismissOld() {
	if s.Note.text != "" && s.Ticks-s.Note.since >= freshTicks {
		s.Dismiss()
	}
}

// UnknownKey answers a key that means nothing.
func (s *Session) UnknownKey() {
	if s.Note.text == "" {
		s.Show("no such key here; ? lists them", ToneDim)
	}
}

// noteRows is the most rows that a notice covers.
const noteRows = 6

// Notice draws the notice in w columns, on as many rows as it needs; none if there
// is nothing to say.
func (n *Notes) Notice(th *look.Theme, w int) []string {
	if n.text == "" {
		return nil
	}
	k, sign := look.Good, string(th.Outcome[packetlog.Decoded])
	switch n.tone {
	case toneBad:
		k, sign = look.Bad, "!"
	case toneWarn:
		k, sign = look.Warn, "!"
	case ToneDim:
		k, sign = look.Dim, ""
	}
	lines := look.Wrap(n.text, w-4)
	if len(lines) > noteRows {
		lines = append(lines[:noteRows-1:noteRows-1], strings.Join(lines[noteRows-1:], " "))
	}
	c := look.NewCanvas(w, max(len(lines), 1))
	for y, line := range lines {
		c.Clip(3, y, w-4, k, line)
	}
	c.Text(1, 0, k, sign)
	return c.Lines(th)
}
