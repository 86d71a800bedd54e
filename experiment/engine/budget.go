package engine

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/view"
	"wirelab/internal/units"
)

// setBudget applies the budget of c, the configuration of the lane.
func (l *lane) setBudget(c *config.Config) {
	b := c.SendBudget()
	l.snd.SetBudget(b, c.SendInterval())
	if b.Bps > 0 {
		l.sendBudget = b
		if l.views == nil {
			l.views = meters.NewView(l.schema, l.cadence)
		}
	}
}

// sendBudget returns the present budget of a lane.
func (s *Session) sendBudget(l *lane) endpoint.Budget { return s.config.ForLane(l.config).SendBudget() }

// measureViews compares what the receiver shows under a budget with the source's newest frame, that of
// the given tick. What a receiver on another machine shows is known only later, so it is not measured.
// restarted is set if the recording restarted with this frame.
func (l *lane) measureViews(tick uint64, cur *frame.Shared, restarted bool) {
	if l.views != nil && l.paths.peer == nil {
		if restarted {
			l.views.Jump(tick)
		}
		l.views.Tick(tick, cur, l.rcv.View())
	}
}

// showsUnsent reports whether the receiver, which has just decoded a view frame, shows a row that is
// newer than what the sender sent.
func (l *lane) showsUnsent(rx *reception) bool {
	server, client := l.snd.ViewOf(rx.Seq), l.rcv.View()
	return rx.HasView && server != nil && client != nil && client.ShowsUnsent(server)
}

// viewFigures returns the figures of the lane's budget; nil if it never had one.
func (l *lane) viewFigures(now time.Duration) *figures.View {
	if l.views == nil {
		return nil
	}
	if server, filler := l.snd.View(); server != nil {
		l.views.Waited(filler.LongestWait(server), l.liveConfig.SendInterval())
	}
	f := l.views.Figures(&l.sendBudget, now-l.joinedAt)
	f.Held = l.control.held
	return f
}

// CheckBudgets returns an error if the encoders of after cannot keep its budgets. before is the
// configuration until now; nil at the start. s and initial are the schema and the initial state of the
// data.
func CheckBudgets(before, after *config.Config, s *frame.Schema, initial *frame.Frame) error {
	if err := after.CheckBudgetFits(s); err != nil || after.FirstBudgetKey() == "" {
		return err
	}
	for i, e := range encodersOf(after) {
		lane, isChecked := after.ForLane(e), false
		if before != nil && after.SendInterval() == before.SendInterval() && (i == 0 && e.Equal(before.Encoder) || e.IsIn(before.Shadows)) {
			isChecked = lane.SendBudget() == before.ForLane(e).SendBudget()
		}
		if isChecked {
			continue
		}
		key := encoderKey(i)
		err := checkEncoderFits(key, e, lane, after.LaneKey(i, config.BudgetKey), lane.SendBudget(), s, initial)
		if err == nil {
			err = checkEncoderFits(key, e, lane, config.CrowdBudgetKey, lane.CrowdBudget(), s, initial)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEncoderFits returns an error if encoder e of c cannot encode parts of frames of schema s within
// budget b, if b is a budget. key is the configuration key of e, budgetKey that of b.
func checkEncoderFits(key string, e config.Encoder, c *config.Config, budgetKey string, b endpoint.Budget, s *frame.Schema, initial *frame.Frame) error {
	if b.Bps == 0 {
		return nil
	}
	encoding, err := newEncoding(key, e, c, s)
	if err != nil {
		return err
	}
	least, header := endpoint.BudgetNeed(&encoding), endpoint.MaxPacketOf(b, c.SendInterval())
	switch {
	case encoding.Codec.Quantises:
		return &config.Error{Key: key + ".name", Problem: encoding.Codec.Name + " rounds values, so a budget cannot determine which rows are right",
			Expected: "an encoder that does not, or " + budgetKey + " = off"}
	case least > header:
		return &config.Error{Key: budgetKey, Problem: fmt.Sprintf("%s allows packets of at most %d bytes, and the first packet takes %d",
			units.FormatRate(b.Bps), header, least), Expected: "more, or a lower sender.rate_hz"}
	}
	cur := s.NewFrame()
	cur.CopyFrom(initial)
	refs := []encoders.Ref{{Frame: initial, Changed: frame.NewRows(s.Rows)}}
	payload, _, err := encoding.Encoder.Encode(nil, cur, refs, nil, nil)
	if err != nil {
		return nil // the session reports it when it sends
	}
	if size := endpoint.BudgetNeed(&encoding) - view.MinPayload + len(payload); size > header {
		return &config.Error{Key: key + ".name", Problem: fmt.Sprintf("%s cannot encode part of a frame: a frame without changes takes %d bytes, and a budget of %s allows %d",
			encoding.Codec.Name, len(payload), units.FormatRate(b.Bps), header-(size-len(payload))),
			Expected: "an encoder that sends changed rows only, such as relative-orientation, or " + budgetKey + " = off"}
	}
	return nil
}
