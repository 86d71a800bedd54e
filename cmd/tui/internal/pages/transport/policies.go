package transport

import (
	"fmt"
	"slices"
	"strings"
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

// policies shows what limits the flow, the policies that are set with their figures, one row each, and the log of the
// send-rate controls.
type policies struct {
	cfg    *config.Config
	snap   *engine.Snapshot
	scroll int // entries of the log above the first one that is shown
}

func (p *policies) Name() string { return "Policies" }

// Move scrolls the log.
func (p *policies) Move(_, dy int) room.Request {
	p.scroll = max(p.scroll+dy, 0)
	return room.Request{}
}

func (p *policies) Arrows() [][2]string { return [][2]string{{"↑↓", "decisions"}} }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue).
func (p *policies) Observe(v room.View) bool {
	if !v.RedrawDue && p.cfg == v.Cfg {
		return false
	}
	p.cfg, p.snap = v.Cfg, v.Snap
	return true
}

// policyRow is a row: what the policy is for, the policy, and its figures.
type policyRow struct {
	kind, name string
	figures    []string // the most important first
}

// rows returns the policies that are set, and the commands that set the others.
func (p *policies) rows() (rows []policyRow, others []string) {
	lane := p.lane()
	t := &lane.Totals
	if d := p.cfg.Down.Rate.Discipline; panes.HasQueue(lane) {
		queue := policyRow{kind: "Queue", name: "droptail"}
		if d.Name() != "" {
			queue.name = d.Label()
		}
		queue.figures = append(queue.figures, fmt.Sprintf("dropped %d", t.LostBy[lossmodel.Queue]), "peak "+t.Network.QueuePeakBytes.FormatWith(units.Bytes, "-"))
		rows = append(rows, queue)
	} else {
		others = append(others, "/down rate 500kbit")
	}
	if len(p.cfg.Traffic) > 0 {
		flows := policyRow{kind: "Traffic", name: p.cfg.Traffic.Label()}
		for _, f := range lane.Traffic {
			flows.figures = append(flows.figures, f.Mbps.Times(1000).Text(0)+" kbps")
		}
		rows = append(rows, flows)
	} else {
		others = append(others, "/traffic 1 cubic")
	}
	if x := lane.Control; x != nil {
		control := policyRow{kind: "Send rate", name: x.Policy.Label(), figures: []string{fmt.Sprintf("held back %d snapshots", x.Held)}}
		if x.TargetBps > 0 {
			control.figures = append(control.figures, "target now "+kbps(float64(x.TargetBps)))
		}
		rows = append(rows, control)
	} else {
		others = append(others, "/control gcc")
	}
	if r := t.Redundancy; r != nil {
		rows = append(rows, policyRow{"Redundancy", r.Policy, []string{fmt.Sprintf("repaired %d", r.Repaired), "+" + units.Fixed(r.OverheadKbps, 0) + " kbps"}})
	} else {
		others = append(others, "/redundancy repeat n=1")
	}
	if m := t.Messages; m != nil {
		messages := policyRow{kind: "Messages", name: m.Delivery, figures: []string{fmt.Sprintf("under way now %d", lane.UnderWay)}}
		if m.DeliveryMS.N > 0 {
			messages.figures = append(messages.figures, "delivery p99 "+units.Fixed(m.DeliveryMS.P99, 0)+" ms")
		}
		rows = append(rows, messages)
	}
	if p.cfg.Receiver.PlayoutCompare == "" {
		others = append(others, "/playout_compare all")
	}
	f := panes.FiguresOf(lane, p.snap.Item)
	return append(rows, policyRow{"Playout", p.cfg.Playout().Label(),
		[]string{f.Title("playout.starved_ratio") + " " + f.Run("playout.starved_ratio") + " %", f.Title("age_ms.p50") + " " + f.Run("age_ms.p50") + " ms"}}), others
}

// kbps returns a rate in bits per second as text.
func kbps(bps float64) string { return units.Fixed(bps/1000, 0) + " kbps" }

// lane returns the active lane.
func (p *policies) lane() *engine.Lane { return room.View{Snap: p.snap}.ActiveLane() }

func (p *policies) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, p.Name(), look.Labelled("figures of the whole run; x explains"))
	y := 1
	wrap := func(style look.Style, text string) {
		for _, line := range look.Wrap(text, c.W-4) {
			if y < c.H-1 {
				c.Clip(2, y, c.W-4, style, line)
				y++
			}
		}
	}
	if len(p.lane().Samples) > 0 {
		what, why := p.verdict()
		wrap(look.Value, "Limited by: "+what)
		wrap(look.Plain, why)
	}
	const verdictRows = 5 // so that what follows does not move
	y = max(y, verdictRows)
	rows, others := p.rows()
	for _, r := range rows {
		y = r.draw(c, y)
	}
	wrap(look.Dim, "not set: "+strings.Join(others, ", "))
	y++ // an empty row
	if log := p.log(); len(log) > 0 {
		wrap(look.Dim, "decisions, newest first")
		p.scroll = min(p.scroll, len(log)-1)
		for _, text := range log[p.scroll:] {
			wrap(look.Plain, text)
		}
	}
}

// draw draws the row at y, with the figures in a row of their own if there is no space, and returns the row below.
func (r *policyRow) draw(c *look.Canvas, y int) (below int) {
	const nameX = 14
	if y >= c.H-1 {
		return y
	}
	c.Clip(2, y, nameX-3, look.Dim, r.kind)
	x := c.Clip(nameX, y, c.W-2-nameX, look.Value, r.name)
	groups := [][]look.Span{}
	for _, f := range r.figures {
		groups = append(groups, look.Labelled("  "+f))
	}
	if spans := look.FitGroups(c.W-2-x, groups); len(spans) > 0 || y+2 >= c.H-1 {
		c.Spans(x, y, c.W-2-x, spans...)
		return y + 1
	}
	c.Spans(nameX-2, y+1, c.W-nameX, look.FitGroups(c.W-nameX, groups)...)
	return y + 2
}

// Reasons implements room.Reasoner.
func (p *policies) Reasons() (room.Request, bool) {
	lines := p.reasons()
	title := "Flow at " + look.FormatTime(p.snap.Now) + ", means of the last 2 s"
	return room.Request{Overlay: &room.TextBox{Title: title, Text: room.Paragraphs(lines...)}}, len(lines) > 0
}

func (p *policies) KeyHelp(key string) string {
	return map[string]string{"x": "explain what limits the flow", "up": "scroll the decisions"}[key]
}

// reasons returns sentences about what limits the flow, about each possible limit with the setting that changes it, and
// about the loop.
func (p *policies) reasons() (texts []string) {
	lane := p.lane()
	if len(lane.Samples) == 0 {
		return nil
	}
	what, why := p.verdict()
	texts = append(texts, "Limited by: "+what+". "+why)
	last := meters.Sum(meters.Tail(lane.Samples, room.RecentSpan))
	if line := last.Transport.LinkBps; line > 0 {
		q := &lane.Samples[len(lane.Samples)-1].Queue
		texts = append(texts, fmt.Sprintf("Line: the session sends %s of %s, with all headers. A packet sent now waits %s ms in the queue of %s, of which other traffic has %s. "+
			"/down rate 1mbit widens the line; /down queue_discipline fq_codel keeps other traffic apart.", units.Fixed(lane.Recent.WireKbps, 0), kbps(float64(line)),
			units.Fixed(units.Milliseconds(q.Delay), 0), units.Bytes(float64(q.Total())), units.Bytes(float64(q.Others()))))
	}
	if x := lane.Control; x != nil {
		text := "Send-rate control " + x.Policy.Label() + ": "
		if x.TargetBps > 0 {
			text += "its target is " + kbps(float64(x.TargetBps)) + " now; "
		}
		text += fmt.Sprintf("it held back %s in the last 2 s and %d since the start.", words.Count(last.Held, "snapshot"), x.Held)
		if cut := lastCut(x.Decisions); cut != "" {
			text += " Its newest cut: " + cut + "."
		}
		texts = append(texts, text+" /control off ends it; an encoder with smaller packets needs fewer of its kbps.")
	}
	if budget := p.cfg.Sender.Budget; budget > 0 {
		texts = append(texts, fmt.Sprintf("Budget of the sender: %s of %s are used, without IP and UDP headers. /budget 200kbit changes it.",
			units.Fixed(budgetUse(&last)/1000, 0), kbps(float64(budget))))
	}
	if text := p.explainLoop(); text != "" {
		texts = append(texts, "Loop: "+text)
	}
	return texts
}

// log returns the newest decisions of the send-rate controls of all lanes, newest first.
func (p *policies) log() (texts []string) {
	for i := range p.snap.Lanes {
		l := &p.snap.Lanes[i]
		if l.Control == nil {
			continue
		}
		const newest = 30
		list := l.Control.Decisions
		for _, d := range slices.Backward(list[max(len(list)-newest, 0):]) {
			at := look.FormatTime(d.At)
			if d.Held > 1 {
				at += "-" + look.FormatTime(d.Until)
			}
			if len(p.snap.Lanes) > 1 {
				at += ", lane " + l.Letter
			}
			text := at + "  " + d.Text()
			if d.Held > 1 {
				text += fmt.Sprintf("; %d snapshots", d.Held)
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// budgetUse returns the rate in bits per second that counts for a budget, of a sum of samples over room.RecentSpan.
func budgetUse(sum *meters.Sample) float64 {
	const ipAndUDP = 8 * 28 // bits of a packet
	return float64(sum.WireBits-int64(sum.Sent)*ipAndUDP) / room.RecentSpan.Seconds()
}

// verdict returns what limits the flow: the line, the send-rate control, the budget of the sender or nothing; then the
// figures of the last two seconds from which that follows, and the losses.
func (p *policies) verdict() (what, why string) {
	lane := p.lane()
	last := meters.Sum(meters.Tail(lane.Samples, room.RecentSpan))
	used, line, budget := lane.Recent.WireKbps, float64(last.Transport.LinkBps), float64(p.cfg.Sender.Budget)
	const (
		nearlyAll = 0.9 // of a budget or a line, which are rarely used to the last bit
		longQueue = 50 * time.Millisecond
	)
	newest := &lane.Samples[len(lane.Samples)-1].Queue
	what, why = "nothing", "In the last 2 s: "
	switch {
	case last.Held > 0 && lane.Control != nil && 1000*used <= line:
		what = "the send-rate control " + lane.Control.Policy.Label()
		why += words.Count(last.Held, "snapshot") + " held back, "
	case line > 0 && newest.Others() > newest.Bytes && newest.Delay > longQueue:
		what = "the line: other traffic fills its queue"
	case line > 0 && (1000*used > nearlyAll*line || newest.Delay > longQueue):
		what = "the line"
	case budget > 0 && budgetUse(&last) >= nearlyAll*budget:
		what = "the budget of the sender"
		why += units.Fixed(budgetUse(&last)/1000, 0) + " of " + kbps(budget) + " used, "
	}
	if line > 0 {
		why += fmt.Sprintf("%s of %s of the line, queue %s ms, ", units.Fixed(used, 0), kbps(line), units.Fixed(units.Milliseconds(newest.Delay), 0))
	}
	queue := last.LostBy[lossmodel.Queue]
	share := units.Fixed(100*float64(last.Lost-queue)/float64(max(last.Sent, 1)), 1)
	return what, why + fmt.Sprintf("the link lost %s %% of %s, the queue dropped %d.", share, words.Count(last.Sent, "packet"), queue)
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
