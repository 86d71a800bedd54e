package crowd

import (
	"fmt"
	"math"
	"strings"

	"wirelab/experiment/crowd"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// explain returns sentences about the costs of a tick over the last two seconds; nil
// before the first tick.
func explain(t *clientTable) (texts []string) {
	x := t.view
	if x == nil {
		return nil
	}
	now := recent(x.Samples)
	if now.sum.Ticks == 0 {
		return nil
	}
	ticks := float64(now.sum.Ticks)
	clients := int(math.Round(float64(now.sum.Packets) / ticks)) // mean
	perTick := func(ns int64) string { return units.Fixed(float64(ns)/1000/ticks, 0) }
	if cpu := &now.sum.CPU; cpu.OfServer() > 0 {
		choose := ""
		if cpu.Choose > 0 {
			choose = perTick(cpu.Choose) + " to choose rows, "
		}
		tick := float64(x.TickTime)
		texts = append(texts, fmt.Sprintf("A tick costs the server %s µs of one core, by the wall clock of this machine: %s%s for encodings, and %s for acks, baselines and headers "+
			"of %s. That is %s %% of the %s ms between two packets.", perTick(cpu.OfServer()), choose, perTick(cpu.Encode), perTick(cpu.Server),
			words.Count(clients, "client"), units.Fixed(100*float64(cpu.OfServer())/ticks/tick, 1), units.Fixed(tick/1e6, 1)))
		texts = append(texts, fmt.Sprintf("Sending the datagrams, which the simulation does not do, comes on top. Receivers and links, %s µs, and decoding "+
			"each payload once, %s µs, are work of the simulation that a server does not have.", perTick(cpu.Clients), perTick(cpu.Decode)))
	}
	if v := x.Totals.View; v != nil {
		return append(texts, explainBudget(x, v)...)
	}
	first, last := -1, 0
	for age, n := range now.sum.ByAge {
		if n > 0 {
			if first < 0 {
				first = age
			}
			last = age
		}
	}
	older := ""
	if last == engine.CrowdAges-1 {
		older = " or more"
	}
	texts = append(texts, fmt.Sprintf("A tick has %s encodings, which %s share: one for each age of a baseline, which are %d to %d%s packets. "+
		"More clients add encodings only if they add ages; crowd.baseline = \"every ticks=2\" needs fewer.",
		units.Fixed(float64(now.sum.Encodings)/ticks, 1), words.Count(clients, "client"), first, last, older))
	texts = append(texts, fmt.Sprintf("All clients together get %s Mbit/s on the wire; %s %% of the packets are lost.", now.megabits().Text(2),
		figures.RatioFigure(100*float64(now.sum.Lost), float64(now.sum.Packets)).Text(2)))
	if x.HasUplink {
		texts = append(texts, fmt.Sprintf("The longest wait for the uplink of the server was %s ms.", units.Fixed(units.Milliseconds(now.sum.Wait), 1)))
	}
	return texts
}

// explainBudget returns sentences about a budget.
func explainBudget(x *engine.CrowdView, v *figures.View) []string {
	return []string{fmt.Sprintf("Each client has packets of its own, so only the frames are shared. Since the start all clients together used %s of %s kbps, without IP and "+
		"UDP; packets that left rows out are %s %% full, and %d packets were not sent because a budget had no room.", v.UsedKbps.Text(0), units.Fixed(v.LimitKbps, 0),
		v.FillRatio.Times(100).Text(0), v.Held),
		fmt.Sprintf("The mean error of rows that changed in the last 100 ms is at most %s for half of the clients, at most %s for 95 %%, and %s for the worst "+
			"(mm for cubes, steps for other tables). A larger budget lowers it down to what the round trip causes.", x.Recent.P50.View.Error.Text(0),
			x.Recent.P95.View.Error.Text(0), x.Recent.Worst.View.Error.Text(0))}
}

// worstOff returns a sentence about the client at the first place by what limits clients: its link, and the chain of
// effects.
func (p *clients) worstOff() []string {
	if len(p.sorted) == 0 {
		return nil
	}
	worst := p.sorted[0]
	for _, i := range p.sorted {
		if p.severity[i] > p.severity[worst] {
			worst = i
		}
	}
	if p.limits[worst] < 0 {
		return []string{"No client is much worse off than the median: no round trip, loss or budget is " + units.Fixed(minSeverity, 1) + " times the median."}
	}
	text := fmt.Sprintf("Client %d is worst off: %s. Its link is set to %s each way.", worst+1, p.phrase(&p.fields[p.limits[worst]], worst), crowd.LinkText(p.cfg, worst+1))
	var effects []string
	for _, key := range []string{"baseline_age_ticks", "payload_kbps", "age_ms", "playout.starved_ratio", "view.error"} {
		k := p.field(key)
		if k >= 0 && p.columns[k].values[worst] > p.fields[k].Of(&p.view.Recent.P50).Or(0) {
			effects = append(effects, p.phrase(&p.fields[k], worst))
		}
	}
	if len(effects) > 0 {
		text += " So it has: " + strings.Join(effects, ", ") + "."
	}
	return []string{text}
}
