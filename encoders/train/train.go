// Package train defines the training of encoders: which recordings it may
// learn from, what it reports on the way, and the files that come out, which are
// embedded beside the encoder. The encoders do the learning themselves; `tui
// train` passes them recordings and writes their files.
package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Clip is one recording, of cubes unless a trainer says otherwise. Frames yields its
// frames in order; a frame is the clip's own and holds until the next one. For cubes the
// rules are the walk-off's: the first six frames are the initial state, and frame n is
// coded from frame n-6.
type Clip struct {
	Name   string
	Schema *frame.Schema
	Frames func(yield func(*frame.Frame) error) error
}

// ErrSize: Job.Size is not what a model of the kind can have.
var ErrSize = errors.New("the size of a model")

// File is one thing learnt, to be written as Name into the encoder's folder.
type File struct {
	Name string
	Data []byte
}

// Point is one point of a loss curve, in bits per what Trainer.Per says.
type Point struct {
	Part        string // what was being trained: "position net"
	Epoch       int    // 1 is the first pass
	Train, Held float64
}

// age is the age of the baseline by the walk-off's rules, in frames.
const age = 6

// Chain calls code for each frame of a clip of cubes by the walk-off's rules, with the frame six
// before it as base, the memo that code returned for that one, nil at first, and a memo to
// overwrite. It stops after limit frames if limit is not 0.
func (c *Clip) Chain(limit int, code func(n int, cur, base *frame.Frame, memo, spare encoders.Memo) (encoders.Memo, error)) error {
	var ring [age]struct {
		held, next  frame.Frame
		memo, spare encoders.Memo
	}
	n := 0
	return c.Frames(func(f *frame.Frame) error {
		if limit != 0 && n > limit {
			return nil
		}
		r := &ring[n%age]
		r.next.CopyFrom(f)
		r.next.Tick = uint32(n)
		if n >= age {
			memo, err := code(n, &r.next, &r.held, r.memo, r.spare)
			if err != nil {
				return err
			}
			r.memo, r.spare = memo, r.memo
		}
		r.held, r.next = r.next, r.held
		n++
		return nil
	})
}

// Log receives progress. Any of its fields may be nil.
type Log struct {
	// Step reports the progress of a step; its remaining time is estimated from when it was
	// first reported. At most some times a second.
	Step  func(what string, done, total int64)
	Point func(Point)
}

// Progress calls Step, if any.
func (l Log) Progress(what string, done, total int64) {
	if l.Step != nil {
		l.Step(what, done, total)
	}
}

// Report calls Point, if any.
func (l Log) Report(p Point) {
	if l.Point != nil {
		l.Point(p)
	}
}

// Job is what a trainer is given. Held is kept out of the learning and only
// measured; nil if none.
type Job struct {
	Clips []Clip
	Held  *Clip
	Seed  uint64
	Quick bool // one short pass over little data: for tests
	Size  int  // bytes that a model's file may have; 0: as the trainer likes
}

// Frames calls visit for each frame of some clips, with the number of the clip, until ctx is done.
// Errors name the clip.
func Frames(ctx context.Context, clips []Clip, visit func(clip int, f *frame.Frame) error) error {
	for i, c := range clips {
		err := c.Frames(func(f *frame.Frame) error {
			if err := visit(i, f); err != nil {
				return err
			}
			return ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// Measure reports a point of the curve of a part: what measure returns for the clips to learn from
// and for the held-out clip. Without a curve it does nothing.
func (j *Job) Measure(log Log, part string, measure func(clips ...Clip) (float64, error)) error {
	if log.Point == nil {
		return nil
	}
	learnt, err := measure(j.Clips...)
	if err != nil {
		return err
	}
	held, err := j.MeasureHeld(func(c Clip) (float64, error) { return measure(c) })
	if err == nil {
		log.Point(Point{Part: part, Epoch: 1, Train: learnt, Held: held})
	}
	return err
}

// MeasureHeld returns the measure of the held-out clip, NaN if none.
func (j *Job) MeasureHeld(measure func(Clip) (float64, error)) (float64, error) {
	if j.Held == nil {
		return math.NaN(), nil
	}
	return measure(*j.Held)
}

// Trainer learns an encoder's files from clips. The same job gives the same
// files, to the bit.
type Trainer struct {
	Encoder string // the name in the table of encoders
	Folder  string // where its files are embedded, from the project's root
	Model   bool   // it makes one file, a user's own, and embeds nothing
	// Suits reports whether it learns from frames of a schema, nil for snapshots of 901 cubes; From
	// describes them in words.
	Suits func(*frame.Schema) bool
	From  string
	Per   string // what its curve tells the bits of; empty: of a changed cube
	Train func(ctx context.Context, job Job, log Log) ([]File, error)
}

// packed is the end of the names of files that PackAll made.
const packed = ".zst"

// PackAll packs files to be embedded: they are compressed, under names that say so. Nets and tables lose a tenth to a
// half of their size.
func PackAll(files []File) ([]File, error) {
	for k, f := range files {
		data, err := Pack(f.Data)
		if err != nil {
			return nil, err
		}
		files[k] = File{Name: f.Name + packed, Data: data}
	}
	return files, nil
}

// Pack compresses trained data with zstd.
func Pack(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(data, nil), nil
}

// MaxEmbedded is the most memory that opening an embedded file takes, in bytes.
const MaxEmbedded = 1 << 20

// Open returns the data that Pack compressed. It fails if they are larger than maxSize bytes.
func Open(file []byte, maxSize int) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(maxSize)), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data, err := z.DecodeAll(file, nil)
	if err != nil {
		return nil, fmt.Errorf("a trained file: %w", err)
	}
	return data, nil
}
