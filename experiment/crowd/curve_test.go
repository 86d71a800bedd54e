package crowd

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"wirelab/internal/testkit"
)

var curve = flag.Bool("curve", false, "measure and print the charts of README.md")

// TestCurve prints the charts of README.md with -curve: the work of the server in a tick over the number of clients, and
// the clients that fit on an uplink. Work is CPU time of one core.
func TestCurve(t *testing.T) {
	if !*curve {
		t.Skip("prints the charts of README.md with -curve")
	}
	if _, err := os.Stat(charlie); err != nil {
		t.Skipf("the recording %s is not here", charlie)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := &strings.Builder{}
	for _, encoder := range []struct {
		name, baseline string
		maxAlone       string // the largest number of clients for which packets are also encoded one by one
	}{{"relative-orientation", "newest", "1000"}, {"adaptive", "anchors every=2 root=16", "100"}} {
		kbps := 0.0
		fmt.Fprintf(out, "%s\nclients            encodings  work of a tick, µs; | is the time between two ticks\n", encoder.name)
		for _, clients := range []string{"1", "10", "100", "1000", "10000"} {
			for _, shared := range []bool{true, false} {
				baseline, label := encoder.baseline, "shared"
				if !shared {
					baseline, label = "newest", "each alone"
				}
				if !shared && len(clients) > len(encoder.maxAlone) {
					continue
				}
				const ticks = 30
				m := measureTicks(t, ticks, encoder.name, clients, baseline, shared)
				fmt.Fprintf(out, "%6s %-10s %9.1f  %9.0f %s\n", clients, label, m.encodings, m.work, logBar(m.work))
				if clients == "1000" && shared {
					kbps = m.kbps
				}
			}
		}
		printUplinks(out, kbps)
	}
	t.Log("\n" + out.String())
}

// logBar returns a bar for work between 10 µs and 1 s on a logarithmic scale: ten columns for a factor of ten. It marks
// the time between two ticks at 60 Hz.
func logBar(us float64) string {
	const tick = 1e6 / 60
	column := func(v float64) int { return int(math.Round(10 * max(math.Log10(v)-1, 0.1))) }
	bar := []rune(strings.Repeat("█", column(us)) + strings.Repeat(" ", max(column(tick)+1-column(us), 0)))
	bar[column(tick)] = '|'
	return strings.TrimRight(string(bar), " ")
}

// printUplinks prints how many clients fit on uplinks if each gets the given rate.
func printUplinks(w io.Writer, kbps float64) {
	fmt.Fprintf(w, "uplink: %.0f kbps a client with headers;", kbps)
	for _, mbit := range []float64{100, 1000, 10_000} {
		fmt.Fprintf(w, "  %.0f Mbit/s %.0f clients", mbit, 1000*mbit/kbps)
	}
	fmt.Fprint(w, "\n\n")
}

// measured is what measureTicks returns: means of a tick.
type measured struct{ encodings, work, kbps float64 }

// measureTicks measures a number of ticks of a crowd.
func measureTicks(t *testing.T, ticks int, encoder, clients, baseline string, shared bool) measured {
	c := configure(t, "duration", "1h", "data.source", charlie, "encoder.name", encoder, "crowd.clients", clients, "crowd.share", fmt.Sprint(shared), "crowd.baseline", baseline,
		"crowd.rtt", "lognormal median=60ms sigma=0.6 min=20ms max=200ms", "crowd.loss", "uniform max=5%", "crowd.jitter", "uniform min=1ms max=10ms")
	x, err := NewSession(t.Context(), c, Options{Clock: testkit.CPUTime})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	for range 240 { // the recording begins at rest
		if err := x.source.Next(x.schema.NewFrame()); err != nil {
			t.Fatal(err)
		}
	}
	run := func(n int) {
		for range n {
			if err := x.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	unshared := x.config.Crowd.Unshared
	x.config.Crowd.Unshared = x.hasChains
	run(60) // acks arrive
	x.config.Crowd.Unshared = unshared
	x.measurements = measurements{}
	for i := range x.shards {
		x.shards[i].timed.server = 0
	}
	before := x.progress()
	run(ticks)
	after, u := x.progress(), x.timing().TickUS
	seconds := float64(ticks) * (time.Second / 60).Seconds()
	return measured{float64(x.encodingSum) / float64(x.packets), u.EncodeUS.Or(0) + u.ServerUS.Or(0),
		float64(after.wireBytes-before.wireBytes) * 8 / 1000 / seconds / float64(c.Crowd.Clients)}
}
