package remote

import (
	"context"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// newConfig returns the default configuration changed by set.
func newConfig(t *testing.T, set map[string]any) *config.Config {
	t.Helper()
	c := config.Default()
	for k, v := range set {
		if err := c.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// crowdSession returns a session with a synthetic crowd as its source.
func crowdSession(t *testing.T, c *config.Config, network engine.Network) *engine.Session {
	t.Helper()
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(40, 6, -1, 4), engine.Options{KeepSamples: 10, Inspect: true, Network: network})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkOutcomes checks that every packet and every copy has exactly one outcome, and that nothing
// is wrong.
func checkOutcomes(t *testing.T, r *engine.Result) {
	t.Helper()
	x := &r.Totals
	sum := x.Decoded + x.Stale + x.Duplicate + x.Lost + x.Failures.Corrupt + x.Failures.NoBaseline + x.Failures.UnknownCodec +
		x.Wrong + x.Unknown + x.InFlight
	if sum != x.Sent+x.Duplicated {
		t.Errorf("sent %d + duplicated %d, outcomes sum to %d: %+v", x.Sent, x.Duplicated, sum, x)
	}
	if x.Wrong != 0 || x.Remote.Differs != 0 {
		t.Errorf("%d wrong, %d differ from the local receiver", x.Wrong, x.Remote.Differs)
	}
}

// Sessions over a connection that drops and swaps datagrams, behind a worse modelled link, with
// the encoder swapped on the way: every packet has one outcome, nothing is wrong, and the reports
// agree with the local receiver.
func TestSession(t *testing.T) {
	for name, set := range map[string]map[string]any{
		"clean": {"duration": "1s"},
		"bad link": {"duration": "1s", "down.loss": "8%", "down.latency": "30ms", "down.jitter": "20ms", "down.duplicate": "5%",
			"up.loss": "5%", "down.corrupt": "2%"},
		"damaged":  {"duration": "1s", "down.corrupt": "10%"},
		"adaptive": {"duration": "1s", "encoder": "adaptive", "down.loss": "5%"},
		"repeats": {"duration": "2s", "sender.redundancy": "repeat n=2", "down.loss": "15%", "down.jitter": "40ms", "down.duplicate": "5%",
			"down.corrupt": "2%"},
		"parities": {"duration": "2s", "sender.redundancy": "rs data=4 parity=2", "down.loss": "15%", "down.jitter": "10ms", "up.loss": "5%"},
		"messages": {"duration": "2s", "messages.rate_hz": 50, "messages.lanes": 2, "messages.burst": "20KB", "messages.burst_every": "500ms",
			"down.loss": "10%", "down.jitter": "10ms", "up.loss": "5%"},
		"stream": {"duration": "3s", "messages.rate_hz": 50, "messages.delivery": "stream", "down.loss": "5%", "down.jitter": "10ms",
			"up.loss": "5%", "messages.burst": "20KB", "messages.burst_every": "1s"},
		"queued": {"duration": "500ms", "sender.redundancy": "repeat n=1", "down.rate": "10kbit"}, // does not count as lost
		"rto":    {"duration": "2s", "messages.rate_hz": 50, "messages.delivery": "rto", "sender.redundancy": "xor data=4", "down.loss": "10%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loss := 0.03
			if name == "clean" || name == "queued" {
				loss = 0
			}
			near, end := newPipe(t, loss)
			served := make(chan *servedStats, 1)
			go func() {
				out, err := Serve(t.Context(), end, noFiles)
				if err != nil {
					t.Error(err)
				}
				served <- out
			}()
			link := NewLink(near, "there")
			s := crowdSession(t, newConfig(t, set), link)
			_, hasRedundancy := set["sender.redundancy"]
			hasContainers := hasRedundancy || set["messages.rate_hz"] != nil
			if hasContainers != link.containers {
				t.Errorf("the link has containers: %t", link.containers)
			}
			swapped := false
			err := link.Drive(context.Background(), s, func() error {
				if !swapped && s.Now() > 500*time.Millisecond && name != "adaptive" {
					swapped = true
					err := s.Change(config.NewChange("redundancy", "repeat n=1"))
					if (err == nil) != (hasContainers && name != "stream") || name == "clean" && !strings.Contains(err.Error(), "only if the session began so") {
						t.Errorf("the redundancy was changed: %v", err)
					}
					return s.Change(config.NewChange("encoder", "rotor"))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = near.Close()
			far := <-served
			r := s.Result()
			checkOutcomes(t, r)
			x := &r.Totals
			t.Logf("%v; %+v", far, x)
			if name == "clean" && (x.Decoded != x.Sent || x.Unknown != 0 || far.Frames != x.Sent || x.Playout.Displayed == 0) {
				t.Errorf("sent %d, decoded %d, unknown %d, decoded by the remote receiver %d, ticks displayed %d", x.Sent, x.Decoded, x.Unknown,
					far.Frames, x.Playout.Displayed)
			}
			isQueued := name == "queued"
			if isQueued && (x.Redundancy.ResidualLoss.Or(1) > 0 || x.Unknown == 0 || x.Decoded == 0) {
				t.Errorf("%d decoded, %d unknown; redundancy %+v", x.Decoded, x.Unknown, x.Redundancy)
			}
			if hasRedundancy && !isQueued && (x.Redundancy.Repaired == 0 || x.Redundancy.ResidualLoss.Or(1) > .1) {
				t.Errorf("redundancy %+v", x.Redundancy)
			}
			if m := x.Messages; m != nil && (m.Wrong > 0 || m.Sent != m.Delivered+m.UnderWay || m.Delivered < 80 || m.DeliveryMS.P50 > 100 && name != "stream") {
				t.Errorf("messages %+v", m)
			}
			if swapped && len(r.Changes) < 1 || !isQueued && s.Config().Encoder.Name == "relative-orientation" {
				t.Errorf("the encoder was not swapped: %v", r.Changes)
			}
			if x.Decoded < x.Sent/2 && !isQueued {
				t.Errorf("only %d of %d decoded", x.Decoded, x.Sent)
			}
		})
	}
}
