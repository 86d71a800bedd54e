package trust_test

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/trust"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// linkOf returns the spec of a link with settings as text.
func linkOf(t testing.TB, settings map[string]any) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	for key, v := range settings {
		if err := s.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// failedChecks sends 60 packets per second over a link for a minute, and repeatedly checks the link
// against the settings asked. It returns the figures that were outside of their interval at any time.
func failedChecks(t testing.TB, does, asked lossmodel.Spec, seed uint64) map[string]bool {
	t.Helper()
	link, err := lossmodel.NewLink(does, seed, "down")
	if err != nil {
		t.Fatal(err)
	}
	const n = 3600
	red := map[string]bool{}
	a := meters.LinkStretch{Down: asked, Fragments: 1}
	var judge trust.Verifier
	data := make([]byte, 100)
	wire := 0
	receive := func(now time.Duration) {
		for d, ok := link.Receive(now); ok; d, ok = link.Receive(now) {
			if d.Copy == 0 {
				a.Arrived, a.Took, a.Bits, a.Until = a.Arrived+1, a.Took+d.Due-d.Sent, a.Bits+int64(wire)*8, d.Due
			}
		}
	}
	for i := range n {
		now := time.Duration(i) * time.Second / 60
		receive(now)
		v := link.Send(now, data, 0)
		wire = v.Wire
		if a.Sent++; v.Lost != lossmodel.None {
			a.Lost++
		}
		if v.Lost == lossmodel.Queue {
			a.Queue++
		}
		if i%300 == 299 || i == 30 || i == 120 {
			for _, c := range judge.Checks([]meters.LinkStretch{a}) {
				if !c.OK {
					red[c.Name] = true
				}
			}
		}
	}
	return red
}

// A correct link fails a check in fewer than one of a hundred runs, with any loss model and delay
// distribution.
func TestCorrectLinksPass(t *testing.T) {
	links := []map[string]any{
		{"loss": "2%", "latency": "32ms", "jitter": "12ms"},
		{"loss": "5%", "burst": "8", "latency": "10ms", "jitter": "15ms", "distribution": "normal"},
		{"loss": "gilbert-elliott p=1% r=10% h=40% k=99.5%", "latency": "40ms", "jitter": "10ms", "distribution": "gamma", "rate": "200kbit", "queue": "20KB"},
		{"loss": "0.1%", "latency": "20ms", "jitter": "10ms", "jitter_correlation": "80%"},
		{"loss": "correlated p=10% rho=50%", "latency": "30ms", "jitter": "8ms", "distribution": "pareto", "keep_order": true},
	}
	const seeds = 100
	for _, settings := range links {
		spec, red := linkOf(t, settings), 0
		for seed := range uint64(seeds) {
			if got := failedChecks(t, spec, spec, seed); len(got) > 0 {
				red++
			}
		}
		if red > 0 { // of 500 runs; one in a hundred would be five
			t.Errorf("%v: %d of %d runs fail", settings, red, seeds)
		}
	}
}

// A link that differs from its settings fails a check within a minute.
func TestIncorrectLinksFail(t *testing.T) {
	honest := map[string]any{"loss": "2%", "latency": "32ms", "jitter": "12ms", "rate": "0", "burst": "off"}
	for _, lie := range []struct {
		key   string
		value any
		asked map[string]any
		want  string
	}{
		{"loss", "5%", nil, "loss"},
		{"loss", "0%", nil, "loss"},
		{"latency", "40ms", nil, "delay"},
		{"latency", "28ms", nil, "delay"},
		{"jitter", "0ms", map[string]any{"jitter": "40ms", "latency": "10ms"}, "delay"},
		{"rate", "off", map[string]any{"rate": "30kbit"}, "rate"},
		{"loss", "8%", map[string]any{"burst": "4"}, "loss"},
	} {
		asked := map[string]any{}
		for k, v := range honest {
			if k == "rate" || k == "burst" {
				continue
			}
			asked[k] = v
		}
		for k, v := range lie.asked {
			asked[k] = v
		}
		does := map[string]any{}
		for k, v := range asked {
			does[k] = v
		}
		does[lie.key] = lie.value
		if got := failedChecks(t, linkOf(t, does), linkOf(t, asked), 1); !got[lie.want] {
			t.Errorf("settings %v, actual %s = %v: failed checks are %v, expected %s", asked, lie.key, lie.value, got, lie.want)
		}
	}
}

// The expected values of settings that change during a run are weighted by the packets, and the sums are
// those of the run.
func TestSettingsThatChange(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "down.loss", "1%", "down.latency", "30ms", "down.jitter", "5ms", "down.duplicate", "3%")
	c.At = []config.StampedChange{config.Stamp(5*time.Second, config.NewChange("down.loss", "20%")),
		config.Stamp(12*time.Second, config.NewChange("down.latency", "90ms")), config.Stamp(15*time.Second, config.NewChange("down.loss", "1%", "down.latency", "30ms"))}
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(3, 1, -1, 3), engine.Options{Inspect: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	lane := &s.View(0).Lanes[0]
	if len(lane.Link) != 4 {
		t.Fatalf("%d stretches", len(lane.Link))
	}
	sent, lost := int64(0), int64(0)
	for _, a := range lane.Link {
		sent, lost = sent+a.Sent, lost+a.Lost
	}
	if sent != lane.Totals.Sent || float64(lost) != lane.Totals.Network.LossRate.Or(0)*float64(sent) {
		t.Errorf("%d sent and %d lost, the totals say %d and %v", sent, lost, lane.Totals.Sent, lane.Totals.Network.LossRate)
	}
	var judge trust.Verifier
	for _, x := range judge.Checks(lane.Link) {
		if !x.OK || !x.Known {
			t.Errorf("%+v", x)
		}
		if x.Name == "loss" && (x.Set < 10.4 || x.Set > 10.6) { // 1 % for 10 s of 20, 20 % for 10 s
			t.Errorf("asked for %g %%, on average", x.Set)
		}
	}
}
