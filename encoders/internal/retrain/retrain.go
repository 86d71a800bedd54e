// Package retrain is the common part of the programs that train the embedded models of encoders again. The same
// recordings give the same files on every machine.
package retrain

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"wirelab/dataset"
	"wirelab/encoders/train"
)

// Main trains encoders with the recordings that the arguments of the program name, replaces the files in dir, a
// folder below the current one, and exits. The exit code is 2 if the arguments are wrong.
func Main(dir string, trainers ...train.Trainer) {
	ctx := context.Background()
	job, err := parse(ctx, os.Args[1:], trainers)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := run(ctx, os.Stderr, job, dir, trainers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parse returns the job that the arguments describe. All recordings must suit all trainers.
func parse(ctx context.Context, args []string, trainers []train.Trainer) (train.Job, error) {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	held := flags.String("held", "", "measure the held-out recording `SPEC`")
	if err := flags.Parse(args); err != nil {
		return train.Job{}, err
	}
	if flags.NArg() == 0 {
		return train.Job{}, fmt.Errorf("no recording to train with; expected %s", trainers[0].From)
	}
	job := train.Job{Seed: 1}
	for _, spec := range flags.Args() {
		clip, err := openClip(ctx, spec, trainers)
		if err != nil {
			return train.Job{}, err
		}
		job.Clips = append(job.Clips, clip)
	}
	if *held != "" {
		clip, err := openClip(ctx, *held, trainers)
		if err != nil {
			return train.Job{}, err
		}
		job.Held = &clip
	}
	return job, nil
}

// run trains encoders and writes their files when all trainings are complete. log receives the points of the loss
// curves.
func run(ctx context.Context, log io.Writer, job train.Job, dir string, trainers []train.Trainer) error {
	var files []train.File
	for _, t := range trainers {
		trained, err := t.Train(ctx, job, train.Log{Point: func(p train.Point) {
			fmt.Fprintf(log, "%s, %s, pass %d: training %.3f bits, held out %.3f bits\n", t.Encoder, p.Part, p.Epoch, p.Train, p.Held)
		}})
		if err != nil {
			return err
		}
		files = append(files, trained...)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// openClip returns the clip of the recording that spec describes, as in tui --data. It must suit all trainers.
func openClip(ctx context.Context, spec string, trainers []train.Trainer) (train.Clip, error) {
	open := func() (train.Source, error) { return dataset.Open(ctx, spec, dataset.Options{}) }
	src, err := open()
	if err != nil {
		return train.Clip{}, err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	for _, t := range trainers {
		if !t.Suits(src.Schema()) {
			return train.Clip{}, fmt.Errorf("%s cannot be trained with %s; expected %s", t.Encoder, spec, t.From)
		}
	}
	return train.NewClip(ctx, spec, src.Schema(), 0, open), nil
}
