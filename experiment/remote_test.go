package experiment

import (
	"errors"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/remote"
	"wirelab/internal/testkit"
)

func loopback(t *testing.T) *remote.Link {
	t.Helper()
	l, closeBoth, err := remote.NewLoopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closeBoth() })
	return l
}

func worldFor(t *testing.T, duration string) *config.Config {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, "data.source", "world", "duration", duration)
	return c
}

// A run over sockets, also with redundancy and messages, is measured and reported.
func TestRunOverNetwork(t *testing.T) {
	t.Parallel()
	for _, pairs := range [][]any{nil, {"sender.redundancy", "rs data=2 parity=1", "down.loss", "20%", "messages.rate_hz", 100, "messages.delivery", "rto"}} {
		c := worldFor(t, "1500ms")
		testkit.Set(t, c, pairs...)
		dir := t.TempDir()
		r := must(Run(t.Context(), c, RunOptions{Clock: labtest.WallClock(), Dir: dir, Remote: loopback(t)}))
		x := r.Runs[0].Totals // a busy machine decodes and delivers less
		if x.Wrong != 0 || x.Decoded == 0 || x.Remote == nil || x.Playout.Displayed == 0 || x.Playout.ClockLagMS.Text(0) != "-" {
			t.Errorf("%+v", x)
		}
		if m := x.Messages; pairs != nil && (m.Wrong > 0 || m.Delivered == 0 || x.Redundancy.Repaired == 0) {
			t.Errorf("%+v, %+v", x.Redundancy, m)
		}
		compareFormats(t, "over UDP", dir)
		_, err := Replay(t.Context(), dir, RunOptions{})
		if !errors.Is(err, ErrNetworkRun) || !strings.Contains(err.Error(), dir) {
			t.Errorf("replayed: %v", err)
		}
	}
}

// Settings that are impossible over a network are refused with an error.
func TestUnsupportedOverNetwork(t *testing.T) {
	link := loopback(t)
	for key, want := range map[string]string{
		"sweep":       "cannot run over a real network",
		"shadow":      "two encoders alike",
		"data.source": "does not have the old file",
	} {
		c := worldFor(t, "1s")
		switch key {
		case "sweep":
			c.Sweep = []config.Axis{{Key: "down.loss", Values: []any{"1%", "2%"}}}
		case "shadow":
			c.Shadows = []config.Encoder{{Name: "rotor"}}
		default:
			noError(t, c.Set(key, "files"))
		}
		_, err := Run(t.Context(), c, RunOptions{Clock: labtest.WallClock(), Remote: link})
		var x *config.Error
		if !errors.As(err, &x) || x.Key != key || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", key, err)
		}
	}
}
