package ui

import (
	"slices"
	"testing"

	"wirelab/experiment/config"
)

// The way to interpolate can be chosen where it can be seen: at few snapshots a
// second, and where it is not as it comes.
func TestInterpolationIsOfferedAtLowRates(t *testing.T) {
	words := func(c *config.Config) (list []string) {
		for _, x := range playoutControls(c) {
			list = append(list, x.word)
		}
		return list
	}
	c := config.Default()
	if got := words(c); !slices.Equal(got, []string{"playout"}) {
		t.Errorf("at %d Hz: %v", c.Sender.RateHz, got)
	}
	c.Sender.RateHz = 10
	if got := words(c); !slices.Equal(got, []string{"playout", "interpolation", "every"}) {
		t.Errorf("at 10 Hz: %v", got)
	}
	blend := playoutControls(c)[1]
	for _, want := range []string{"hermite", "linear"} { // round and round
		cmd, ok := blend.step(c, 1)
		if !ok || cmd.Change == nil || c.Apply(*cmd.Change) != nil || blend.value(c) != want {
			t.Fatalf("one step led to %s, want %s", blend.value(c), want)
		}
	}
	c.Sender.RateHz, c.Receiver.Interpolation = 60, config.Hermite
	if got := words(c); len(got) != 2 {
		t.Errorf("hermite at 60 Hz cannot be switched off: %v", got)
	}
}

// More to the right is more snapshots a second, to the ends of the ladder and no
// further; a number that is no rung goes to its neighbours.
func TestEveryIsALadder(t *testing.T) {
	c := config.Default()
	ctl := everyControl()
	walk := func(n int) string {
		cmd, ok := ctl.step(c, n)
		if !ok {
			return "end"
		}
		if err := c.Apply(*cmd.Change); err != nil {
			t.Fatal(err)
		}
		return ctl.value(c)
	}
	for i, s := range []struct {
		n    int
		want string
	}{{1, "end"}, {-1, "30 /s"}, {-3, "10 /s"}, {-20, "1 /s"}, {-1, "end"}, {5, "10 /s"}, {100, "60 /s"}} {
		if got := walk(s.n); got != s.want {
			t.Fatalf("step %d, by %d: %s, want %s", i, s.n, got, s.want)
		}
	}
	c.Sender.Every = 7
	if got := walk(1); got != "10 /s" {
		t.Errorf("from every 7th: %s", got)
	}
	if full, none := ctl.level(config.Default()), ctl.level(&config.Config{Sender: config.Sender{Every: 60}}); full != 1 || none != 0 {
		t.Errorf("the gauge goes from %g to %g", none, full)
	}
}
