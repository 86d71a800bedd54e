package ui

import (
	"slices"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/lossmodel"
)

// fakeCatalog is a catalog with a few encoders and fixed summaries, so that golden files do not
// change with new encoders or better summaries. The names must be real, because the engine checks
// changes.
func fakeCatalog() *controls.Catalog {
	type params struct {
		Small int `toml:"xy_small" help:"bits of a small step" unit:"bits" min:"2" max:"10"`
		Large int `toml:"xy_large" help:"bits of a large step" unit:"bits" min:"4" max:"14"`
	}
	codec := func(name, summary string, p any) encoders.Codec {
		return encoders.Codec{Name: name, Summary: summary, Params: p, Suits: func(*frame.Schema) bool { return true }}
	}
	codecs := []encoders.Codec{
		codec("raw", "every cube in full", nil),
		codec("relative-orientation", "orientation as a difference to the baseline; a sentence long enough for two lines",
			&params{Small: 6, Large: 9}),
		codec("rotor", "orientation as a rotor", nil),
	}
	return controls.NewCatalog(codecs, lossmodel.Profiles()[:4], fakeKeys())
}

// fakeKeys are some of the keys of a link.
func fakeKeys() []lossmodel.KeyInfo {
	some := []string{"loss", "burst", "latency", "jitter", "reorder", "duplicate", "corrupt", "rate", "queue",
		"distribution", "keep_order", "delay_trace", "rate_cell_overhead", "mtu", "netem"}
	keys := slices.DeleteFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return !slices.Contains(some, k.Key) })
	for i := range keys {
		keys[i].Help = "help of " + keys[i].Key
	}
	return keys
}

// fileCatalog is fakeCatalog with the encoders of files.
func fileCatalog() *controls.Catalog {
	var codecs []encoders.Codec
	schema := fileSnapshot(0).Schema
	for _, c := range table.All() {
		if c.Suits(schema) {
			codecs = append(codecs, encoders.Codec{Name: c.Name, Summary: "what " + c.Name + " does", Suits: c.Suits})
		}
	}
	return controls.NewCatalog(codecs, lossmodel.Profiles()[:4], fakeKeys())
}
