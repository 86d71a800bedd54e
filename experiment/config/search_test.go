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
