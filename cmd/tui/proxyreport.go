package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/script"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// The JSON output of tui proxy.
type (
	proxyDocument struct {
		Listen   string  `json:"listen"`
		To       string  `json:"to"`
		Seed     uint64  `json:"seed"`
		Shared   bool    `json:"shared"`
		Reason   string  `json:"reason"` // why the run ended: finished or interrupted; running before the end
		Duration float64 `json:"duration_s"`

		Clients  proxyClients  `json:"clients"`
		Oversize uint64        `json:"oversize"` // datagrams too large to relay
		Up       relay.Figures `json:"up"`
		Down     relay.Figures `json:"down"`

		PerClient []clientTotals `json:"per_client"` // in the order of joining

		Changes    []script.AppliedChange `json:"changes"`
		Deviations []string               `json:"lies"` // differences between set and measured values
	}
	// clientTotals are the totals of one client.
	clientTotals struct {
		Turn    int              `json:"turn"` // number in the order of joining
		Address string           `json:"address"`
		Joined  float64          `json:"joined_s"`
		Last    float64          `json:"last_seen_s"` // time of the client's last datagram
		Up      directionOfTotal `json:"up"`
		Down    directionOfTotal `json:"down"`
	}
	// directionOfTotal are the totals of one client in one direction, and the settings of the client's link at the end.
	directionOfTotal struct {
		In       uint64         `json:"in"`
		InBytes  uint64         `json:"in_bytes"`
		Out      uint64         `json:"out"`
		OutBytes uint64         `json:"out_bytes"`
		Lost     uint64         `json:"lost"`
		Delay    *float64       `json:"delay_ms"` // mean time from reading to sending; null if nothing was sent on
		Set      map[string]any `json:"asked"`

		spec lossmodel.Spec
	}
	proxyClients struct {
		Now       int    `json:"now"`       // clients at the end
		Joined    int    `json:"joined"`    // clients during the run
		Forgotten int    `json:"forgotten"` // clients removed because they were idle
		Refused   uint64 `json:"refused"`   // datagrams from addresses that may not become clients
		NoSocket  uint64 `json:"no_socket"` // datagrams of clients for which the system had no socket
	}
)

// newDocument returns the JSON document of the run until now, with the counters in s. reason is "running", or why the
// run ended. Lists are empty rather than nil, so that JSON has [] and not null.
func (p *runningProxy) newDocument(s *relay.Snapshot, reason string) proxyDocument {
	p.mu.Lock()
	wireMax, deviations := p.wireMax, p.judge.Deviations(s.Links)
	p.mu.Unlock()
	up, down := p.live.DefaultLinks()
	t := &s.Totals
	return proxyDocument{Listen: p.relay.Addr().String(), To: p.server.String(), Seed: p.live.Script.Seed, Shared: p.flags.shared, Reason: reason,
		Duration: t.At.Seconds(),
		Clients:  proxyClients{t.Clients, t.Joined, t.Forgotten, t.Refused, t.NoSocket}, Oversize: t.Oversize,
		Up: t.Figures(relay.Up, up, wireMax[relay.Up]), Down: t.Figures(relay.Down, down, wireMax[relay.Down]),
		PerClient: p.clientTotals(s.Clients),
		Changes:   append([]script.AppliedChange{}, p.live.Changes(0)...), Deviations: append(append([]string{}, t.Deviations(t.Late([2]bool{}))...), deviations...)}
}

// clientTotals returns the totals of the clients in present and of those that were removed, in the order of joining.
func (p *runningProxy) clientTotals(present []relay.ClientState) []clientTotals {
	list := []clientTotals{}
	for _, c := range slices.Concat(p.relay.Departed(), present) {
		cfg := p.live.Config(c.Client)
		total := func(f *relay.ClientFlow, spec lossmodel.Spec) directionOfTotal {
			d := directionOfTotal{In: f.In, InBytes: f.InBytes, Out: f.Out, OutBytes: f.OutBytes, Lost: f.Lost, Set: spec.Values(), spec: spec}
			if f.Out > 0 {
				d.Delay = new(units.Milliseconds(f.TotalDelay) / float64(f.Out))
			}
			return d
		}
		list = append(list, clientTotals{Turn: c.Number, Address: c.Addr.String(), Joined: c.Joined.Seconds(), Last: c.LastSeen.Seconds(),
			Up: total(&c.Ways[relay.Up], cfg.Up), Down: total(&c.Ways[relay.Down], cfg.Down)})
	}
	slices.SortFunc(list, func(a, b clientTotals) int { return a.Turn - b.Turn })
	return list
}

// settingText returns a setting of a link as text, "netem" if a netem line overrides it.
func settingText(spec *lossmodel.Spec, key string) string {
	if spec.Netem.String() != "off" {
		return "netem"
	}
	text, _ := spec.Get(key)
	return text
}

// writeClients writes a table with the totals of each client and the settings of its links at the end. It omits clients
// beyond the first maxRows.
func writeClients(w io.Writer, list []clientTotals) {
	const maxRows = 32
	g := texttable.New(">client", "address", "", ">in", ">out", ">loss set", ">lost %", ">latency set", ">mean delay ms")
	for i := range list[:min(len(list), maxRows)] {
		c := &list[i]
		for _, d := range []struct {
			name string
			*directionOfTotal
		}{{"up", &c.Up}, {"down", &c.Down}} {
			lost, delay := "-", "-"
			if d.In > 0 {
				lost = units.Fixed(100*float64(d.Lost)/float64(d.In), 2)
			}
			if d.Delay != nil {
				delay = units.Fixed(*d.Delay, 2)
			}
			g.Add(c.Turn, c.Address, d.name, d.In, d.Out, settingText(&d.spec, "loss"), lost, settingText(&d.spec, "latency"), delay)
		}
	}
	fmt.Fprintln(w)
	g.WriteText(w, anyWidth)
	if n := len(list) - maxRows; n > 0 {
		printf(w, "%d more clients; --json lists all.\n", n)
	}
}

// writeTotals writes the totals as a table with a column per direction, those of each client if there are several, and
// then the deviations.
func (p *runningProxy) writeTotals(w io.Writer, clients []clientTotals, deviations []string) {
	up, down := p.live.DefaultLinks()
	t := &p.final.Totals
	fmt.Fprintf(w, "%.1f s, %d clients joined, %d removed.\n", t.At.Seconds(), t.Joined, t.Forgotten)
	g := texttable.New("", "up", "down")
	row := func(name string, cell func(*relay.Flow) any) { // cell returns the value of one direction
		g.Add(name, cell(&t.Flows[relay.Up]), cell(&t.Flows[relay.Down]))
	}
	// setting returns a function for row, which returns the value of a setting of a link.
	setting := func(key string) func(*relay.Flow) any {
		return func(f *relay.Flow) any {
			isDown := f == &t.Flows[relay.Down]
			text := settingText(&up, key)
			if isDown {
				text = settingText(&down, key)
			}
			for i := range clients {
				own := &clients[i].Up
				if isDown {
					own = &clients[i].Down
				}
				if settingText(&own.spec, key) != text {
					return "differs by client: see below"
				}
			}
			return text
		}
	}
	quantiles := func(h *relay.Histogram) any { // median, 99th percentile and maximum in milliseconds
		if h.N == 0 {
			return "-"
		}
		return fmt.Sprintf("%s / %s / %s", relay.Millis(h.Quantile(0.5)), relay.Millis(h.Quantile(0.99)), relay.Millis(h.Max))
	}
	settingTitle := "%s set" // of rows with a setting of the links
	if len(p.live.Changes(0)) > 0 {
		settingTitle = "%s set at the end" // since the links changed during the run
	}
	row("in", func(f *relay.Flow) any { return fmt.Sprintf("%d, %d bytes", f.In, f.InBytes) })
	row("out", func(f *relay.Flow) any { return fmt.Sprintf("%d, %d bytes", f.Out, f.OutBytes) })
	row("copies made", func(f *relay.Flow) any { return f.Copies })
	row("damaged", func(f *relay.Flow) any { return f.Damaged })
	row("send failed", func(f *relay.Flow) any { return f.Unsent })
	row("in flight", func(f *relay.Flow) any { return f.Queued })
	row(fmt.Sprintf(settingTitle, "loss"), setting("loss"))
	row("lost", func(f *relay.Flow) any {
		if f.In == 0 {
			return "-"
		}
		lossPercent := 100 * float64(f.Lost()) / float64(f.In+f.Copies)
		return strings.TrimSuffix(fmt.Sprintf("%.2f %%: %s", lossPercent, f.Causes()), ": ") // without loss there are no causes
	})
	row(fmt.Sprintf(settingTitle, "latency"), setting("latency"))
	row("delay, p50 / p99 / max ms", func(f *relay.Flow) any { return quantiles(&f.Delay) })
	row("sent after due time, p50 / p99 / max ms", func(f *relay.Flow) any { return quantiles(&f.Lateness) })
	row(fmt.Sprintf(settingTitle, "rate"), setting("rate"))
	g.Add("busiest second", fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Up]), fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Down]))
	g.WriteText(w, anyWidth)
	if len(clients) > 1 || len(clients) == 1 && (clients[0].Up.spec != up || clients[0].Down.spec != down) {
		writeClients(w, clients)
	}
	for _, d := range deviations {
		printf(w, "A measured value differs from its setting: %s.\n", d)
	}
	remarks := t.Remarks()
	for direction := range t.Flows {
		if remark := t.Flows[direction].LateRemark(relay.Direction(direction)); remark != "" {
			remarks = append(remarks, remark)
		}
	}
	for _, remark := range remarks {
		printf(w, "Note: %s.\n", remark)
	}
}
