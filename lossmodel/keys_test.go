package lossmodel

import (
	"testing"

	"wirelab/lossmodel/tracefile"
)

// Set accepts the ladder, choices, bounds and defaults that Keys lists.
func TestKeysMatchSet(t *testing.T) {
	for _, k := range Keys() {
		stops := append([]string{k.Default}, append(k.Ladder, k.Choices...)...)
		if k.Min != "" {
			stops = append(stops, k.Min, k.Max)
		} else if len(k.Choices) == 0 && k.Unit != tracefile.UnitName && k.Unit != lineUnit && k.Unit != disciplineName {
			t.Errorf("%s has neither bounds nor choices", k.Key)
		}
		for _, stop := range stops {
			s := DefaultSpec()
			if err := s.Set(k.Key, stop); err != nil {
				t.Errorf("%s refuses %s, which Keys lists", k.Key, stop)
			} else if got, _ := s.Get(k.Key); got != stop && stop != k.Max {
				t.Errorf("%s: %s is formatted as %s", k.Key, stop, got)
			}
		}
		if got, _ := DefaultSpec().Get(k.Key); got != k.Default {
			t.Errorf("%s: default %s, listed as %s", k.Key, got, k.Default)
		}
		if k.Help == "" || k.Stage == "" {
			t.Errorf("%s has no help or stage", k.Key)
		}
	}
}

// Nudge moves values along the ladder of their key and stops at its ends.
func TestNudge(t *testing.T) {
	for _, c := range []struct {
		key, from string
		rungs     int
		want      string
	}{
		{"loss", "0%", 1, "0.1%"},
		{"loss", "5%", 2, "10%"},
		{"loss", "5%", -1, "3%"},
		{"loss", "6%", 1, "7%"},
		{"loss", "6%", 2, "10%"},
		{"loss", "6%", -1, "5%"},
		{"loss", "0%", -3, "0%"},
		{"loss", "100%", 9, "100%"},
		{"burst", "off", 1, "1.5"},
		{"burst", "1.5", -1, "off"},
		{"burst", "1.2", -1, "off"},
		{"rate", "off", -1, "1gbit"},
		{"rate", "1gbit", 1, "off"},
		{"rate", "1.6mbit", -1, "1.5mbit"},
		{"rate", "1.6mbit", 1, "2mbit"},
		{"rate", "5gbit", 1, "off"},
		{"rate", "5gbit", -1, "1gbit"},
		{"queue", "10KB", 1, "16KB"},
		{"distribution", "uniform", 1, "normal"},
		{"distribution", "normal", 1, "pareto"},
		{"distribution", "gamma", 9, "table"},
		{"mtu", "off", -1, "9000"},
		{"mtu", "1501", 1, "9000"},
		{"latency", "50ms", 0, "50ms"},
	} {
		s := DefaultSpec()
		if err := s.Set(c.key, c.from); err != nil {
			t.Fatal(err)
		}
		if err := s.Nudge(c.key, c.rungs); err != nil {
			t.Errorf("%s: %v", c.key, err)
		}
		if got, _ := s.Get(c.key); got != c.want {
			t.Errorf("%s from %s by %d: %s, want %s", c.key, c.from, c.rungs, got, c.want)
		}
	}
}
