package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"wirelab/internal/escape"
)

// dataFlags are the flags that choose a source of frames, for commands that need no other
// settings.
type dataFlags struct {
	spec  string // such as demo, world:random or the path of a recording; see tui datasets
	cubes int    // cubes in each frame of a recording; 0 means 901
	seed  uint64 // seed of generated data
}

// add registers the flags. preset is the default of --data. kinds lists the kinds of data that
// the command accepts; without kinds, all.
func (d *dataFlags) add(cmd *cobra.Command, preset string, kinds ...string) {
	cmd.Flags().StringVar(&d.spec, "data", preset, dataUsage(kinds...))
	cmd.Flags().IntVar(&d.cubes, "cubes", 0, "number of cubes in each frame of a recording (default 901)")
	cmd.Flags().Uint64Var(&d.seed, "seed", 0, "seed of generated data; ignored for recordings")
	complete(cmd, "data", dataSpecs)
}

// timeLimit is the flag --timeout: the longest time a command may take. 0 means no limit.
type timeLimit struct{ limit time.Duration }

// add registers the flag.
func (t *timeLimit) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.limit, "timeout", 0, "stop after this `TIME`, save what was measured, and exit with 1")
}

// start returns a context that is cancelled when the time limit expires; its cause is then a
// failure. The caller must call stop when the command has ended.
func (t *timeLimit) start(ctx context.Context) (limited context.Context, stop func(), err error) {
	if t.limit < 0 {
		return nil, nil, usagef("--timeout %v makes no sense; expected a time, as in 10m", t.limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if t.limit == 0 {
		return ctx, func() { cancel(nil) }, nil
	}
	alarm := time.AfterFunc(t.limit, func() { cancel(failure{fmt.Sprintf("stopped: the command took longer than --timeout %v", t.limit)}) })
	return ctx, func() { alarm.Stop(); cancel(nil) }, nil
}

// parallelRuns returns how many runs may go in parallel: n, the value of --jobs, or if n is 0 one
// per processor core.
func parallelRuns(n int) (int, error) {
	if n < 0 {
		return 0, usagef("--jobs %d makes no sense; expected a number of runs, 1 or more", n)
	}
	return cmp.Or(n, runtime.GOMAXPROCS(0)), nil
}

// specList lists the forms of --data for the given kinds of data; without kinds, for all.
func specList(kinds ...string) string {
	var list []string
	for _, k := range dataset.Kinds() {
		// The form "file:PATH" is left out, since a path alone means the same.
		if k.Name != "file" && (len(kinds) == 0 || slices.Contains(kinds, k.Name)) {
			list = append(list, k.Spec)
		}
	}
	return strings.Join(list, ", ") + ", or the path of a file"
}

// dataUsage describes --data in help. Without kinds, for commands that take all kinds of data, it
// gives examples only; tui datasets lists them.
func dataUsage(kinds ...string) string {
	if len(kinds) == 0 {
		return "read frames from `SPEC`, such as demo, world or the path of a file; see tui datasets"
	}
	return "read frames from `SPEC`: " + specList(kinds...)
}

// open opens the source. All its errors are usage errors.
func (d *dataFlags) open(ctx context.Context) (dataset.Source, error) {
	src, err := dataset.Open(ctx, d.spec, dataset.Options{Cubes: d.cubes, Seed: d.seed})
	if err != nil {
		return nil, asUsageError(withSuggestion(withoutSyscall(err)))
	}
	return src, nil
}

// printRemarks prints what the source reports about its data: values it guessed, damaged records,
// or records it left out.
func (a *app) printRemarks(src dataset.Source) {
	if remarked, ok := src.(dataset.Remarked); ok {
		for _, text := range remarked.Remarks() {
			a.warn([]string{"data: " + text})
		}
	}
}

// opener returns a function that opens the source again at each call.
func (d *dataFlags) opener(ctx context.Context) func() (dataset.Source, error) {
	return func() (dataset.Source, error) { return d.open(ctx) }
}

// checkRereadable returns an error if the source is a named pipe, which can be read only once.
// Commands that read the data once per encoder call it.
func (d *dataFlags) checkRereadable() error {
	path := strings.TrimPrefix(d.spec, "file:")
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return usagef("%s is a named pipe and can be read only once; this command reads the data several times: expected a file", path)
	}
	return nil
}

// withoutSyscall removes the name of the system call from an error of the file system and keeps
// path and reason.
func withoutSyscall(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && err == error(pe) { // an error that wraps a PathError has a text of its own, which is kept
		return fmt.Errorf("%s: %w", escape.Line(pe.Path), pe.Err)
	}
	return err
}

// writeError reports that path cannot be written, with the reason in err but without the path in
// err, which may be that of a temporary file.
func writeError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s cannot be written: %w", escape.Line(path), err)
}

// isDataError reports whether err is an error in the requested data, such as an unknown name or a
// damaged file, rather than a failure of the run. Such errors are usage errors.
func isDataError(err error) bool {
	for _, kind := range []error{
		dataset.ErrSpec, dataset.ErrFormat, dataset.ErrTruncated, dataset.ErrPreamble,
		table.ErrSchema, table.ErrRecords, table.ErrTruncated,
		packets.ErrFormat, packets.ErrNoDatagrams,
		frame.ErrRange, source.ErrFile, fs.ErrNotExist, fs.ErrPermission,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var unknown unknownError
	return errors.As(err, &unknown)
}

// addJSON registers --json.
func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "write one JSON document to standard output")
}

// addOutputFlags registers --json and --quiet.
func (a *app) addOutputFlags(cmd *cobra.Command) {
	a.addJSON(cmd)
	a.addQuiet(cmd)
}

// addQuiet registers --quiet.
func (a *app) addQuiet(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.quiet, "quiet", false, "print no progress, notes or warnings, only errors")
}
