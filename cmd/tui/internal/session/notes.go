package session

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/lossmodel"
)

// heard is what the lab has reported already, so that nothing is shown twice.
type heard struct {
	seen    int               // newest notice of the lab
	refusal string            // newest complaint of the encoder, without its numbers
	refused int64             // frames that it refused so far
	fails   int               // tick until which it counts as failing
	remarks string            // of the data, as they were shown
	links   [2]lossmodel.Spec // whose netem lines were warned about, down and up
}

// hear takes up what the lab has to say.
func (s *Session) hear() {
	if n := s.Snap.Notice; n.ID != s.heard.seen {
		s.heard.seen = n.ID
		s.Say(n.Text, n.Bad)
		if n.Bad {
			s.Pending.forget()
		}
	}
	s.hearEncoder()
	s.warn()
}

// failingTicks is how long an encoder counts as failing after it refused a frame: a second.
const failingTicks = 20

// hearEncoder reports frames that the encoder refuses. A complaint that differs
// from the last one in its numbers only is not repeated: an encoder that fails on
// every frame complains sixty times a second. While it fails the header says so.
func (s *Session) hearEncoder() {
	if len(s.Snap.Lanes) == 0 {
		return
	}
	lane := &s.Snap.Lanes[0]
	n := lane.Totals.EncodeFailed
	rose := n > s.heard.refused
	s.heard.refused = n
	if !rose {
		return
	}
	s.heard.fails = s.Ticks + failingTicks
	text := "it does not say why"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if numberless := lane.Encoder + strings.Map(undigit, text); numberless != s.heard.refusal {
		s.heard.refusal = numberless
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
func (s *Session) Fails() bool { return s.Ticks < s.heard.fails }

// warn shows what is to be known of the data, and the warnings of both links, once after every change of a netem line:
// to work them out takes milliseconds.
func (s *Session) warn() {
	cfg := s.Config()
	if list := strings.Join(s.Snap.Remarks, ". "); list != s.heard.remarks {
		s.heard.remarks = list
		if list != "" {
			s.Show(list, room.ToneWarn)
		}
	}
	if cfg.Down.Netem == s.heard.links[0].Netem && cfg.Up.Netem == s.heard.links[1].Netem {
		return
	}
	s.heard.links = [2]lossmodel.Spec{cfg.Down, cfg.Up}
	var list []string
	for _, spec := range []*lossmodel.Spec{&cfg.Down, &cfg.Up} {
		for _, w := range spec.Warnings() {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	if len(list) > 0 {
		s.Show(strings.Join(list, ". "), room.ToneWarn)
	}
}
