// Package world is the cube world.
package world

import "wirelab/dataset/frame"

// Source plays the world under a script, for ever.
type Source struct {
	schema *frame.Schema
	tick   uint32
}

// Open starts the world under the named script ("" means "random").
func Open(script string, seed uint64) (*Source, error) {
	return &Source{schema: frame.Cubes(frame.WalkoffCubes), tick: 5}, nil
}

// Schema describes the snapshots: 901 cubes.
func (s *Source) Schema() *frame.Schema { return s.schema }

// Initial fills f with the grid at rest and the player above it.
func (s *Source) Initial(f *frame.Frame) {
	f.Tick, f.Body = 0, f.Body[:0]
	f.Table = f.Table[:0]
	for i := range s.schema.Rows {
		x, y := (i-1)%30*512-14*512-256, (i-1)/30*512-14*512-256
		z := 103
		if i == 0 {
			x, y, z = 0, 0, 5120
		}
		f.Table = append(f.Table, 3, 256, 256, 256, int32(x), int32(y), int32(z), 0)
	}
}

// Next simulates one step.
func (s *Source) Next(f *frame.Frame) error {
	s.Initial(f)
	s.tick++
	f.Tick = s.tick
	z := 5120 - int32(s.tick)*4
	if z < 384 {
		z = 384 + int32(s.tick)%7
	}
	f.Table[frame.CubeZ] = z
	return nil
}
