package session

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/lossmodel"
)

// reported is what was shown of the reports of the lab, so that nothing is shown twice.
type reported struct {
	seen    int               // newest notice of the lab
	refusal string            // newest complaint of the encoder, without its numbers
	refused int64             // frames that it refused so far
	fails   int               // tick until which it counts as failing
	remarks string            // of the data, as they were shown
	links   [2]lossmodel.Spec // whose netem lines were warned about, down and up
}

// showReports shows the notices of the lab that are new.
func (s *Session) showReports() {
	if n := s.Snap.Notice; n.ID != s.reported.seen {
		s.reported.seen = n.ID
		s.Say(n.Text, n.Bad)
		if n.Bad {
			s.Pending.forget()
		}
	}
	s.showRefusal()
	s.warn()
}

// failingTicks is how long an encoder counts as failing after it refused a frame: a second.
const failingTicks = 20

// showRefusal reports frames that the encoder refuses. A complaint that differs
// from the last one in its numbers only is not repeated: an encoder that fails on
// every frame complains sixty times a second. While it fails the header says so.
func (s *Session) showRefusal() {
	if len(s.Snap.Lanes) == 0 {
		return
	}
	lane := &s.Snap.Lanes[0]
	n := lane.Totals.EncodeFailed
	rose := n > s.reported.refused
	s.reported.refused = n
	if !rose {
		return
	}
	s.reported.fails = s.Ticks + failingTicks
	text := "it does not say why"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if numberless := lane.Encoder + strings.Map(undigit, text); numberless != s.reported.refusal {
		s.reported.refusal = numberless
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
func (s *Session) Fails() bool { return s.Ticks < s.reported.fails }

// warn shows what is to be known of the data, and the warnings of both links, once after every change of a netem line:
// to work them out takes milliseconds.
func (s *Session) warn() {
	cfg := s.Config()
	if list := strings.Join(s.Snap.Remarks, ". "); list != s.reported.remarks {
		s.reported.remarks = list
		if list != "" {
			s.Show(list, room.ToneWarn)
		}
	}
	if cfg.Down.Netem == s.reported.links[0].Netem && cfg.Up.Netem == s.reported.links[1].Netem {
		return
	}
	s.reported.links = [2]lossmodel.Spec{cfg.Down, cfg.Up}
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
