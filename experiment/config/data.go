package config

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/words"
)

// followers are the settings that follow the data as long as nobody chooses them
// for that data: what goes with cubes at 60 Hz makes no sense with calls at 20.
var followers = []string{"encoder.name", "sender.rate_hz", "budget"}

// choose notes that key was set. New data has to be chosen for anew.
func (c *Config) choose(key string, value any) {
	chosen := maps.Clone(c.chosen)
	if chosen == nil {
		chosen = map[string]bool{}
	}
	switch {
	case key == "data.source" && value != any(c.Data.Source):
		clear(chosen)
	case key == "encoder":
		chosen["encoder.name"] = true
	default:
		for _, follower := range followers {
			chosen[follower] = chosen[follower] || key == follower
		}
	}
	c.chosen = chosen
}

// FitTo makes what nobody has chosen fit the data, and says if that cannot be.
func (c *Config) FitTo(s *frame.Schema) error {
	rate := c.Sender.RateHz
	if s.Delivery != frame.Every && c.Sender.RateHz == Default().Sender.RateHz && !c.chosen["sender.rate_hz"] {
		c.Sender.RateHz = s.TickHz
	}
	if s.Timed && c.Sender.RateHz != s.TickHz {
		return &Error{Key: "sender.rate_hz", Problem: fmt.Sprintf("%d makes no sense: the data have times of their own", c.Sender.RateHz),
			Expected: fmt.Sprintf("%d, their mean rate, or nothing", s.TickHz)}
	}
	if c.Sender.RateHz > s.TickHz {
		return &Error{Key: "sender.rate_hz", Problem: fmt.Sprintf("%d is more than the source makes", c.Sender.RateHz),
			Expected: fmt.Sprintf("1 to %d", s.TickHz)}
	}
	if !frame.IsCubes(s) && !c.chosen["budget"] {
		c.BudgetKbps = 0 // that of cubes says nothing about other data
	}
	codec, err := findCodec(c.Encoder.Name, c.Codecs)
	if err == nil && !codec.Suits(s) && !c.chosen["encoder.name"] && len(c.Encoder.Params) == 0 {
		c.Encoder.Name = table.Default(s)
		codec, err = findCodec(c.Encoder.Name, c.Codecs)
	}
	if err == nil && s.Delivery == frame.Every && !codec.Standalone && len(c.Shadows) == 0 {
		c.Shadows = []Encoder{{Name: wholeFile}} // what is it worth to look at the old file?
	}
	if c.Sender.RateHz == rate {
		return nil // Validate has seen to it
	}
	return c.checkHistories()
}

// wholeFile is the encoder that a patch is compared with.
const wholeFile = "whole-zstd"

// Adopt takes over what settling made of a copy of c.
func (c *Config) Adopt(settled *Config) {
	c.Encoder, c.Sender, c.BudgetKbps = settled.Encoder.Clone(), settled.Sender, settled.BudgetKbps
	c.Shadows = settled.Clone().Shadows
}

// OpenData opens the source that the configuration names; ctx ends the wait for whoever
// writes into a pipe.
func (c *Config) OpenData(ctx context.Context, loop bool) (dataset.Source, error) {
	src, err := dataset.Open(ctx, dataset.WithPaths(c.Data.Source, c.where), dataset.Options{Cubes: c.Data.Cubes,
		Loop: loop && c.Data.Loop, Seed: c.Seed, Script: c.Data.Script, Message: c.Data.Message})
	if err != nil {
		return nil, c.Locate(ErrorAt("data.source", err))
	}
	return src, nil
}

// Suits says why a codec cannot encode what a source makes, and which ones can.
func (c *Config) Suits(key string, codec *encoders.Codec, s *frame.Schema) error {
	if codec.Suits(s) {
		return nil
	}
	names := table.Suiting(c.CodecTable(), s)
	expected := "an encoder that suits the data"
	if len(names) > 0 {
		expected = "one that does: " + strings.Join(names, ", ")
	}
	return &Error{Key: key + ".name", Problem: fmt.Sprintf("%s cannot encode what %s holds, %s", codec.Name, c.Data.Source, words.Plural(s.Item)),
		Expected: expected}
}
