package main

import (
	"fmt"
	"io"
	"strings"

	"wirelab/cmd/tui/internal/script"
	"wirelab/internal/texttable"
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
		Reason   string  `json:"reason"` // why the run ended: finished or interrupted
		Duration float64 `json:"duration_s"`

		Clients  proxyClients  `json:"clients"`
		Oversize uint64        `json:"oversize"` // datagrams too large to relay
		Up       relay.Figures `json:"up"`
		Down     relay.Figures `json:"down"`

		Changes    []script.AppliedChange `json:"changes"`
		Deviations []string               `json:"lies"` // differences between set and measured values
	}
	proxyClients struct {
		Now       int    `json:"now"`       // clients at the end
		Joined    int    `json:"joined"`    // clients during the run
		Forgotten int    `json:"forgotten"` // clients removed because they were idle
		Refused   uint64 `json:"refused"`   // datagrams from addresses that may not become clients
		NoSocket  uint64 `json:"no_socket"` // datagrams of clients for which the system had no socket
	}
)

// newDocument returns the JSON document of the run. interrupted selects the reason "interrupted"
// instead of "finished". Lists are empty rather than nil, so that JSON has [] and not null.
func (p *runningProxy) newDocument(interrupted bool) proxyDocument {
	up, down := p.live.DefaultLinks()
	t := &p.final.Totals
	d := proxyDocument{Listen: p.relay.Addr().String(), To: p.server.String(), Seed: p.live.Script.Seed, Shared: p.flags.shared, Reason: "finished",
		Duration: t.At.Seconds(),
		Clients:  proxyClients{t.Clients, t.Joined, t.Forgotten, t.Refused, t.NoSocket}, Oversize: t.Oversize,
		Up: t.Figures(relay.Up, up, p.wireMax[relay.Up]), Down: t.Figures(relay.Down, down, p.wireMax[relay.Down]),
		Changes: append([]script.AppliedChange{}, p.live.Changes(0)...), Deviations: append(append([]string{}, t.Deviations()...), p.judge.Deviations(p.final.Links)...)}
	if interrupted {
		d.Reason = "interrupted"
	}
	return d
}

// writeTotals writes the totals as a table with a column per direction, then the deviations.
func (p *runningProxy) writeTotals(w io.Writer, deviations []string) {
	up, down := p.live.DefaultLinks()
	specs := [2]lossmodel.Spec{up, down}
	t := &p.final.Totals
	fmt.Fprintf(w, "%.1f s, %d clients joined, %d removed.\n", t.At.Seconds(), t.Joined, t.Forgotten)
	g := texttable.New("", "up", "down")
	row := func(name string, cell func(*relay.Flow, lossmodel.Spec) any) { // cell returns the value of one direction
		g.Add(name, cell(&t.Flows[relay.Up], specs[relay.Up]), cell(&t.Flows[relay.Down], specs[relay.Down]))
	}
	// setting returns a function for row, which returns the value of a setting of a link.
	setting := func(key string) func(*relay.Flow, lossmodel.Spec) any {
		return func(_ *relay.Flow, s lossmodel.Spec) any {
			if s.Netem.String() != "off" { // a netem line overrides the setting
				return "netem"
			}
			text, _ := s.Get(key)
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
	row("in", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.In, f.InBytes) })
	row("out", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.Out, f.OutBytes) })
	row("copies made", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Copies })
	row("send failed", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Unsent })
	row("in flight", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Queued })
	row(fmt.Sprintf(settingTitle, "loss"), setting("loss"))
	row("lost", func(f *relay.Flow, _ lossmodel.Spec) any {
		if f.In == 0 {
			return "-"
		}
		lossPercent := 100 * float64(f.Lost()) / float64(f.In+f.Copies)
		return strings.TrimSuffix(fmt.Sprintf("%.2f %%: %s", lossPercent, f.Causes()), ": ") // without loss there are no causes
	})
	row(fmt.Sprintf(settingTitle, "latency"), setting("latency"))
	row("delay, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Delay) })
	row("sent after due time, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Lateness) })
	row(fmt.Sprintf(settingTitle, "rate"), setting("rate"))
	g.Add("busiest second", fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Up]), fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Down]))
	g.WriteText(w, anyWidth)
	for _, d := range deviations {
		printf(w, "A measured value differs from its setting: %s.\n", d)
	}
	for _, remark := range t.Remarks() {
		printf(w, "Note: %s.\n", remark)
	}
}
