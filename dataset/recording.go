package dataset

import (
	"wirelab/dataset/frame"
)

// MaxCubes bounds the cubes of a frame, and so the memory of a reader.
const MaxCubes = 1 << 16

// Recording streams a walk-off recording.
type Recording struct {
	schema *frame.Schema
}

// OpenRecording opens the recording at path; cubes 0 means 901.
func OpenRecording(path string, cubes int, loop bool) (*Recording, error) { return nil, ErrFormat }

func (r *Recording) Schema() *frame.Schema    { return r.schema }
func (r *Recording) Initial(f *frame.Frame)    {}
func (r *Recording) Next(f *frame.Frame) error { return ErrFormat }
func (r *Recording) Seam() bool                { return false }
func (r *Recording) Frames() int               { return 0 }
func (r *Recording) Close() error              { return nil }
func (r *Recording) Preamble() error           { return nil }
