// Package text makes messages of a text, one after the other.
// It is the workload of Jonathan Blow's "Adaptive Compression Across Unreliable
// Networks" (2003). Messages are delivered or not; a late one is still welcome.
package text

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"

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
	Open: func(ctx context.Context, path string, opt source.Options) (source.Source, error) {
		return source.AsSource(open(ctx, path, &opt))
	},
	Paths: source.WholePath}

const (
	// DefaultMessage is the size of a message, in bytes.
	DefaultMessage = 500
	// MaxMessage is the largest size of a message that users may set.
	MaxMessage = 16383

	maxText = 64 << 20 // bytes: a text is held in memory
	tickHz  = 60
)

var errEmpty = errors.New("text is empty")

// messages cuts a text in messages. It implements source.Source and Sized. It is not Seamed where
// it loops: no message depends on the one before it.
type messages struct {
	source.Rounds
	schema *frame.Schema
	text   []byte
	size   int // of a message
}

// open reads the text at path, the embedded one if it is "". A text that loops begins again at
// its end.
func open(ctx context.Context, path string, opt *source.Options) (*messages, error) {
	text, size := []byte(declaration), cmp.Or(opt.Message, DefaultMessage)
	if path != "" {
		var err error
		if text, err = read(ctx, path); err != nil {
			return nil, err
		}
	}
	if size < 1 || size > MaxMessage {
		return nil, fmt.Errorf("messages of %d bytes, expected 1 to %d", size, MaxMessage)
	}
	return &messages{Rounds: source.Rounds{Total: (len(text) + size - 1) / size, Loop: opt.Loop}, text: text, size: size,
		schema: &frame.Schema{Name: "text", Item: "byte", Delivery: frame.Each, TickHz: tickHz}}, nil
}

func read(ctx context.Context, path string) ([]byte, error) {
	f, err := source.OpenFile(ctx, path, "", nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := boundedio.ReadAll(f, path, maxText)
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s: %w", path, errEmpty)
	}
	return text, err
}

// Schema describes messages: bytes, and no table.
func (s *messages) Schema() *frame.Schema { return s.schema }

// Initial makes f the empty message.
func (s *messages) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{}) }

// Next fills f with the next message; the last of a text may be a short one.
func (s *messages) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.text[n*s.size : min((n+1)*s.size, len(s.text))]})
	}
	return err
}
