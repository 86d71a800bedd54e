package crowd

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// By what limits them the worst client is first, its row names what limits it with the median, and rows keep their places while figures
// change a little.
func TestWorstClientIsFirst(t *testing.T) {
	const clients = 20
	cfg := config.Default()
	if err := cfg.Set("down.loss", "3%"); err != nil {
		t.Fatal(err)
	}
	view := func(now time.Duration, trip, loss map[int]float64) room.View {
		x := &engine.CrowdView{Recent: &figures.Crowd{Clients: clients}, Clients: make([]figures.CrowdClient, clients)}
		for i := range x.Clients {
			c := &x.Clients[i]
			c.WireKbps, c.PayloadKbps, c.AgeMS = figures.Known(90), figures.Known(80), figures.Known(110)
			c.RoundTripMS, c.LossRatio = figures.Known(50+trip[i+1]), figures.Known(0.005+loss[i+1])
		}
		x.Recent.SetQuantiles(x.Clients)
		return room.View{Snap: &engine.Snapshot{Now: now, Crowd: x}, Cfg: cfg, RedrawDue: true}
	}
	p := newClients()
	for client, trip := range map[int]float64{7: 200, 9: 300} { // at first the longest round trip is first, also if another client is selected
		p.Observe(view(time.Second, map[int]float64{client: trip}, map[int]float64{4: 0.5}))
		if p.sorted[0] != client-1 {
			t.Errorf("client %d is first, want %d", p.sorted[0]+1, client)
		}
	}
	p.table.Cursor = -1 // the selected client is not visible
	if r := p.Move(0, 1); r.Command == nil || r.Command.Client != p.sorted[0]+1 {
		t.Errorf("down selects %+v, want the first row", r.Command)
	}
	p.table.Sort = columnLimit
	for _, c := range []struct {
		name       string
		now        time.Duration
		trip, loss map[int]float64
		want       []string
	}{
		{"round trip", 10 * time.Second, map[int]float64{7: 200}, nil, []string{"7  round trip 250 ms (median 50)", "1  nothing: near the medians"}},
		{"kept", 11 * time.Second, map[int]float64{3: 300, 7: 200}, nil, []string{"7  round trip 250 ms"}},
		{"sorted again", 16 * time.Second, map[int]float64{3: 300, 7: 200}, nil, []string{"3  round trip 350 ms", "7  round trip 250 ms"}},
		{"loss", 30 * time.Second, map[int]float64{7: 200}, map[int]float64{4: 0.115}, []string{"4  loss 12.00 % (median 0.50)", "7  round trip 250 ms"}},
	} {
		p.Observe(view(c.now, c.trip, c.loss))
		for _, w := range []int{60, 160} {
			canvas := look.NewCanvas(w, 12)
			th := labtest.Theme(false)
			p.Draw(canvas, th, look.Unfocused)
			lines := canvas.Lines(th)[2:]
			for i, want := range c.want {
				if c.name == "kept" && strings.Contains(lines[i], "350 ms") {
					t.Errorf("%d columns: figures newer than the order: %s", w, lines[i])
				}
				if !strings.Contains(lines[i], " "+want) {
					t.Errorf("%s, %d columns: row %d lacks %q: %s", c.name, w, i, want, lines[i])
				}
			}
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
