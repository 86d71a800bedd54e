package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/train"
	"wirelab/experiment/walkoff"
)

// lesson is a recording that trainers learn from, or on which the result is measured.
type lesson struct {
	Spec   string `json:"spec"`
	SHA256 string `json:"sha256"` // of the frames learnt from: see dataset.NewDigest; of texts, their bytes
	Frames int    `json:"frames"` // number learnt from; for cubes, frames 0 to 5 included
	limit  int    // maximum number of frames; 0 means no limit
	schema *frame.Schema
}

// preamble returns the number of frames before the first that the source returns: for
// cubes those of the walk-off, for other data 0.
func (l *lesson) preamble() int {
	if frame.IsCubes(l.schema) {
		return walkoff.Delay
	}
	return 0
}

// learnsFrom reports whether a trainer wants data of a schema.
func learnsFrom(t train.Trainer, s *frame.Schema) bool {
	if t.Suits != nil {
		return t.Suits(s)
	}
	return frame.IsCubes(s) && s.Rows == frame.WalkoffCubes
}

// quickFrames is the number of frames that --quick reads of each recording.
const quickFrames = 400

// lessons reads every recording once, before the training, which may take hours. It returns
// an error if a recording is damaged, if no trainer learns from it, or if it is listed twice.
// held is the recording of --held, nil if none.
func (a *app) lessons(ctx context.Context, f trainFlags, trainers []train.Trainer) (data []lesson, held *lesson, err error) {
	specs := joined(f.data)
	f.data = specs
	if f.held != "" {
		specs = append(specs[:len(specs):len(specs)], f.held)
	}
	line := a.progress("reading")
	defer line.done()
	for i, spec := range specs {
		line.pause()
		l, err := a.survey(ctx, spec, f, trainers)
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

// joined rejoins specs that the flag has split at commas inside a spec:
// packets:FILE,port=N,dir=up, quake3:FILE,rows=N and table:SCHEMA.toml,FILE.
func joined(parts []string) (specs []string) {
	option := regexp.MustCompile("^[a-z]+=")
	for _, p := range parts {
		if last := len(specs) - 1; last >= 0 && (option.MatchString(p) ||
			strings.HasPrefix(specs[last], "table:") && !strings.Contains(specs[last], ".toml,")) {
			specs[last] += "," + p
			continue
		}
		specs = append(specs, p)
	}
	return specs
}

// survey reads the part of spec that is learnt from and validates it.
func (a *app) survey(ctx context.Context, spec string, f trainFlags, trainers []train.Trainer) (lesson, error) {
	source := dataFlags{spec: spec, seed: f.seed}
	if err := source.checkRereadable(); err != nil {
		return lesson{}, err
	}
	src, err := source.open(ctx)
	if err != nil {
		return lesson{}, err
	}
	defer closeSource(src)
	s := src.Schema()
	if !slices.ContainsFunc(trainers, func(t train.Trainer) bool { return learnsFrom(t, s) }) {
		return lesson{}, usagef("%s holds %d rows of %s; expected %s", spec, s.Rows, s.Name, trainingSources(trainers))
	}
	a.printRemarks(src)
	if r, ok := src.(*dataset.Recording); ok {
		if err := r.Preamble(); err != nil {
			return lesson{}, markDataError(err)
		}
	}
	l := lesson{Spec: spec, schema: s}
	switch _, ends := src.(dataset.Sized); {
	case f.quick:
		l.limit = quickFrames
	case !ends:
		l.limit = endlessFrames
	}
	err = l.read(ctx, src)
	return l, err
}

// trainingSources describes what the trainers learn from, without duplicates and joined by ", or ". A
// trainer with an empty From learns from snapshots of frame.WalkoffCubes cubes.
func trainingSources(trainers []train.Trainer) string {
	var list []string
	for _, t := range trainers {
		what := cmp.Or(t.From, fmt.Sprintf("snapshots of %d cubes", frame.WalkoffCubes))
		if !slices.Contains(list, what) {
			list = append(list, what)
		}
	}
	return strings.Join(list, ", or ")
}

// read sets the number of frames and their digest.
func (l *lesson) read(ctx context.Context, src dataset.Source) error {
	f, counted := l.schema.NewFrame(), (*frame.Frame)(nil)
	src.Initial(f)
	if frame.IsCubes(l.schema) {
		counted = f
	}
	sum := dataset.NewDigest(counted)
	n, err := readFrames(ctx, src, f, max(l.limit-l.preamble(), 0), func(int) { sum.Add(f) })
	if err != nil {
		return markDataError(err)
	}
	l.Frames = l.preamble() + n
	if n == 0 {
		return usagef("%s ends with the initial state; there is nothing to learn from", l.Spec)
	}
	l.SHA256 = sum.Sum()
	return nil
}

// clip returns the recording for trainers. It reads the data again each time, so that
// memory does not grow with the number of frames.
func (l *lesson) clip(ctx context.Context, seed uint64) train.Clip {
	frames := func(yield func(*frame.Frame) error) error {
		src, err := dataset.Open(ctx, l.Spec, dataset.Options{Seed: seed})
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
			if n >= l.preamble() {
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
	return train.Clip{Name: l.Spec, Schema: l.schema, Frames: frames}
}
