// Package text is a source of text messages: a text in pieces of equal size. It is the workload of
// Jonathan Blow's "Adaptive Compression Across Unreliable Networks" (2003). Messages may be lost, and
// late messages are still delivered.
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

// declaration is the embedded text: the Declaration of Independence of the United States, 1776, without
// its last paragraph.
//
//go:embed declaration.txt
var declaration string

// Kind describes texts to dataset.Open.
var Kind = source.Kind{Name: "text", Spec: "text:PATH", Source: "Jonathan Blow, Adaptive Compression Across Unreliable Networks, 2003",
	Summary: "a text in messages of 500 bytes, 60 per second; without a path the Declaration of Independence", Arg: source.MayHaveArgument,
	Open: func(ctx context.Context, path string, opt source.Options) (source.Source, error) {
		return source.AsSource(open(ctx, path, &opt))
	},
	Paths: source.WholePath}

const (
	// DefaultMessage is the default size of a message in bytes.
	DefaultMessage = 500
	// MaxMessage is the maximum size of a message in bytes.
	MaxMessage = 16383

	maxText = 64 << 20 // maximum size of a text in bytes, which is held in memory
	tickHz  = 60       // messages per second
)

// errEmpty means that the file with the text is empty.
var errEmpty = errors.New("text is empty")

// messageSource is the source of the messages of a text. It implements source.Source and Sized, but not
// Looping: messages are independent of each other, so the loop point needs no attention.
type messageSource struct {
	source.Notes
	source.Rounds
	schema *frame.Schema
	text   []byte
	size   int // size of a message, in bytes
}

// open opens the text at path, or the embedded text if path is "". If opt.Loop is set, the text begins
// again at its end.
func open(ctx context.Context, path string, opt *source.Options) (*messageSource, error) {
	text, size := []byte(declaration), cmp.Or(opt.Message, DefaultMessage)
	if path != "" {
		var err error
		if text, err = readText(ctx, path); err != nil {
			return nil, err
		}
	}
	if size < 1 || size > MaxMessage {
		return nil, fmt.Errorf("messages of %d bytes, expected 1 to %d", size, MaxMessage)
	}
	return &messageSource{Rounds: source.Rounds{Total: (len(text) + size - 1) / size, Loop: opt.Loop}, text: text, size: size,
		schema: &frame.Schema{Name: "text", Item: "byte", Delivery: frame.Unreliable, TickHz: tickHz}}, nil
}

// readText reads the text at path, which may be a pipe. An empty text is an error.
func readText(ctx context.Context, path string) ([]byte, error) {
	f, err := source.OpenFile(ctx, path, "", nil) // nil: a folder fails only when it is read
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

// Schema describes the messages, which have a body and no table.
func (s *messageSource) Schema() *frame.Schema { return s.schema }

// Initial makes f an empty message.
func (s *messageSource) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{}) }

// Next fills f with the next message. The last message of a text may be shorter.
func (s *messageSource) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.text[n*s.size : min((n+1)*s.size, len(s.text))]})
	}
	return err
}
