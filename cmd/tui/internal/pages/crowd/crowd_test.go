package crowd

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// The worst client by the figure of the order is named with its link, and the rows stay while no client has a value.
func TestWorstClient(t *testing.T) {
	cfg := config.Default()
	if err := cfg.Set("down.loss", "3%"); err != nil {
		t.Fatal(err)
	}
	x := &engine.CrowdView{Recent: &figures.Crowd{Clients: 2}, Clients: make([]figures.CrowdClient, 2)}
	for i := range x.Clients {
		x.Clients[i].WireKbps, x.Clients[i].RoundTripMS = figures.Known(9), figures.Known(float64(70+i))
		x.Clients[i].Playout.LongestFreezeMS = figures.Known(0)
	}
	p := &clients{clientTable: &clientTable{}, selected: -1, cfg: cfg}
	p.update(x)
	for i := range p.fields {
		if p.fields[i].Key == "round_trip_ms" {
			p.order = i
		}
	}
	p.sort()
	c := look.NewCanvas(160, 3*len(p.fields))
	th := labtest.Theme(false)
	p.Draw(c, th, look.Unfocused)
	text := strings.Join(c.Lines(th), "\n")
	for _, want := range []string{"worst: client 2  round trip, ms 71  link: loss 3.0 %", "longest freeze, ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestSizesOfBaselines(t *testing.T) {
	c := look.NewCanvas(40, 1)
	p := &baselines{view: &engine.CrowdView{Encodings: []engine.CrowdEncoding{{Age: 3, Clients: 2, Payload: 522}, {Age: 4, Clients: 1, Payload: 447}}}}
	p.drawNewest(c, 0, ageRow{3, 4})
	if got := strings.Fields(c.Lines(labtest.Theme(false))[0]); len(got) != 2 || got[0] != "3" || got[1] != "447-522" {
		t.Errorf("the row is %q, want 3 clients and 447-522 bytes", got)
	}
}
