package transport

import (
	"fmt"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// flow is a lane with its samples of the last two seconds. Their means are the figures of the charts and of all sentences.
type flow struct {
	*engine.Lane
	cfg    *config.Config
	recent []meters.Sample
	sum    meters.Sample // of recent
}

// mean returns the mean of a figure; 0 if it is unknown.
func (f *flow) mean(r meters.Ratio) float64 { return r.Of(f.recent).Or(0) }

// text returns the mean of a figure as text without decimals.
func (f *flow) text(r meters.Ratio) string { return r.Of(f.recent).Text(0) }

// budgetKbps returns the budget of the sender; 0 means none.
func (f *flow) budgetKbps() float64 { return float64(f.Budget.Bps) / 1000 }

// limit returns what limits the flow: the link, the send-rate control, the budget of the sender or nothing.
func (f *flow) limit() string {
	const (
		nearlyAll = 0.9 // of a budget or a link, which are rarely used to the last bit
		longQueue = 50  // ms
	)
	sent, link, budget := f.mean(meters.WireKbps), f.mean(panes.LinkKbps), f.budgetKbps()
	exceedsLink := link > 0 && sent > link
	hasLongQueue := f.mean(panes.QueueMS) > longQueue
	switch {
	case f.sum.Held > 0 && f.Control != nil && !exceedsLink:
		return "the send-rate control " + f.Control.Policy.Label()
	case hasLongQueue && f.mean(panes.OthersKB) > f.mean(panes.GameKB):
		return "the link: other traffic fills its queue"
	case hasLongQueue || link > 0 && sent > nearlyAll*link:
		return "the link"
	case budget > 0 && f.mean(panes.BudgetKbps) >= nearlyAll*budget:
		return "the budget of the sender"
	}
	return "nothing"
}

// reason returns a sentence with the figures from which limit follows, and the losses.
func (f *flow) reason() string {
	text := "In the last 2 s: "
	if f.sum.Held > 0 {
		text += words.Count(f.sum.Held, "snapshot") + " held back, "
	}
	if budget := f.budgetKbps(); budget > 0 {
		text += fmt.Sprintf("%s of %s kbps of the budget used, ", f.text(panes.BudgetKbps), units.Trimmed(budget, 1))
	}
	if f.mean(panes.LinkKbps) > 0 {
		text += fmt.Sprintf("%s kbps offered to a link of %s kbps, %s arrived, queue %s ms, ",
			f.text(meters.WireKbps), f.text(panes.LinkKbps), f.text(panes.ArrivedKbps), f.text(panes.QueueMS))
	}
	dropped := f.sum.LostBy[lossmodel.Queue]
	share := units.Fixed(100*float64(f.sum.Lost-dropped)/float64(max(f.sum.Sent, 1)), 1)
	return text + fmt.Sprintf("the link lost %s %% of %s, the queue dropped %d.", share, words.Count(f.sum.Sent, "packet"), dropped)
}

// advice returns sentences about each setting that holds the flow back, with a command that changes it.
func (f *flow) advice() (texts []string) {
	if link := f.mean(panes.LinkKbps); link > 0 {
		text := fmt.Sprintf("Link: its queue has %.0f KB of the game and %.0f KB of other traffic. /down rate %.0fkbit would double its rate.",
			f.mean(panes.GameKB), f.mean(panes.OthersKB), 2*link)
		isShared := f.mean(panes.OthersKB) > f.mean(panes.GameKB)
		if isShared && f.cfg.Down.Rate.Discipline.Name() != "fq_codel" {
			text += " /down queue_discipline fq_codel keeps other traffic apart."
		}
		texts = append(texts, text)
	}
	const largeShare = 0.1
	if r := f.Totals.Redundancy; r != nil && r.OverheadKbps > largeShare*f.Totals.WireKbps {
		texts = append(texts, fmt.Sprintf("Redundancy %s: it adds %.0f of %.0f kbps that were offered in the run. /redundancy off ends it.",
			r.Policy, r.OverheadKbps, f.Totals.WireKbps))
	}
	if f.sum.Held > 0 && f.Control != nil {
		texts = append(texts, fmt.Sprintf("Send-rate control %s: /control off ends it; an encoder with smaller packets needs fewer of its kbps.",
			f.Control.Policy.Label()))
	}
	if budget := f.budgetKbps(); budget > 0 {
		texts = append(texts, fmt.Sprintf("Budget of the sender: it limits packets without the headers of IP and UDP. /budget %.0fkbit would double it.", 2*budget))
	}
	return texts
}

// explainLoop describes the loop between queue, round trip, baseline and packet size: the means of the last two seconds,
// and those of the two seconds with the shortest round trip of the stored time. It returns "" before the first ack.
func (f *flow) explainLoop(schema *frame.Schema) string {
	roundTrip, known := panes.RoundTripMS.Of(f.recent).Value()
	if !known || schema == nil || schema.TickHz == 0 {
		return ""
	}
	best, shortest := f.recent, roundTrip
	window := int(room.RecentSpan / meters.SamplePeriod)
	for i := 0; i+window <= len(f.Samples); i += window {
		part := f.Samples[i : i+window]
		if v, ok := panes.RoundTripMS.Of(part).Value(); ok && v < shortest {
			best, shortest = part, v
		}
	}
	describe := func(samples []meters.Sample) string {
		ticks := meters.Ratio(meters.BaselineAge).Of(samples)
		return "Baselines are " + ticks.Times(1000/float64(schema.TickHz)).Text(0) + " ms old and packets have " +
			panes.WireBytes.Of(samples).Text(0) + " bytes."
	}
	text := "Round trip " + units.Fixed(roundTrip, 0) + " ms. " + describe(f.recent)
	if roundTrip < 2*shortest { // otherwise the loop does not explain the size
		return text
	}
	return text + " At the shortest round trip, " + units.Fixed(shortest, 0) + " ms: " + describe(best)
}
