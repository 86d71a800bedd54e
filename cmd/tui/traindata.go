package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/train"
)

// trainingSet is a recording that is trained or measured on.
type trainingSet struct {
	Spec   string `json:"spec"`
	SHA256 string `json:"sha256"` // hash of the frames that are used, see dataset.NewDigest; of the bytes for texts
	Frames int    `json:"frames"` // number of frames that are used; for cubes including frames 0 to 5
	limit  int    // maximum number of frames, including the copies of the initial state; 0 means no limit
	schema *frame.Schema
}

// readTrainingSets reads the recordings of --data and --held once, before the training, which may
// take hours. It returns an error if a recording is damaged, if no trainer supports it, or if it is
// listed twice. held is the recording of --held; nil if none.
func (a *app) readTrainingSets(ctx context.Context, f trainFlags, trainers []train.Trainer) (data []trainingSet, held *trainingSet, err error) {
	f.data = joinSpecs(f.data)
	specs := slices.Clip(f.data) // append must not change f.data
	if f.held != "" {            // the held-out recording is the last one
		specs = append(specs, f.held)
	}
	line := a.progress("reading")
	defer line.done()
	for i, spec := range specs {
		line.pause() // readTrainingSet may print remarks
		set, err := a.readTrainingSet(ctx, spec, f, trainers)
		if err != nil {
			return nil, nil, err
		}
		for _, other := range data {
			if isHeld := i == len(f.data); other.SHA256 == set.SHA256 && isHeld {
				return nil, nil, usagef("--held %s is the same recording as --data %s; expected a recording that is not trained on", spec, other.Spec)
			} else if other.SHA256 == set.SHA256 {
				return nil, nil, usagef("--data %s is the same recording as %s; expected each recording once", spec, other.Spec)
			}
		}
		data = append(data, set)
		line.report(float64(i+1), float64(len(specs)))
	}
	if f.held != "" {
		held = &data[len(data)-1]
		data = data[:len(data)-1]
	}
	return data, held, nil
}

// joinSpecs returns the values of --data. The flag library splits them at all commas, also at those
// inside of a value: packets:FILE,port=N,dir=up, quake3:FILE,rows=N and table:SCHEMA.toml,FILE.
// joinSpecs joins such parts again.
func joinSpecs(parts []string) (specs []string) {
	option := regexp.MustCompile("^[a-z]+=")
	for _, p := range parts {
		if last := len(specs) - 1; last >= 0 {
			isOption := option.MatchString(p)
			needsFile := strings.HasPrefix(specs[last], "table:") && !strings.Contains(specs[last], ".toml,")
			if isOption || needsFile {
				specs[last] += "," + p
				continue
			}
		}
		specs = append(specs, p)
	}
	return specs
}

// readTrainingSet reads the frames of spec that will be used, validates them, and returns their
// number and digest. It is a usage error if no trainer supports the data.
func (a *app) readTrainingSet(ctx context.Context, spec string, f trainFlags, trainers []train.Trainer) (trainingSet, error) {
	source := dataFlags{spec: spec, seed: f.seed}
	if err := source.checkRereadable(); err != nil {
		return trainingSet{}, err
	}
	src, err := source.open(ctx)
	if err != nil {
		return trainingSet{}, err
	}
	defer closeSource(src)
	s := src.Schema()
	if !slices.ContainsFunc(trainers, func(t train.Trainer) bool { return t.Suits(s) }) {
		return trainingSet{}, usagef("%s contains %d rows of %s; expected %s", spec, s.Rows, s.Name, trainingSources(trainers))
	}
	a.printRemarks(src)
	if r, ok := src.(*dataset.Recording); ok {
		// The walk-off's rules require a preamble: frames 1 to 5 equal frame 0. Opening the recording compared them.
		if err := r.Preamble(); err != nil {
			return trainingSet{}, markDataError(err)
		}
	}
	set := trainingSet{Spec: spec, schema: s}
	if _, ends := src.(dataset.Sized); !ends {
		set.limit = endlessFrames
	}
	err = set.read(ctx, src)
	return set, err
}

// trainingSources describes what data the trainers support, without duplicates.
func trainingSources(trainers []train.Trainer) string {
	var list []string
	for _, t := range trainers {
		if !slices.Contains(list, t.From) {
			list = append(list, t.From)
		}
	}
	return strings.Join(list, ", or ")
}

// read reads up to set.limit frames of src and sets their number and digest.
func (set *trainingSet) read(ctx context.Context, src dataset.Source) error {
	f := set.schema.NewFrame()
	src.Initial(f)
	var initial *frame.Frame // the initial state is part of the digest for cubes only; nil leaves it out
	if frame.IsCubes(set.schema) {
		initial = f
	}
	sum := dataset.NewDigest(initial)
	limit := max(set.limit-train.Preamble(set.schema), 0) // 0 stays 0: no limit
	n, err := dataset.Read(ctx, src, f, limit, func(int) error {
		sum.Add(f)
		return nil
	})
	if err != nil {
		return markDataError(err)
	}
	set.Frames = train.Preamble(set.schema) + n
	if n == 0 {
		return usagef("%s contains only the initial state; expected further frames", set.Spec)
	}
	set.SHA256 = sum.Sum()
	return nil
}

// clip returns the recording in the form that trainers use. seed is that of generated data.
func (set *trainingSet) clip(ctx context.Context, seed uint64) train.Clip {
	return train.NewClip(ctx, set.Spec, set.schema, set.Frames, func() (train.Source, error) {
		return dataset.Open(ctx, set.Spec, dataset.Options{Seed: seed})
	})
}
