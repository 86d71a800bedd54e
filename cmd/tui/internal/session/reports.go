package session

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/lossmodel"
)

// reported records which notices and warnings were shown, so that none is shown twice.
type reported struct {
	noticeID   int               // ID of the newest notice shown
	refusal    string            // newest error of the encoder that was shown, without digits
	refusals   int64             // number of frames that the encoder refused so far
	failsUntil int               // tick until which the encoder counts as failing
	remarks    string            // remarks about the data that were shown
	links      [2]lossmodel.Spec // links whose netem warnings were shown, down and up
	idle       string            // warnings about settings of a budget that were shown
}

// showReports shows new notices, errors and warnings of the lab.
func (s *Session) showReports() {
	if n := s.Snap.Notice; n.ID != s.reported.noticeID {
		s.reported.noticeID = n.ID
		s.Say(n.Text, n.Bad)
		if n.Bad {
			s.Pending.forget()
		}
	}
	s.showRefusal()
	s.showWarnings()
}

// failingTicks is how long an encoder counts as failing after it refused a frame: one second.
const failingTicks = 20

// showRefusal shows the error of an encoder that refuses frames. An error that differs from the last
// one only in digits is not repeated, because an encoder that fails on every frame reports 60 errors
// per second. The header shows that the encoder fails; see EncoderFails.
func (s *Session) showRefusal() {
	if len(s.Snap.Lanes) == 0 {
		return
	}
	lane := &s.Snap.Lanes[0]
	refusals := lane.Totals.EncodeFailed
	hasNew := refusals > s.reported.refusals
	s.reported.refusals = refusals
	if !hasNew {
		return
	}
	s.reported.failsUntil = s.Ticks + failingTicks
	text := "no reason given"
	if lane.Err != nil {
		text = lane.Err.Error()
	}
	if withoutDigits := lane.Encoder + strings.Map(dropDigit, text); withoutDigits != s.reported.refusal {
		s.reported.refusal = withoutDigits
		const isError = true
		s.Say("the encoder refused a frame: "+text, isError)
	}
}

// dropDigit is a mapping for strings.Map that removes digits: -1 means that the rune is dropped.
func dropDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// EncoderFails reports whether the encoder refused a frame in the last second.
func (s *Session) EncoderFails() bool { return s.Ticks < s.reported.failsUntil }

// showWarnings shows new remarks about the data, settings of a budget that have no effect, and, after a change of a netem
// setting, the warnings of both links. Computing these takes milliseconds, so it is done only after a change.
func (s *Session) showWarnings() {
	cfg := s.Config()
	if list := strings.Join(s.Snap.Remarks, ". "); list != s.reported.remarks {
		s.reported.remarks = list
		if list != "" {
			s.Show(list, room.ToneWarn)
		}
	}
	if list := strings.Join(cfg.IdleBudget(), ". "); list != s.reported.idle {
		s.reported.idle = list
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
