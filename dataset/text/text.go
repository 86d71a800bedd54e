// Package text makes messages of a text: so many bytes each, one after the other.
// It is the workload of Jonathan Blow's "Adaptive Compression Across Unreliable
// Networks" (2003). Messages are delivered or not; a late one is still welcome.
package text

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
)

// declaration is the embedded text: the Declaration of Independence of the United
// States, 1776, but for its last paragraph.
//
//go:embed declaration.txt
var declaration string

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "text", Spec: "text:PATH", Source: "Jonathan Blow, Adaptive Compression Across Unreliable Networks, 2003",
	Summary: "a text in messages of 500 bytes, 60 a second; without a path the Declaration of Independence", Arg: source.MayHaveArgument,
	Open: func(path string, opt source.Options) (source.Source, error) {
		return source.Of(open(path, &opt))
	}}

const (
	// DefaultMessage is the size of a message, in bytes.
	DefaultMessage = 500
	// MaxMessage is the largest that can be asked for.
	MaxMessage = 16383
	// MaxText bounds a text, which is held in memory.
	MaxText = 64 << 20

	tickHz = 60
)

// ErrEmpty: the file holds nothing that could be sent.
var ErrEmpty = errors.New("text is empty")

// Source cuts a text in messages. It implements dataset.Source and Sized. Where a text
// begins again is no seam: no message rests on the one before it.
type Source struct {
	schema *frame.Schema
	text   string
	size   int
	loop   bool
	at     int // of the next message
	tick   uint32
}

// Open reads the text at path, the embedded one if it is "", to be cut in messages
// of size bytes, 500 if that is 0. A text that loops begins again at its end.
func Open(path string, size int, loop bool) (*Source, error) {
	return open(path, &source.Options{Message: size, Loop: loop})
}

func open(path string, opt *source.Options) (*Source, error) {
	text, size := declaration, opt.Message
	if path != "" {
		var err error
		if text, err = read(opt.Context, path); err != nil {
			return nil, err
		}
	}
	if size == 0 {
		size = DefaultMessage
	}
	if size < 1 || size > MaxMessage {
		return nil, fmt.Errorf("messages of %d bytes, expected 1 to %d", size, MaxMessage)
	}
	return &Source{text: text, size: size, loop: opt.Loop,
		schema: &frame.Schema{Name: "text", Item: "byte", Delivery: frame.Each, TickHz: tickHz}}, nil
}

func read(ctx context.Context, path string) (string, error) {
	f, err := source.OpenFile(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := boundedio.ReadAll(f, path, MaxText)
	if err != nil {
		return "", err
	}
	if len(text) == 0 {
		return "", fmt.Errorf("%s: %w", path, ErrEmpty)
	}
	return string(text), nil
}

// Schema describes messages: bytes, and no table.
func (s *Source) Schema() *frame.Schema { return s.schema }

// Frames returns how many messages the text is cut in.
func (s *Source) Frames() int { return (len(s.text) + s.size - 1) / s.size }

// Initial makes f the empty message.
func (s *Source) Initial(f *frame.Frame) { f.Tick, f.Table, f.Body = 0, f.Table[:0], f.Body[:0] }

// Next fills f with the next message; the last of a text may be a short one.
func (s *Source) Next(f *frame.Frame) error {
	if s.at == len(s.text) {
		if !s.loop {
			return io.EOF
		}
		s.at = 0
	}
	end := min(s.at+s.size, len(s.text))
	f.Tick, f.Table, f.Body = s.tick, f.Table[:0], append(f.Body[:0], s.text[s.at:end]...)
	s.at = end
	s.tick++
	return nil
}
