package dataset

import "wirelab/dataset/frame"

// Writer writes a walk-off recording: raw, .zst or .gz by the path's ending.
type Writer struct{}

// Create starts a recording at path. Nothing is there until Close.
func Create(path string, cubes int) (*Writer, error) { return &Writer{}, nil }

// Initial writes the initial state as frames 0..5; call it once, first.
func (w *Writer) Initial(f *frame.Frame) error { return nil }

// Write writes one further frame.
func (w *Writer) Write(f *frame.Frame) error { return nil }

// Close completes the recording and puts it in place.
func (w *Writer) Close() error { return nil }

// Abort throws the recording away; after Close it does nothing.
func (w *Writer) Abort() {}
