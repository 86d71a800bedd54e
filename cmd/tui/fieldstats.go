package main

import (
	"errors"
	"fmt"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/fields"
	"wirelab/dataset/frame"
)

// Frames that `datasets stats` looks at, unless told otherwise, and how far apart those
// are that it compares: a round trip of 100 ms.
const (
	statsFrames = 3600
	statsAge    = 6
)

// fieldStats counts and prints how each field of src changes: all that can be said of
// records that are not cubes. frames bounds how many are looked at, 0 for the default.
func (a *app) fieldStats(spec string, src dataset.Source, frames int, json bool) error {
	s := src.Schema()
	if s.Rows == 0 {
		return usagef("%s has no fields: its frames are bytes", spec)
	}
	f, count := s.NewFrame(), fields.New(s, statsAge)
	if frames == 0 {
		frames = statsFrames
	}
	for range frames {
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return usage(err)
		}
		count.Add(f)
	}
	if json {
		return a.stdout.json(map[string]any{"spec": spec, "frames": count.Frames(), "age": statsAge, "fields": count.Changes()})
	}
	a.printFields(s, count)
	return nil
}

func (a *app) printFields(s *frame.Schema, count *fields.Count) {
	fmt.Fprintf(a.stdout, "%s: %d frames, each compared with the one %d before\n\n", s.Name, count.Frames(), statsAge)
	g := newGrid("field", "kind", ">changed %", ">mean step", ">largest", "unit", ">low bits")
	for _, c := range count.Changes() {
		g.row(c.Field, c.Kind, fmt.Sprintf("%.1f", 100*c.Changed), figure(c.Mean), figure(c.Max), c.Unit, fmt.Sprintf("%.1f", c.Entropy))
	}
	g.write(a.stdout, a.columns)
}
