package session

import (
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// reported records which notices and warnings were shown, so that none is shown twice.
type reported struct {
	noticeID   int            // ID of the newest notice shown
	refusal    string         // newest error of the encoder that was shown, without digits
	refusals   int64          // number of frames that the encoder refused so far
	failsUntil int            // tick until which the encoder counts as failing
	remarks    string         // remarks about the data that were shown
	config     *config.Config // configuration whose warnings were shown
	warnings   string         // warnings about it
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

// showWarnings shows new remarks about the data and, after a change of the configuration, new warnings about it. Computing
// the warnings takes milliseconds, so it is done only after a change.
func (s *Session) showWarnings() {
	if list := strings.Join(s.Snap.Remarks, ". "); list != s.reported.remarks {
		s.reported.remarks = list
		if list != "" {
			s.Show(list, room.ToneWarn)
		}
	}
	cfg, before := s.Config(), s.reported.config
	if before != nil && cfg.SameLive(before) {
		return
	}
	list := strings.Join(cfg.Warnings(), ". ")
	isKnown := before != nil && list == s.reported.warnings && cfg.Down.Netem == before.Down.Netem && cfg.Up.Netem == before.Up.Netem
	if list != "" && !isKnown {
		s.Show(list, room.ToneWarn)
	}
	s.reported.config, s.reported.warnings = cfg.Clone(), list // a pending configuration may change
}
