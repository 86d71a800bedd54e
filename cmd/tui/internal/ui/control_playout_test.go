package ui

import (
	"slices"
	"testing"

	"wirelab/experiment"
)

// The way to interpolate can be chosen where it can be seen: at few snapshots a
// second, and where it is not as it comes.
func TestInterpolationIsOfferedAtLowRates(t *testing.T) {
	words := func(c *experiment.Config) (list []string) {
		for _, x := range playoutControls(c) {
			list = append(list, x.word)
		}
		return list
	}
	c := experiment.Default()
	if got := words(c); !slices.Equal(got, []string{"playout"}) {
		t.Errorf("at %d Hz: %v", c.Sender.RateHz, got)
	}
	c.Sender.RateHz = 10
	if got := words(c); !slices.Equal(got, []string{"playout", "interpolation"}) {
		t.Errorf("at 10 Hz: %v", got)
	}
	blend := playoutControls(c)[1]
	for _, want := range []string{"hermite", "linear"} { // round and round
		cmd, ok := blend.step(c, 1)
		if !ok || cmd.Change == nil || c.Apply(*cmd.Change) != nil || blend.value(c) != want {
			t.Fatalf("one step led to %s, want %s", blend.value(c), want)
		}
	}
	c.Sender.RateHz, c.Receiver.Interpolation = 60, experiment.Hermite
	if got := words(c); len(got) != 2 {
		t.Errorf("hermite at 60 Hz cannot be switched off: %v", got)
	}
}
