// Package files makes one frame of a pair of files: the old one is the state that
// both ends hold, the new one is what has to get across. It is the workload of
// everyone who ships patches: not a stream of states of which only the newest
// matters, but bytes of which each must arrive.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
)

// MaxFile bounds either file, which is held in memory.
const MaxFile = 64 << 20

// tickHz is how often a second a datagram may leave.
const tickHz = 1000

// Errors of this package, returned wrapped, with the name of the file.
var (
	errSpec  = errors.New("expected files:OLD,NEW, the names of two files")
	errSame  = errors.New("is both the old file and the new one; expected two files")
	errEmpty = errors.New("is empty; expected a file with something in it")
	errKind  = errors.New("expected a file")
	errSize  = errors.New("too large")
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "files", Spec: "files:OLD,NEW", Source: "Rich Geldreich, Mobile-friendly binary delta compression, 2015",
	Summary: "a new file for those who have the old one, delivered whole; without names a small example", Arg: source.MayHaveArgument,
	Open: func(_ context.Context, names string, opt source.Options) (source.Source, error) {
		s, err := open(names, opt.Seed, opt.Loop)
		if err != nil && names != "" && !errors.Is(err, fs.ErrNotExist) {
			err = source.BadSpec("files:"+names, err)
		}
		return source.AsSource(s, err)
	}}

// pair is a pair of files. It implements source.Source, Sized and Seamed.
type pair struct {
	source.Rounds // of one frame
	schema        *frame.Schema
	old, new      []byte
}

// open reads the two files that spec names, with a comma between them, or makes a
// pair from seed if spec is "". A pair that loops is sent again and again.
func open(spec string, seed uint64, loop bool) (*pair, error) {
	s := &pair{Rounds: source.Rounds{Total: 1, Loop: loop},
		schema: &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Every, TickHz: tickHz}}
	if spec == "" {
		s.old, s.new = example(seed)
		return s, nil
	}
	old, new, err := split(spec)
	if err != nil {
		return nil, err
	}
	a, errA := os.Stat(old)
	b, errB := os.Stat(new)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return nil, fmt.Errorf("%s %w", new, errSame)
	}
	if s.old, err = read(old); err != nil {
		return nil, err
	}
	if s.new, err = read(new); err != nil {
		return nil, err
	}
	return s, nil
}

// split finds the comma between two names. Names may hold commas themselves: then
// it is the one that leaves two files that exist.
func split(spec string) (old, new string, err error) {
	found := 0
	for i, r := range spec {
		if r != ',' {
			continue
		}
		a, b := strings.TrimSpace(spec[:i]), strings.TrimSpace(spec[i+1:])
		if a != "" && b != "" && (strings.Count(spec, ",") == 1 || exists(a) && exists(b)) {
			old, new = a, b
			found++
		}
	}
	if found != 1 {
		return "", "", fmt.Errorf("%q: %w", spec, errSpec)
	}
	return old, new, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// read reads a regular file that is not empty.
func read(path string) ([]byte, error) {
	data, err := boundedio.ReadFile(path, MaxFile)
	var failed *fs.PathError
	var kind *boundedio.KindError
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w; expected a file", path, failed.Err)
	case errors.As(err, &kind) && kind.Mode.IsDir():
		return nil, fmt.Errorf("%s is a folder; %w", path, errKind)
	case errors.As(err, &kind):
		return nil, fmt.Errorf("%s is no regular file; %w", path, errKind)
	case errors.As(err, &tooLarge):
		size := float64(max(tooLarge.Size, MaxFile+1)) / 1e6
		return nil, fmt.Errorf("%s is %w: %.1f MB, expected at most %d", path, errSize, size, MaxFile/1_000_000)
	case err == nil && len(data) == 0:
		return nil, fmt.Errorf("%s %w", path, errEmpty)
	}
	return data, err
}

// Schema describes the new file: bytes, and no table.
func (s *pair) Schema() *frame.Schema { return s.schema }

// Seam reports whether the last frame is one that was sent before.
func (s *pair) Seam() bool { return s.StartsRound() }

// Initial fills f with the old file.
func (s *pair) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{Body: s.old}) }

// Next fills f with the new file.
func (s *pair) Next(f *frame.Frame) error {
	_, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.new})
	}
	return err
}
