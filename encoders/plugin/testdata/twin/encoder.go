// This program is a built-in encoder as a plugin. TestTwin builds it with module.go and wirelab.go of the
// Go template.
package main

import (
	"errors"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes"
)

// which is the name of the built-in encoder. The linker sets it.
var which = "relative-orientation"

var description = Description{Name: "twin", Summary: "a built-in encoder", Source: "Wirelab", Refs: 1, Suits: SuitsCubes}

type end struct {
	enc encoders.Encoder
	dec encoders.Decoder
}

func newEnd(s *Schema, _ []float64) (*end, error) {
	list := cubes.Ladder()
	i := slices.IndexFunc(list, func(c encoders.Codec) bool { return c.Name == which })
	if i < 0 {
		return nil, errors.New("there is no " + which)
	}
	enc, dec, err := list[i].New(frame.Cubes(s.Rows), list[i].Defaults())
	return &end{enc, dec}, err
}

func (e *end) encode(out []byte, cur *Frame, refs []Frame) ([]byte, error) {
	out, _, err := e.enc.Encode(out, same(cur), []encoders.Ref{{Frame: same(&refs[0])}}, nil, nil)
	return out, err
}

func (e *end) decode(cur *Frame, packet []byte, refs []Frame) error {
	_, err := e.dec.Decode(same(cur), packet, []encoders.Ref{{Frame: same(&refs[0])}}, nil)
	if errors.Is(err, encoders.ErrTruncated) {
		return ErrTruncated
	}
	return err
}

// same returns f as a frame.Frame that shares its memory.
func same(f *Frame) *frame.Frame { return &frame.Frame{Tick: f.Tick, Table: f.Table, Body: f.Body} }
