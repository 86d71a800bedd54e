package config_test

import (
	"reflect"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// searchOver parses a search over one key.
func searchOver(t *testing.T, over string) config.Range {
	t.Helper()
	c, err := config.Parse("test.toml", []byte("[search]\nminimise = \"payload_kbps\"\n[search.over]\n"+over+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Search.Over[0]
}

// Values are ordered if they increase as quantities with units.
func TestSearchOrdered(t *testing.T) {
	for over, want := range map[string]bool{
		`"down.rate" = ["1kbit", "2mbit", "3kbit"]`:        false,
		`"down.rate" = ["1kbit", "3kbit", "2mbit"]`:        true,
		`"down.rate" = ["900kbit", "1mbit", "1gbit"]`:      true,
		`"down.rate" = ["1mbit", "2mbit", "off"]`:          false,
		`"down.rate" = ["1mbit", "500KB/s"]`:               true,
		`"down.queue" = ["1KB", "1KiB", "1MB"]`:            true,
		`"down.queue" = ["1KiB", "1KB"]`:                   false,
		`"down.latency" = ["1ms", "2s", "3ms"]`:            false,
		`"down.latency" = [0, "999us", "1ms", "1s"]`:       true,
		`"down.loss" = ["0%", "0.5%", "5%"]`:               true,
		`"down.loss" = ["5%", "0.5%"]`:                     false,
		`"sender.every" = [1, 2, 3]`:                       true,
		`"sender.every" = ["2", "10"]`:                     true,
		`"sender.every" = [2, 1]`:                          false,
		`"sender.every" = [2, 2]`:                          false,
		`"sender.every" = [5]`:                             true,
		`"down.latency" = ["1ms", "1ms"]`:                  false,
		`"down.rate" = ["off", "1mbit"]`:                   false,
		`"receiver.interpolation" = ["hermite", "linear"]`: false,
	} {
		if r := searchOver(t, over); r.Ordered != want {
			t.Errorf("%s: ordered = %v, want %v", over, r.Ordered, want)
		}
	}
}

// Bounds apply to means unless every seed is named; other words are refused.
func TestSearchBounds(t *testing.T) {
	parse := func(line string) (*config.Config, error) {
		return config.Parse("test.toml", []byte("[search]\nminimise = \"payload_kbps\"\n"+line+"\n[search.over]\n\"sender.every\" = [1, 2]\n"))
	}
	for line, want := range map[string]string{"": "", `bounds = "mean"`: config.MeanOfSeeds, `bounds = "each"`: config.EachSeed} {
		c, err := parse(line)
		if err != nil || c.Search.Bounds != want {
			t.Fatalf("%s: %q, %v", line, c.Search.Bounds, err)
		}
		text, err := c.TOML()
		if err != nil || strings.Contains(string(text), "bounds = ") != (line != "") {
			t.Errorf("%s is written as\n%s\n%v", line, text, err)
		}
	}
}

// The values of a range are decimal numbers without rounding errors.
func TestSearchRangeValues(t *testing.T) {
	for over, want := range map[string][]any{
		`"receiver.display_hz" = { from = 59.7, to = 60.1, step = 0.1 }`: {59.7, 59.8, 59.9, int64(60), 60.1},
		`"encoder.params.damping" = { from = 0.1, to = 0.3, step = 0.1 }
"encoder.name" = ["kinetic"]`: {0.1, 0.2, 0.3},
		`"sender.every" = { from = 2, to = 6, step = 2 }`: {int64(2), int64(4), int64(6)},
	} {
		if r := searchOver(t, over); !reflect.DeepEqual(r.Values, want) || !r.Ordered {
			t.Errorf("%s: %#v, want %#v", over, r.Values, want)
		}
	}
}
