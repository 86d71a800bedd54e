// Package train defines how encoders are trained: the recordings that a trainer gets, the progress that it
// reports, and the files that it makes. The packages of the encoders implement trainers. `tui train` passes
// recordings of the user to trainers of models for the user's data. The programs in the folders called train
// make models that are embedded in an encoder's package.
package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Clip is a recording to train with. For cubes the rules of the walk-off apply: the first six frames are
// the initial state, and frame n is coded against frame n-6.
type Clip struct {
	Name   string // name of the recording, for errors and progress
	Schema *frame.Schema
	// Frames calls yield for each frame in order, until yield returns an error. A frame belongs to the
	// clip and is valid during the call.
	Frames func(yield func(*frame.Frame) error) error
}

// A Source is a recording that is read in order; dataset.Source describes the methods.
type Source interface {
	Schema() *frame.Schema
	Initial(f *frame.Frame)
	Next(f *frame.Frame) error
}

// NewClip returns the clip of a recording with the given schema, which open opens at its beginning. Each pass of
// a trainer reads it again, so that memory does not grow with its length. A clip of cubes begins with
// baselineAge copies of the initial state, which sources do not return. limit is the maximum number of frames,
// with the copies; 0 means no limit. If open returns an io.Closer, it is closed after each pass.
func NewClip(ctx context.Context, name string, schema *frame.Schema, limit int, open func() (Source, error)) Clip {
	frames := func(yield func(*frame.Frame) error) error {
		src, err := open()
		if err != nil {
			return err
		}
		if c, ok := src.(io.Closer); ok {
			defer c.Close()
		}
		f := schema.NewFrame()
		src.Initial(f)
		for n := 0; limit == 0 || n < limit; n++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if n >= Preamble(schema) {
				err := src.Next(f)
				if err == io.EOF {
					break
				}
				if err != nil {
					return err
				}
			}
			f.Tick = uint32(n)
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}
	return Clip{Name: name, Schema: schema, Frames: frames}
}

// Preamble returns the number of frames at the beginning of a clip that are copies of the initial state.
func Preamble(s *frame.Schema) int {
	if frame.IsCubes(s) {
		return baselineAge
	}
	return 0
}

// ErrSize means that a trainer cannot make a model of the size Job.Size.
var ErrSize = errors.New("invalid model size")

// File is a result of training, such as a table of probabilities, with the name of its file.
type File struct {
	Name string
	Data []byte // contents of the file
}

// Point is a point of a loss curve, in bits per Trainer.Per.
type Point struct {
	Part        string  // the part that is trained, such as "position net"
	Epoch       int     // number of the pass over the clips, from 1
	Train, Held float64 // losses of the clips trained with and of the held-out clip; Held is NaN without one
}

// baselineAge is the age of the baseline in frames, by the rules of the walk-off.
const baselineAge = 6

// Chain calls code for each frame of a clip of cubes that has a baseline, base, six frames earlier. memo is the
// memo that code returned for base, nil if base is one of the first six frames; spare is a memo that may be
// overwritten. n is the number of cur from 0 on, and its tick. code returns the memo of cur. Frames after number
// limit are skipped; 0 means no limit. If code returns an error, Chain returns it at once.
func (c *Clip) Chain(limit int, code func(n int, cur, base *frame.Frame, memo, spare encoders.Memo) (encoders.Memo, error)) error {
	// Frame n is in element n%baselineAge, where its baseline was before.
	var ring [baselineAge]struct {
		held, next  frame.Frame   // the last frame, which is the baseline of the next; memory for the next
		memo, spare encoders.Memo // of held; a memo that may be overwritten
	}
	n := 0
	return c.Frames(func(f *frame.Frame) error {
		if limit != 0 && n > limit {
			return nil
		}
		r := &ring[n%baselineAge]
		r.next.CopyFrom(f)
		r.next.Tick = uint32(n)
		if n >= baselineAge {
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

// Log receives the progress of a training. Any of its fields may be nil.
type Log struct {
	// Step is called several times per second at most, with the name of a step and how much of it is
	// done. The receiver may estimate the remaining time from the first call for a step.
	Step  func(what string, done, total int64)
	Point func(Point) // called for each point of the loss curve
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

// Job is the input of a trainer.
type Job struct {
	Clips []Clip
	Held  *Clip  // held out: not trained with, only measured; nil if none
	Seed  uint64 // of all random choices of the trainer
	Quick bool   // one short pass over little data, for tests
	Size  int    // maximum size of a model's file in bytes; 0 means that of the trainer
}

// ForEachFrame calls visit for each frame of the clips, with the index of its clip, until visit returns an error or
// ctx is done. Errors name the clip.
func ForEachFrame(ctx context.Context, clips []Clip, visit func(clip int, f *frame.Frame) error) error {
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

// Measure reports a point of the loss curve of a part: the results of measure for the clips trained with and
// for the held-out clip. It does nothing if log.Point is nil.
func (j *Job) Measure(log Log, part string, measure func(clips ...Clip) (float64, error)) error {
	if log.Point == nil {
		return nil
	}
	trained, err := measure(j.Clips...)
	if err != nil {
		return err
	}
	held, err := j.MeasureHeld(func(c Clip) (float64, error) { return measure(c) })
	if err == nil {
		log.Point(Point{Part: part, Epoch: 1, Train: trained, Held: held})
	}
	return err
}

// MeasureHeld returns the result of measure for the held-out clip; NaN without a held-out clip.
func (j *Job) MeasureHeld(measure func(Clip) (float64, error)) (float64, error) {
	if j.Held == nil {
		return math.NaN(), nil
	}
	return measure(*j.Held)
}

// Trainer makes an encoder's files from clips. The same job gives the same files, to the bit.
type Trainer struct {
	Encoder string // the name in the table of encoders
	// Suits reports whether the encoder can be trained with frames of a schema, and From describes such frames
	// in words. Only tui train reads Per.
	Suits func(*frame.Schema) bool
	From  string
	Per   string // what the loss is per, in bits: "changed cube" or "byte"
	Train func(ctx context.Context, job Job, log Log) ([]File, error)
}

// packedSuffix is the suffix of the names of packed files.
const packedSuffix = ".zst"

// PackAll compresses files that are to be embedded, and appends packedSuffix to their names. It modifies
// the slice. Nets and tables become a tenth to a half smaller.
func PackAll(files []File) ([]File, error) {
	for k, f := range files {
		data, err := pack(f.Data)
		if err != nil {
			return nil, err
		}
		files[k] = File{Name: f.Name + packedSuffix, Data: data}
	}
	return files, nil
}

// pack compresses trained data with zstd.
func pack(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(data, nil), nil
}

// MaxEmbedded is the largest size of an embedded file's data, in bytes.
const MaxEmbedded = 1 << 20

// Open returns the data that pack compressed. It fails if the data has more than MaxEmbedded bytes.
func Open(file []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxEmbedded), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data, err := z.DecodeAll(file, nil)
	if err != nil {
		return nil, fmt.Errorf("trained file: %w", err)
	}
	return data, nil
}
