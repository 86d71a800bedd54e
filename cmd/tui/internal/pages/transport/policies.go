package transport

import (
	"fmt"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// policies lists the policies of each kind with their figures, one row each; a kind without a policy has a row with the
// command that sets one.
type policies struct {
	cfg  *config.Config
	snap *engine.Snapshot
}

func (p *policies) Name() string { return "Policies" }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue).
func (p *policies) Observe(v room.View) bool {
	if p.snap != nil && !v.RedrawDue && p.cfg == v.Cfg {
		return false
	}
	p.cfg, p.snap = v.Cfg, v.Snap
	return true
}

// policyRow is a row: what the policy is for, the policy, and its figures.
type policyRow struct {
	kind, name string
	isSet      bool
	figures    []string // the most important first
}

func (p *policies) rows() []policyRow {
	lane := p.lane()
	t := &lane.Totals
	queue := policyRow{kind: "Queue", name: "/down queue_discipline fq_codel"}
	if d := p.cfg.Down.Rate.Discipline; hasQueue(lane) {
		queue.isSet, queue.name = true, "droptail"
		if d.Name() != "" {
			queue.name = d.Label()
		}
		queue.figures = append(queue.figures, "peak "+t.Network.QueuePeakBytes.FormatWith(units.Bytes, "-"))
		if n := t.LostBy[lossmodel.Queue]; n > 0 {
			queue.figures = append(queue.figures, fmt.Sprintf("dropped %d", n))
		}
	}
	others := policyRow{kind: "Traffic", name: "/traffic 1 cubic", isSet: len(p.cfg.Traffic) > 0}
	if others.isSet {
		others.name = p.cfg.Traffic.Label()
		for _, f := range lane.Traffic {
			others.figures = append(others.figures, f.Mbps.Text(2)+" Mbit/s")
		}
	}
	control := policyRow{kind: "Send rate", name: "/control ack-clock"}
	if x := lane.Control; x != nil {
		control.isSet, control.name = true, x.Policy.Label()
		control.figures = append(control.figures, fmt.Sprintf("held back %d", x.Held))
		if x.TargetBps > 0 {
			control.figures = append(control.figures, "target now "+units.Fixed(float64(x.TargetBps)/1000, 0)+" kbps")
		}
	}
	repair := policyRow{kind: "Redundancy", name: "/redundancy repeat n=1"}
	if r := t.Redundancy; r != nil {
		repair.isSet, repair.name = true, r.Policy
		repair.figures = append(repair.figures, fmt.Sprintf("repaired %d", r.Repaired), "+"+units.Fixed(r.OverheadKbps, 0)+" kbps")
	}
	messages := policyRow{kind: "Messages", name: "[messages] in a file"}
	if m := t.Messages; m != nil {
		messages.isSet, messages.name = true, m.Delivery
		messages.figures = append(messages.figures, fmt.Sprintf("under way %d", lane.UnderWay))
		if m.DeliveryMS.N > 0 {
			messages.figures = append(messages.figures, "delivery p99 "+units.Fixed(m.DeliveryMS.P99, 0)+" ms")
		}
	}
	f := panes.FiguresOf(lane, p.snap.Item)
	play := policyRow{kind: "Playout", isSet: true, name: p.cfg.Playout().Label(),
		figures: []string{f.Title("playout.starved_ratio") + " " + f.Run("playout.starved_ratio") + " %", f.Title("age_ms.p50") + " " + f.Run("age_ms.p50") + " ms"}}
	return []policyRow{queue, others, control, repair, messages, play}
}

// lane returns the active lane.
func (p *policies) lane() *engine.Lane { return room.View{Snap: p.snap}.ActiveLane() }

// hasQueue reports whether the newest sample of a lane has a bottleneck.
func hasQueue(l *engine.Lane) bool {
	samples := l.Samples
	return len(samples) > 0 && samples[len(samples)-1].Transport.HasQueue
}

func (p *policies) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Policies", look.Fit(look.TitleSpace(c.W, "Policies"), []look.Span{look.Dim.Span("figures of the whole run; x explains")}, nil)...)
	const nameX = 14
	y := 1
	for _, r := range p.rows() {
		if y >= c.H-1 {
			return
		}
		c.Clip(2, y, nameX-3, look.Dim, r.kind)
		if !r.isSet {
			c.Clip(nameX, y, c.W-2-nameX, look.Dim, "none: "+r.name)
			y++
			continue
		}
		x := c.Clip(nameX, y, c.W-2-nameX, look.Value, r.name)
		groups := [][]look.Span{}
		for _, f := range r.figures {
			groups = append(groups, []look.Span{look.Dim.Span("  " + f)})
		}
		if spans := look.FitGroups(c.W-2-x, groups); len(spans) > 0 || y+1 >= c.H-1 {
			c.Spans(x, y, c.W-2-x, spans...)
		} else { // in a row of their own
			y++
			c.Spans(nameX-2, y, c.W-nameX, look.FitGroups(c.W-nameX, groups)...)
		}
		y++
	}
	y++ // an empty row
	for _, text := range p.reasons() {
		for _, line := range look.Wrap(text, c.W-4) {
			if y < c.H-1 {
				c.Clip(2, y, c.W-4, look.Plain, line)
				y++
			}
		}
	}
}

// Reasons implements room.Reasoner.
func (p *policies) Reasons() (room.Request, bool) {
	lines := p.reasons()
	return room.Request{Overlay: &room.TextBox{Title: "Flow", Text: room.Paragraphs(lines...)}}, len(lines) > 0
}

func (p *policies) KeyHelp(key string) string {
	return map[string]string{"x": "explain the loop and the policies"}[key]
}

// reasons returns sentences about what limits the flow, about the loop, and then about the newest decisions of the send-rate controls, newest first.
func (p *policies) reasons() (texts []string) {
	if len(p.lane().Samples) == 0 {
		return nil
	}
	texts = append(texts, p.verdict())
	if text := p.explainLoop(); text != "" {
		texts = append(texts, text)
	}
	for i := range p.snap.Lanes {
		l := &p.snap.Lanes[i]
		if l.Control == nil {
			continue
		}
		const newest = 10
		list := l.Control.Decisions
		for _, d := range slices.Backward(list[max(len(list)-newest, 0):]) {
			text := fmt.Sprintf("%s, lane %s: %s", look.FormatTime(d.At), l.Letter, d.Text())
			if d.Held > 1 {
				text += fmt.Sprintf("; %d snapshots until %s", d.Held, look.FormatTime(d.Until))
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// verdict says what limits the flow: the line, the send-rate control, the budget of the sender or nothing. It ends with
// the losses of the last two seconds.
func (p *policies) verdict() string {
	lane := p.lane()
	last := meters.Sum(meters.Tail(lane.Samples, room.RecentSpan))
	used, line, budget := lane.Recent.WireKbps, float64(last.Transport.LineBps)/1000, float64(p.cfg.Sender.Budget)/1000
	text := "Nothing limits the flow now"
	const (
		nearlyAll = 0.9 // of a budget, which is rarely used to the last bit
		longQueue = 100 * time.Millisecond
	)
	switch {
	case line > 0 && used > line:
		text = fmt.Sprintf("Limited by the line: the session sends %s kbps on a line of %s, so the queue does not drain", units.Fixed(used, 0), units.Fixed(line, 0))
	case last.Held > 0 && lane.Control != nil:
		text = "Limited by the send-rate control " + lane.Control.Policy.Label() + ", which held back " + words.Count(last.Held, "snapshot")
		if why := lastCut(lane.Control.Decisions); why != "" {
			text += " (" + why + ")"
		}
	case budget > 0 && used >= nearlyAll*budget:
		text = fmt.Sprintf("Limited by the budget of the sender: %s of %s kbps are used", units.Fixed(used, 0), units.Fixed(budget, 0))
	case last.Queue.Delay > longQueue:
		text = "Limited by the line: its queue delays packets by " + units.Fixed(units.Milliseconds(last.Queue.Delay), 0) + " ms"
	}
	queue := last.LostBy[lossmodel.Queue]
	share := units.Fixed(100*float64(last.Lost-queue)/float64(max(last.Sent, 1)), 1)
	return fmt.Sprintf("%s. In the last 2 s the link lost %s %% and the queue dropped %s.", text, share, words.Count(queue, "packet"))
}

// lastCut returns the time and the reason of the newest cut of the rate; "" without one.
func lastCut(list []endpoint.Decision) string {
	for _, d := range slices.Backward(list) {
		if d.Held == 0 && d.To < d.From {
			return look.FormatTime(d.At) + " " + d.Text()
		}
	}
	return ""
}

// explainLoop describes the loop between queue, round trip, baseline and packet size: the means of the last two seconds,
// and those of the two seconds with the shortest round trip of the stored time. It returns "" before the first ack.
func (p *policies) explainLoop() string {
	lane := p.lane()
	if p.snap.Schema == nil || p.snap.Schema.TickHz == 0 {
		return ""
	}
	last := meters.Tail(lane.Samples, room.RecentSpan)
	roundTrip, known := panes.RoundTripMS.Of(last).Value()
	if !known {
		return ""
	}
	best, shortest := last, roundTrip
	window := int(room.RecentSpan / meters.SamplePeriod)
	for i := 0; i+window <= len(lane.Samples); i += window {
		part := lane.Samples[i : i+window]
		if v, ok := panes.RoundTripMS.Of(part).Value(); ok && v < shortest {
			best, shortest = part, v
		}
	}
	text := "Round trip " + units.Fixed(roundTrip, 0) + " ms."
	newest := &last[len(last)-1]
	if q := &newest.Queue; q.Delay > 0 {
		text += fmt.Sprintf(" A packet sent now waits %s ms in the queue, which contains %s.", units.Fixed(units.Milliseconds(q.Delay), 0), units.Bytes(float64(q.Total())))
	}
	text += " " + p.describe(last)
	text += "."
	if roundTrip < 2*shortest { // otherwise the loop does not explain the size
		return text
	}
	return text + " At the shortest round trip, " + units.Fixed(shortest, 0) + " ms: " + p.describe(best) + "."
}

// describe returns a sentence, without its end, on the baselines and the packets of samples.
func (p *policies) describe(samples []meters.Sample) string {
	ticks := meters.Ratio(meters.BaselineAge).Of(samples)
	return "Baselines are " + ticks.Times(1000/float64(p.snap.Schema.TickHz)).Text(0) + " ms old and packets have " +
		meters.Ratio(panes.WireBytes).Of(samples).Text(0) + " bytes"
}
