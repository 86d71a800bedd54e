package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/internal/testkit"
)

// The grid has every combination once, and a text for each. The settings around one are those at that
// distance, in which the positions of an ordered range count, and another range as 1.
func TestGrid(t *testing.T) {
	over := newSpace(10, 1, 6, 3, 4).Search.Over
	over[2].Ordered = false
	all := allSettings(over)
	seen := map[string]bool{}
	for _, x := range all {
		seen[x.key()] = true
		for distance := 1; distance <= 4; distance++ {
			var want []string
			for _, y := range all {
				sum := max(x[0]-y[0], y[0]-x[0]) + max(x[1]-y[1], y[1]-x[1])
				if x[2] != y[2] {
					sum++
				}
				if sum == distance {
					want = append(want, y.key())
				}
			}
			var got []string
			for _, y := range around(over, x, distance) {
				got = append(got, y.key())
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("at distance %d from %v: %v, want %v", distance, x, got, want)
			}
		}
	}
	if len(all) != 72 || len(seen) != 72 || countSettings(over) != 72 || settingText(over, all[71]) != "k0=5 k1=2 k2=3" {
		t.Errorf("%d settings, %d different, counted %g, the last %s", len(all), len(seen), countSettings(over), settingText(over, all[71]))
	}
}

// Drawn settings are a Latin hypercube: n settings of n values have each value once, in every range; of
// n/2 values, each twice. Every value of a wide range can be drawn.
func TestDraws(t *testing.T) {
	over := newSpace(10, 1, 12, 12, 6, 100).Search.Over
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[int]bool{}
	for range 200 {
		list := drawSettings(over, 12, r)
		for d := range over[:3] {
			count := map[int]int{}
			for _, x := range list {
				count[x[d]]++
				seen[x[3]] = true
			}
			for v := range over[d].Values {
				if want := 12 / len(over[d].Values); count[v] != want {
					t.Fatalf("value %d of range %d was drawn %d times, want %d", v, d, count[v], want)
				}
			}
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 values were drawn", len(seen))
	}
}

// A setting sets the encoder before its parameters, and leaves out those that the encoder does not have.
// An encoder keeps its parameters if the setting does not change it. A value may be a table.
func TestApplySetting(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, []any{"encoder.name", "kinetic", "encoder.params.damping", 0.5}...)
	values := func(key string, list ...any) config.Range { return config.Range{Key: key, Values: list} }
	damping, every := values("encoder.params.damping", 0.1, 0.2), values("sender.every", int64(1), int64(2))
	encoder, loss := values("encoder.name", "kinetic", "raw"), values("down.loss", map[string]any{"model": "bernoulli", "p": "10%"})
	for _, x := range []struct {
		over []config.Range
		at   setting
		want string // encoder, its damping, interval and loss
	}{
		{[]config.Range{damping, every, encoder}, setting{1, 1, 0}, "kinetic 0.2 2 0%"},
		{[]config.Range{damping, every, encoder}, setting{1, 0, 1}, "raw <nil> 1 0%"},
		{[]config.Range{every, encoder}, setting{1, 0}, "kinetic 0.5 2 0%"},
		{[]config.Range{loss}, setting{0}, "kinetic 0.5 1 10%"},
	} {
		got, err := apply(c, x.over, x.at)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(got.Encoder.Name, " ", got.Encoder.Params["damping"], " ", got.Sender.Every, " ", got.Settings()["down.loss"])
		if text != x.want || len(got.Search.Over) != 0 {
			t.Errorf("%v: %s, want %s", x.at, text, x.want)
		}
	}
	over := []config.Range{values("encoder.name", "bogus"), values("encoder.params.x", 1)}
	if _, err := apply(c, over, setting{0, 0}); err == nil || !strings.Contains(err.Error(), "bogus") {
		t.Errorf("an unknown encoder: %v", err)
	}
}

// ownSetting compares quantities, not texts.
func TestOwnSettingComparesQuantities(t *testing.T) {
	text := `
down.latency = "1s"
down.rate = "1mbit"
[search]
minimise = "payload_kbps"
[search.over]
"down.latency" = ["10ms", "1000ms"]
"down.rate" = ["1000kbit", "2mbit", "off"]
"sender.every" = [2, 1]
`
	c, err := config.Parse("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ownSetting(c), (setting{1, 0, 1}); !slices.Equal(got, want) {
		t.Errorf("ownSetting is %v, want %v", got, want)
	}
	if err := c.Set("down.latency", "20ms"); err != nil {
		t.Fatal(err)
	}
	if got := ownSetting(c); got != nil {
		t.Errorf("ownSetting with 20ms is %v, want nil", got)
	}
}
