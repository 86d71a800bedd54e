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
// folder below the current one, and exits.
func Main(dir string, trainers ...train.Trainer) {
	if err := run(context.Background(), os.Stderr, os.Args[1:], dir, trainers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run trains encoders and writes their files when all trainings of an encoder are complete. log receives the
// points of the loss curves.
func run(ctx context.Context, log io.Writer, args []string, dir string, trainers []train.Trainer) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	held := flags.String("held", "", "measure the held-out recording `SPEC`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	job := train.Job{Seed: 1}
	for _, spec := range flags.Args() {
		clip, err := openClip(ctx, spec)
		if err != nil {
			return err
		}
		job.Clips = append(job.Clips, clip)
	}
	if *held != "" {
		clip, err := openClip(ctx, *held)
		if err != nil {
			return err
		}
		job.Held = &clip
	}
	for _, t := range trainers {
		files, err := t.Train(ctx, job, train.Log{Point: func(p train.Point) {
			fmt.Fprintf(log, "%s, %s, pass %d: training %.3f bits, held out %.3f bits\n", t.Encoder, p.Part, p.Epoch, p.Train, p.Held)
		}})
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// openClip returns the clip of the recording that spec describes, as in tui --data.
func openClip(ctx context.Context, spec string) (train.Clip, error) {
	open := func() (train.Source, error) { return dataset.Open(ctx, spec, dataset.Options{}) }
	src, err := open()
	if err != nil {
		return train.Clip{}, err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	return train.NewClip(ctx, spec, src.Schema(), 0, open), nil
}
