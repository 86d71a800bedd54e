// Package files is a source of a single frame for the delivery of a file to a receiver that has an
// older version of it. The old file is the initial state, the new file is the frame. This is the
// workload of software updates: every byte must arrive, unlike snapshots, of which only the newest
// matters.
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

// MaxFile is the maximum size of each file in bytes. Both are held in memory.
const MaxFile = 64 << 20

// tickHz is the maximum number of datagrams sent per second.
const tickHz = 1000

// Errors of this package, returned wrapped with the name of the file.
var (
	errSpec  = errors.New("expected files:OLD,NEW, the names of two files")
	errSame  = errors.New("is both the old file and the new one; expected two files")
	errEmpty = errors.New("is empty; expected at least one byte")
	errKind  = errors.New("expected a file")
	errSize  = errors.New("too large")
)

// Kind describes pairs of files to dataset.Open.
var Kind = source.Kind{Name: "files", Spec: "files:OLD,NEW", Source: "Rich Geldreich, Mobile-friendly binary delta compression, 2015",
	Summary: "delivery of a new file to a receiver that has the old one; without file names, of a small generated example", Arg: source.MayHaveArgument,
	Open: func(_ context.Context, names string, opt source.Options) (source.Source, error) {
		s, err := open(names, opt.Seed, opt.Loop)
		if err != nil && names != "" && !errors.Is(err, fs.ErrNotExist) {
			err = source.BadSpec("files:"+names, err)
		}
		return source.AsSource(s, err)
	}}

// filePair is the source for a pair of files. It implements source.Source, Sized and Looping.
type filePair struct {
	source.Rounds // each round has one frame
	schema        *frame.Schema
	old, new      []byte
}

// open reads the two files in spec, "OLD,NEW". If spec is "" it generates the example from seed. If
// loop is set, the new file is delivered again and again.
func open(spec string, seed uint64, loop bool) (*filePair, error) {
	s := &filePair{Rounds: source.Rounds{Total: 1, Loop: loop},
		schema: &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Reliable, TickHz: tickHz}}
	if spec == "" {
		s.old, s.new = generateExample(seed)
		return s, nil
	}
	old, new, err := splitNames(spec)
	if err != nil {
		return nil, err
	}
	oldInfo, oldErr := os.Stat(old)
	newInfo, newErr := os.Stat(new)
	if oldErr == nil && newErr == nil && os.SameFile(oldInfo, newInfo) {
		return nil, fmt.Errorf("%s %w", new, errSame)
	}
	if s.old, err = readFile(old); err != nil {
		return nil, err
	}
	if s.new, err = readFile(new); err != nil {
		return nil, err
	}
	return s, nil
}

// splitNames splits spec at the comma between two names. If there are several commas, the names
// must be of files that exist, and only one comma may give such names.
func splitNames(spec string) (old, new string, err error) {
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

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readFile reads a regular file. An empty file is an error.
func readFile(path string) ([]byte, error) {
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
		return nil, fmt.Errorf("%s is not a regular file; %w", path, errKind)
	case errors.As(err, &tooLarge):
		size := float64(max(tooLarge.Size, MaxFile+1)) / 1e6 // tooLarge.Size is 0 if unknown
		return nil, fmt.Errorf("%s is %w: %.1f MB, expected at most %d MB", path, errSize, size, MaxFile/1_000_000)
	case err == nil && len(data) == 0:
		return nil, fmt.Errorf("%s %w", path, errEmpty)
	}
	return data, err
}

// Schema describes the frame, which has a body and no table.
func (s *filePair) Schema() *frame.Schema { return s.schema }

// AtLoopPoint reports whether the newest frame is a repetition.
func (s *filePair) AtLoopPoint() bool { return s.StartsRound() }

// Initial fills f with the old file.
func (s *filePair) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{Body: s.old}) }

// Next fills f with the new file.
func (s *filePair) Next(f *frame.Frame) error {
	_, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.new})
	}
	return err
}
