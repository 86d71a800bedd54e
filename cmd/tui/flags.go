package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/packets"
	"wirelab/dataset/source"
	"wirelab/dataset/table"
)

// dataFlags choose a source of frames for the commands that need nothing else.
type dataFlags struct {
	spec  string
	cubes int
	seed  uint64
}

// add adds the flags, for data of these kinds; none: of all.
func (d *dataFlags) add(cmd *cobra.Command, preset string, kinds ...string) {
	cmd.Flags().StringVar(&d.spec, "data", preset, "where the frames come from: `SPEC` is "+specs(kinds...)+"; see tui datasets")
	cmd.Flags().IntVar(&d.cubes, "cubes", 0, "cubes in each frame of a recording (default 901)")
	cmd.Flags().Uint64Var(&d.seed, "seed", 0, "seed of generated data; recordings ignore it")
	complete(cmd, "data", dataSpecs)
}

// timeLimit is how long a command may take.
type timeLimit struct{ limit time.Duration }

func (p *timeLimit) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&p.limit, "timeout", 0, "end after this `TIME` with what was measured, and with exit code 1")
}

// begin returns a context that ends as by Ctrl-C when the time is over.
func (p *timeLimit) begin(ctx context.Context) (context.Context, func(), error) {
	if p.limit < 0 {
		return nil, nil, usagef("--timeout %v makes no sense; expected a time, as in 10m", p.limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if p.limit == 0 {
		return ctx, func() { cancel(nil) }, nil
	}
	alarm := time.AfterFunc(p.limit, func() { cancel(failure{fmt.Sprintf("it took longer than --timeout %v", p.limit)}) })
	return ctx, func() { alarm.Stop(); cancel(nil) }, nil
}

// jobsFlag returns how many runs --jobs lets go side by side: one a core, if it is not given.
func jobsFlag(n int) (int, error) {
	if n < 0 {
		return 0, usagef("--jobs %d makes no sense; expected a number of runs, 1 or more", n)
	}
	return cmp.Or(n, runtime.GOMAXPROCS(0)), nil
}

// specs lists how data of these kinds are named; without any, of all there are.
func specs(kinds ...string) string {
	var list []string
	for _, k := range dataset.Kinds() {
		if k.Name != "file" && (len(kinds) == 0 || slices.Contains(kinds, k.Name)) {
			list = append(list, k.Spec)
		}
	}
	return strings.Join(list, ", ") + ", or the path of a recording"
}

// open opens the source; what is wrong with it is the caller's to mend.
func (d *dataFlags) open(ctx context.Context) (dataset.Source, error) {
	src, err := dataset.Open(ctx, d.spec, dataset.Options{Cubes: d.cubes, Seed: d.seed})
	if err != nil {
		return nil, usage(named(readable(err)))
	}
	return src, nil
}

// remarksOf says what a person should know of the data: what was guessed, damaged or left out.
func (a *app) remarksOf(src dataset.Source) {
	if src, ok := src.(dataset.Remarked); ok {
		for _, r := range src.Remarks() {
			a.warn([]string{"data: " + r})
		}
	}
}

// eachFrame reads frames of src into f and calls visit after each, until src ends or, unless
// limit is 0, limit frames are read. n is the number of frames.
func eachFrame(ctx context.Context, src dataset.Source, f *frame.Frame, limit int, visit func(n int)) (n int, err error) {
	for ; limit == 0 || n < limit; n++ {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return n, err
		}
		visit(n)
	}
	return n, nil
}

// opener returns what opens the source anew each time.
func (d *dataFlags) opener(ctx context.Context) func() (dataset.Source, error) {
	return func() (dataset.Source, error) { return d.open(ctx) }
}

// rereadable refuses what can be read only once, for commands that begin anew
// for every encoder.
func (d *dataFlags) rereadable() error {
	path := strings.TrimPrefix(d.spec, "file:")
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return usagef("%s is a pipe, and has to be read more than once; expected a file", path)
	}
	return nil
}

// readable strips an error of the file system of its system call, which says
// nothing to a person.
func readable(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && err == error(pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// unwritable says that path cannot be written, and why; whatever temporary file
// the writer tried is of no interest.
func unwritable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}

// isDataError reports whether err is about the data that was asked for, and not
// about what became of it.
func isDataError(err error) bool {
	for _, kind := range []error{
		dataset.ErrSpec, dataset.ErrFormat, dataset.ErrTruncated, dataset.ErrPreamble,
		table.ErrSchema, table.ErrRecords, table.ErrTruncated,
		packets.ErrFormat, packets.ErrNothing,
		frame.ErrRange, source.ErrFile, fs.ErrNotExist, fs.ErrPermission,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var unknown unknownError
	return errors.As(err, &unknown)
}

// addJSON adds --json.
func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "write one JSON document to standard output")
}

// addOutputFlags adds --json and --quiet.
func (a *app) addOutputFlags(cmd *cobra.Command) {
	a.addJSON(cmd)
	a.addQuiet(cmd)
}

// addQuiet adds --quiet.
func (a *app) addQuiet(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.quiet, "quiet", false, "no progress and no remarks; errors are always said")
}
