package page

import (
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// TestRunFacts checks what the header of a report contains about the links, their changes, the clients and
// the times.
func TestRunFacts(t *testing.T) {
	change := func(key string, value any) (ch config.Change) {
		if err := ch.Set(key, value); err != nil {
			t.Fatal(err)
		}
		return ch
	}
	times := figures.Quantiles{P50: 2.208, N: 1}
	lost := figures.Known(0.1354)
	for name, x := range map[string]struct {
		settings       []string
		change         config.Change
		loss           figures.Figure
		encode, decode figures.Quantiles
		link, times    string
	}{
		"perfect":      {link: "link perfect"},
		"both":         {settings: []string{"link.loss", "5%"}, loss: lost, link: "link.loss=5%"},
		"down":         {settings: []string{"down.loss", "5%"}, link: "link down.loss=5%"},
		"other change": {change: change("encoder", "rotor"), loss: lost, link: "link perfect"},
		"unknown loss": {change: change("profile", "lte"), link: "link perfect, changed during the run"},
		"changed": {settings: []string{"link.loss", "5%"}, change: change("loss", "20%"), loss: lost,
			link: "link.loss=5%, changed during the run, with 13.54 % lost"},
		"one client": {settings: []string{"crowd.clients", "3", "client[0].turn", "2", "client[0].down.loss", "5%"},
			link: "link perfect, 1 client with settings of its own"},
		"clients": {settings: []string{"crowd.clients", "3", "client[0].turn", "2", "client[0].down.loss", "5%",
			"client[1].turn", "3", "client[1].join", "1s"}, link: "link perfect, 2 clients with settings of their own"},
		"no decode": {encode: times, link: "link perfect",
			times: "median times: encode 2.208 µs, decode –, in this process"},
		"no encode": {encode: figures.Quantiles{N: 1}, decode: times, link: "link perfect",
			times: "median times: encode –, decode 2.208 µs, in this process"},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			testkit.Set(t, c, x.settings...)
			r := &engine.Result{Config: c.Values(), Timing: figures.Timing{EncodeUS: x.encode, DecodeUS: x.decode}}
			r.Totals.Network.LossRate = x.loss
			if c.Crowd.Clients > 0 {
				r.Totals.Crowd = &figures.Crowd{Clients: c.Crowd.Clients}
			}
			if !x.change.IsZero() {
				r.Changes = []config.StampedChange{config.Stamp(1e9, x.change)}
			}
			facts := runFacts(r)
			if facts[0] != x.link {
				t.Errorf("link %q, want %q", facts[0], x.link)
			}
			last := facts[len(facts)-1]
			if x.times == "" && strings.Contains(last, "median") || x.times != "" && last != x.times {
				t.Errorf("times %q, want %q", last, x.times)
			}
		})
	}
}
