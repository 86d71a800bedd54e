package crowd

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// explain returns sentences about the costs of a tick over the last two seconds, and about the worst clients; nil
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
	encode, server := float64(now.sum.CPU.Choose+now.sum.CPU.Encode)/1000/ticks, float64(now.sum.CPU.Server)/1000/ticks
	if v := x.Totals.View; v != nil {
		return append(explainBudget(x, v, encode, server), worstClients(t)...)
	}
	tick := float64(x.TickTime) / float64(time.Microsecond)
	if encode+server > 0 {
		texts = append(texts, fmt.Sprintf("A tick costs the server %s µs of one core, by the wall clock of this machine: %s for encodings, and %s for acks, baselines and headers "+
			"of %s. That is %s %% of the %s ms between two packets.", units.Fixed(encode+server, 0), units.Fixed(encode, 0), units.Fixed(server, 0),
			words.Count(clients, "client"), units.Fixed(100*(encode+server)/tick, 1), units.Fixed(tick/1000, 1)))
		texts = append(texts, fmt.Sprintf("Sending the datagrams, which the simulation does not do, comes on top. Receivers and links, %s µs, and decoding "+
			"each payload once, %s µs, are work of the simulation that a server does not have.",
			units.Fixed(float64(now.sum.CPU.Clients)/1000/ticks, 0), units.Fixed(float64(now.sum.CPU.Decode)/1000/ticks, 0)))
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
	return append(texts, worstClients(t)...)
}

// explainBudget returns sentences about the costs of a tick and about a budget. encode and server are microseconds of a tick.
func explainBudget(x *engine.CrowdView, v *figures.View, encode, server float64) (texts []string) {
	now, tick := recent(x.Samples), float64(x.TickTime)/float64(time.Microsecond)
	if work := encode + server; work > 0 {
		choose := float64(now.sum.CPU.Choose) / 1000 / float64(now.sum.Ticks)
		texts = append(texts, fmt.Sprintf("A tick costs the server %s µs of one core, by the wall clock of this machine: %s to choose rows, %s to encode them, and %s for acks "+
			"and headers. That is %s %% of the %s ms between two packets, without sending the datagrams.", units.Fixed(work, 0), units.Fixed(choose, 0),
			units.Fixed(encode-choose, 0), units.Fixed(server, 0), units.Fixed(100*work/tick, 1), units.Fixed(tick/1000, 1)))
	}
	texts = append(texts, fmt.Sprintf("Each client has packets of its own, so only the frames are shared. Since the start all clients together used %s of %s kbps, without IP and "+
		"UDP; packets that left rows out are %s %% full, and %d packets were not sent because a budget had no room.", v.UsedKbps.Text(0), units.Fixed(v.LimitKbps, 0),
		v.FillRatio.Times(100).Text(0), v.Held))
	return append(texts, fmt.Sprintf("The mean error of rows that changed in the last 100 ms is at most %s for half of the clients, at most %s for 95 %%, and %s for the worst "+
		"(mm for cubes, steps for other tables). A larger budget lowers it down to what the round trip causes.", x.Recent.P50.View.Error.Text(0),
		x.Recent.P95.View.Error.Text(0), x.Recent.Worst.View.Error.Text(0)))
}

// worstClients returns a sentence about the worst client by each figure.
func worstClients(t *clientTable) (texts []string) {
	x := t.view
	for i := range t.fields {
		field := &t.fields[i]
		if worst := t.columns[i].worst; worst >= 0 {
			texts = append(texts, "Worst "+field.Label()+": client "+strconv.Itoa(worst+1)+", "+field.Text(&x.Clients[worst])+"; the median is "+field.Text(&x.Recent.P50)+".")
		}
	}
	return texts
}
