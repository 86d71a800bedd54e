package search

import (
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
// An encoder keeps its parameters if the setting does not change it.
func TestApplySetting(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, []any{"encoder.name", "kinetic", "encoder.params.damping", 0.5}...)
	c.Search.Over = []config.Range{{Key: "encoder.params.damping", Values: []any{0.1, 0.2}}, {Key: "sender.every", Values: []any{int64(1), int64(2)}}, {Key: "encoder.name", Values: []any{"kinetic", "raw"}}}
	got, err := apply(c, c.Search.Over, setting{1, 1, 0})
	if err != nil || got.Encoder.Name != "kinetic" || got.Encoder.Params["damping"] != 0.2 || got.Sender.Every != 2 || len(got.Search.Over) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = apply(c, c.Search.Over, setting{1, 0, 1}); err != nil || got.Encoder.Name != "raw" || len(got.Encoder.Params) != 0 || got.Sender.Every != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = apply(c, c.Search.Over[1:], setting{0, 0}); err != nil || got.Encoder.Params["damping"] != 0.5 {
		t.Errorf("an unchanged encoder has the parameters %v, %v", got.Encoder.Params, err)
	}
	if got, err = Apply(c, &Candidate{at: setting{0, 1, 1}}); err != nil || got.Encoder.Name != "raw" || got.Sender.Every != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	lossy := []config.Range{{Key: "down.loss", Values: []any{map[string]any{"model": "bernoulli", "p": "10%"}}}} // a value may be a table
	if got, err = apply(c, lossy, setting{0}); err != nil || got.Settings()["down.loss"] != "10%" {
		t.Errorf("a table as value: %q, %v", got.Settings()["down.loss"], err)
	}
	over := []config.Range{{Key: "encoder.name", Values: []any{"bogus"}}, {Key: "encoder.params.x", Values: []any{1}}}
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

// A flag replaces one part of a range of the file.
func TestRangeChangedByFlag(t *testing.T) {
	c, err := config.Parse("test.toml", []byte("[search]\nminimise = \"payload_kbps\"\n[search.over]\n\"sender.every\" = { from = 1, to = 2 }\n"))
	if err == nil {
		err = c.Set("search.over.sender.every.to", int64(4))
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Search.Over[0].Values); n != 4 {
		t.Errorf("%d values, expected 1 to 4", n)
	}
}
