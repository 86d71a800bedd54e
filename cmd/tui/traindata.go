package main

import (
	"context"
	"errors"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/train"
	"wirelab/experiment/walkoff"
)

// lesson is a recording to learn from or to measure on.
type lesson struct {
	Spec   string `json:"spec"`
	SHA256 string `json:"sha256"` // of what is learnt from: see dataset.Digest
	Frames int    `json:"frames"` // likewise, frames 0..5 included
	limit  int    // on frames; 0: to its end
}

// quickFrames is how much of a recording --quick looks at.
const quickFrames = 400

// lessons reads every recording once, before hours are spent on any: it must be
// whole, hold the cubes that the encoders are for, and be there only once.
func (a *app) lessons(ctx context.Context, f trainFlags) (data []lesson, held *lesson, err error) {
	specs := f.data
	if f.held != "" {
		specs = append(specs[:len(specs):len(specs)], f.held)
	}
	line := a.progress("reading")
	defer line.done()
	for i, spec := range specs {
		l, err := survey(ctx, spec, f)
		if err != nil {
			return nil, nil, err
		}
		for _, other := range data {
			if other.SHA256 == l.SHA256 && i == len(f.data) {
				return nil, nil, usagef("--held %s is also learnt from, as %s; expected one that is not", spec, other.Spec)
			} else if other.SHA256 == l.SHA256 {
				return nil, nil, usagef("--data %s is the same recording as %s; expected each once", spec, other.Spec)
			}
		}
		data = append(data, l)
		line.report(float64(i+1), float64(len(specs)))
	}
	if f.held != "" {
		held = &data[len(data)-1]
		data = data[:len(data)-1]
	}
	return data, held, nil
}

// survey reads what of spec is learnt from and validates it.
func survey(ctx context.Context, spec string, f trainFlags) (lesson, error) {
	source := dataFlags{spec: spec, seed: f.seed}
	if err := source.rereadable(); err != nil {
		return lesson{}, err
	}
	src, err := source.open()
	if err != nil {
		return lesson{}, err
	}
	defer closeSource(src)
	s := src.Schema()
	if !frame.IsCubes(s) || s.Rows != frame.WalkoffCubes {
		return lesson{}, usagef("%s holds %d rows of %s; encoders learn from snapshots of %d cubes", spec, s.Rows, s.Name, frame.WalkoffCubes)
	}
	if r, ok := src.(*dataset.Recording); ok {
		if err := r.Preamble(); err != nil {
			return lesson{}, badData(err)
		}
	}
	l := lesson{Spec: spec}
	switch _, ends := src.(dataset.Sized); {
	case f.quick:
		l.limit = quickFrames
	case !ends:
		l.limit = endlessFrames
	}
	err = l.read(ctx, src)
	return l, err
}

// read counts the frames and takes their digest.
func (l *lesson) read(ctx context.Context, src dataset.Source) error {
	f := src.Schema().NewFrame()
	src.Initial(f)
	sum := dataset.NewDigest(f)
	for l.Frames = walkoff.Delay; l.limit == 0 || l.Frames < l.limit; l.Frames++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return badData(err)
		}
		sum.Add(f)
	}
	if l.Frames == walkoff.Delay {
		return usagef("%s ends with the initial state; there is nothing to learn from", l.Spec)
	}
	l.SHA256 = sum.Sum()
	return nil
}

// clip is the recording as trainers see it. It is read anew each time, so that
// memory does not grow with what is learnt from.
func (l *lesson) clip(ctx context.Context, seed uint64) train.Clip {
	frames := func(yield func(*frame.Frame) error) error {
		src, err := dataset.Open(l.Spec, dataset.Options{Seed: seed})
		if err != nil {
			return err
		}
		defer closeSource(src)
		f := src.Schema().NewFrame()
		src.Initial(f)
		for n := range l.Frames {
			if err := ctx.Err(); err != nil {
				return err
			}
			if n >= walkoff.Delay {
				if err := src.Next(f); err != nil {
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
	return train.Clip{Name: l.Spec, Schema: frame.Cubes(frame.WalkoffCubes), Frames: frames}
}
