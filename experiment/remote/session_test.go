package remote

import (
	"context"
	"io"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// configured returns the default configuration with some settings.
func configured(t *testing.T, set map[string]any) *config.Config {
	t.Helper()
	c := config.Default()
	for k, v := range set {
		if err := c.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func crowded(t *testing.T, c *config.Config, network engine.Network) *engine.Session {
	t.Helper()
	s, err := engine.NewSessionOf(c, labtest.NewCrowd(40, 6, -1, 4), engine.Options{KeepSamples: 10, Inspect: true, Network: network})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lawful checks that every packet and every copy has exactly one outcome.
func lawful(t *testing.T, r *engine.Result) {
	t.Helper()
	x := &r.Totals
	sum := x.Decoded + x.Stale + x.Duplicate + x.Lost + x.Failures.Corrupt + x.Failures.NoBaseline + x.Failures.UnknownCodec + x.Tainted +
		x.Wrong + x.Unknown + x.InFlight
	if sum != x.Sent+x.Duplicated {
		t.Errorf("sent %d + duplicated %d, outcomes sum to %d: %+v", x.Sent, x.Duplicated, sum, x)
	}
	if x.Wrong != 0 || x.Undetected != 0 && x.Tainted == 0 || x.Remote.Differs != 0 {
		t.Errorf("%d wrong, %d undetected, %d differ from what the receiver here makes of the same", x.Wrong, x.Undetected, x.Remote.Differs)
	}
}

// A session over a connection that loses and swaps, behind a modelled link that does worse,
// with the encoder swapped on the way: every packet ends once, nothing is wrong, what was
// told agrees with what the same receiver does here, and the recording repeats it all.
func TestSession(t *testing.T) {
	for name, set := range map[string]map[string]any{
		"clean": {"duration": "1s"},
		"bad link": {"duration": "1s", "down.loss": "8%", "down.latency": "30ms", "down.jitter": "20ms", "down.duplicate": "5%",
			"up.loss": "5%", "down.corrupt": "2%"},
		"damaged":  {"duration": "1s", "down.corrupt": "10%", "down.checksum": false, "receiver.digest": 16},
		"adaptive": {"duration": "1s", "encoder": "adaptive", "down.loss": "5%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loss := 0.03
			if name == "clean" {
				loss = 0
			}
			near, end := newPipe(loss)
			served := make(chan *servedStats, 1)
			go func() {
				out, err := Serve(t.Context(), end, noFiles)
				if err != nil {
					t.Error(err)
				}
				served <- out
			}()
			link := NewLink(near, "there")
			s := crowded(t, configured(t, set), link)
			swapped := false
			err := link.Drive(context.Background(), s, func() error {
				if !swapped && s.Now() > 500*time.Millisecond && name != "adaptive" {
					swapped = true
					return s.Change(config.NewChange("encoder", "rotor"))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			near.close(io.EOF)
			far := <-served
			r := s.Result()
			lawful(t, r)
			x := &r.Totals
			t.Logf("%v; %+v", far, x)
			if name == "clean" && (x.Decoded != x.Sent || x.Unknown != 0 || far.Frames != x.Sent || x.Playout.Displayed == 0) {
				t.Errorf("of %d sent %d decoded, %d unknown, %d decoded by the far end; %d ticks displayed", x.Sent, x.Decoded, x.Unknown,
					far.Frames, x.Playout.Displayed)
			}
			if swapped && len(r.Changes) != 1 || s.Config().Encoder.Name == "relative-orientation" {
				t.Errorf("the encoder was never swapped: %v", r.Changes)
			}
			if x.Decoded+x.Tainted < x.Sent/2 {
				t.Errorf("only %d of %d decoded", x.Decoded, x.Sent)
			}
			replayed(t, r, link.Recorded())
		})
	}
}

// replayed runs a session again from what was recorded.
func replayed(t *testing.T, was *engine.Result, recorded *engine.Remote) {
	t.Helper()
	link, err := Replay(recorded)
	if err != nil {
		t.Fatal(err)
	}
	c, err := was.Replayable()
	if err != nil {
		t.Fatal(err)
	}
	s := crowded(t, c, link)
	if err := s.RunUntil(s.Ends()); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	lawful(t, r)
	if r.Digest != was.Digest {
		t.Errorf("replayed to other bytes: %+v\n%+v", r.Totals, was.Totals)
	}
	x, y := r.Totals, was.Totals
	if x.Decoded != y.Decoded || x.Unknown != y.Unknown || x.Duplicate != y.Duplicate || x.Remote.RoundTripMS != y.Remote.RoundTripMS ||
		x.Remote.SlowerMS != y.Remote.SlowerMS || x.Playout.Displayed != y.Playout.Displayed {
		t.Errorf("replayed\n%+v\nwas\n%+v", x, y)
	}
}
