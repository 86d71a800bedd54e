package config

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/words"
)

// dataDependentKeys are the settings whose defaults depend on the data: the defaults for cubes at 60 Hz do
// not suit calls at 20 Hz. They are adapted by FitTo unless they were set explicitly for the data.
var dataDependentKeys = []string{"encoder.name", "sender.rate_hz", budgetLineKey}

// recordChoice records in c.chosen that key was set explicitly, if it is one of dataDependentKeys. Setting
// another data source forgets earlier choices, because they were made for other data.
func (c *Config) recordChoice(key string, value any) {
	// Copies of c share the map, so it is replaced.
	chosen := maps.Clone(c.chosen)
	if chosen == nil {
		chosen = map[string]bool{}
	}
	switch {
	case key == "data.source" && value != any(c.Data.Source):
		clear(chosen)
	case key == "encoder": // the same as encoder.name
		chosen["encoder.name"] = true
	case slices.Contains(dataDependentKeys, key):
		chosen[key] = true
	}
	c.chosen = chosen
}

// FitTo adapts the settings in dataDependentKeys that were not set explicitly to data of schema s. If the
// encoder patches files and no shadows are set, FitTo adds one that sends whole files, for comparison. It
// returns an error if the rate or the histories do not fit the data. It does not check the encoder.
func (c *Config) FitTo(s *frame.Schema) error {
	rateBefore := c.Sender.RateHz
	// Data with delivery frame.Every are blocks of files. Their rate is that of the datagrams, not of the
	// data.
	if s.Delivery != frame.Reliable && c.Sender.RateHz == Default().Sender.RateHz && !c.chosen["sender.rate_hz"] {
		c.Sender.RateHz = s.TickHz // the rate of the data
	}
	if s.Timed && c.Sender.RateHz != s.TickHz {
		return refuse("sender.rate_hz", fmt.Sprintf("%d cannot be set: the data have their own times, which determine the rate", c.Sender.RateHz),
			fmt.Sprintf("%d, the mean rate of the data, or no value", s.TickHz))
	}
	if c.Sender.RateHz > s.TickHz {
		return refuse("sender.rate_hz", fmt.Sprintf("%d is more than the rate of the source", c.Sender.RateHz),
			fmt.Sprintf("1 to %d", s.TickHz))
	}
	if !frame.IsCubes(s) && !c.chosen[budgetLineKey] {
		c.BudgetKbps = 0 // the default is for cubes
	}
	codec, err := findCodec(c.Encoder.Name, c.Codecs)
	if err == nil && !codec.Suits(s) && !c.chosen["encoder.name"] && len(c.Encoder.Params) == 0 {
		c.Encoder.Name = table.Default(s) // an encoder for such data
		codec, err = findCodec(c.Encoder.Name, c.Codecs)
	}
	if err == nil && s.Delivery == frame.Reliable && !codec.Standalone && len(c.Shadows) == 0 {
		c.Shadows = []Encoder{{Name: fullFileEncoder}} // shows what the patch saves
	}
	if c.Sender.RateHz == rateBefore {
		return nil // Validate has checked the histories for this rate
	}
	return c.checkHistories()
}

// fullFileEncoder is the encoder that patches are compared with.
const fullFileEncoder = "whole-zstd"

// AdoptFit copies from fitted to c the settings that FitTo may change. fitted is a copy of c on which
// FitTo was called.
func (c *Config) AdoptFit(fitted *Config) {
	c.Encoder, c.Sender, c.BudgetKbps = fitted.Encoder.Clone(), fitted.Sender, fitted.BudgetKbps
	c.Shadows = fitted.Clone().Shadows
}

// OpenData opens the data source of the configuration. If the source is a pipe, it waits for its writer until
// ctx ends. If loop is true, the source begins again at its end, unless Data.Loop is false.
func (c *Config) OpenData(ctx context.Context, loop bool) (dataset.Source, error) {
	src, err := dataset.Open(ctx, dataset.WithPaths(c.Data.Source, c.resolve), dataset.Options{Cubes: c.Data.Cubes,
		Loop: loop && c.Data.Loop, Seed: c.Seed, Script: c.Data.Script, Message: c.Data.Message})
	if err != nil {
		return nil, c.Locate(ErrorAt("data.source", err))
	}
	return src, nil
}

// CheckSuits returns an error if codec cannot encode frames of schema s. The error lists the codecs that
// can. key is the key of the encoder for the error.
func (c *Config) CheckSuits(key string, codec *encoders.Codec, s *frame.Schema) error {
	if codec.Suits(s) {
		return nil
	}
	names := table.SuitableNames(c.CodecTable(), s)
	expected := "an encoder that suits the data"
	if len(names) > 0 {
		expected = "one of " + strings.Join(names, ", ")
	}
	return refuse(key+".name", fmt.Sprintf("%s cannot encode the data of %s, %s", codec.Name, c.Data.Source, words.Plural(s.Item)),
		expected)
}
