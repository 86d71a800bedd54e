package table_test

import (
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

// Every kind of data has the encoder that was designed for it as its default, which suits it and is listed first. The others follow
// in the order of the table, each that suits once.
func TestDefaults(t *testing.T) {
	field := []frame.Field{{Name: "x", Max: 100}}
	for want, s := range map[string]*frame.Schema{
		"relative-orientation": frame.Cubes(901),
		"rpc-adaptive":         {Name: "rpc", Item: "call", Rows: 1, Fields: field, TickHz: 20, Delivery: frame.Unreliable},
		"delta-adaptive":       {Name: "values", Item: "row", Rows: 1, Fields: field, TickHz: 20},
		"patch":                {Name: "file", Item: "byte", TickHz: 20, Delivery: frame.Reliable},
		"datagram":             {Name: "packets", Item: "byte", TickHz: 20, Delivery: frame.Unreliable},
		"receiver-adaptive":    {Name: "text", Item: "byte", TickHz: 20, Delivery: frame.Unreliable},
	} {
		if got := table.Default(s); got != want {
			t.Errorf("the default for %s is %s, want %s", s.Name, got, want)
		}
		all := table.All()
		names := table.SuitableNames(all, s)
		var suitable []string
		for i := range all {
			if all[i].Suits(s) && all[i].Name != want {
				suitable = append(suitable, all[i].Name)
			}
		}
		if first := all[slices.IndexFunc(all, func(c encoders.Codec) bool { return c.Name == want })]; first.Suits(s) {
			suitable = slices.Insert(suitable, 0, want)
		}
		if !slices.Equal(names, suitable) {
			t.Errorf("encoders for %s: %v, want %v", s.Name, names, suitable)
		}
	}
}
