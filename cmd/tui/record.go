package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/dataset/world"
	"wirelab/experiment/walkoff"
	"wirelab/internal/atomicfile"
	"wirelab/internal/boundedio"
	"wirelab/internal/words"
)

// recordFlags are the flags of tui record.
type recordFlags struct {
	out     string  // path of the recording or of the CSV file
	script  string  // what moves the player of the cube world; "" means the default
	from    string  // data to export as CSV; "" means to record the cube world
	seconds float64 // virtual time to record
	seed    uint64  // seed of the world and of other generated data
	force   bool    // replace an existing schema file
}

// maxSeconds is the largest value of --seconds, one day, so that a typing error does not fill the
// disk.
const maxSeconds = 24 * 60 * 60

// recordCommand returns tui record.
func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:     "record --out FILE",
		GroupID: groupData,
		Short:   "Record the cube world, or export any data as CSV",
		Long: `Run the cube world at full speed and write a recording in walk-off records: 901 cubes of
eight 32-bit integers per frame, 60 frames per second, of which frames 0..5 are the initial
state. If FILE ends in .zst or .gz, it is compressed. The same seed and script give the
same bytes on every machine.

FILE is created when the recording is complete; if it is a symbolic link, its target is
replaced. An interrupted recording contains the frames so far. When the player has blown
most cubes away, after a minute or two, the world restarts; the recording jumps there, as
it does at the loop point.

With --from, frames of any data with a table are written as CSV, a line per row, for other
programs; FILE then ends in .csv, .csv.zst or .csv.gz. The schema is written next to it
with the ending .toml: table:FILE.toml,FILE.csv plays the same frames. An existing schema
that differs is only replaced with --force. Data that ends is written completely, unless
--seconds is given.

Scripts:
` + scriptHelp(),
		Example: `  tui record --out walk.bin.zst
  tui record --out long.bin.zst --seconds 300 --seed 42 --script katamari
  tui walkoff --data walk.bin.zst --all
  tui record --from quake3:match.dm_71 --out match.csv.zst`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.from != "" {
				return a.exportCSV(cmd, f)
			}
			return a.record(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`FILE` to write")
	cmd.Flags().Float64Var(&f.seconds, "seconds", 60, "record `N` seconds of virtual time")
	cmd.Flags().StringVar(&f.from, "from", "", "export frames of `SPEC` as CSV instead; see tui datasets")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the world and of other generated data")
	cmd.Flags().StringVar(&f.script, "script", "", "`NAME` of the script that moves the player (default: random)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace an existing schema that differs")
	a.addQuiet(cmd)
	complete(cmd, "script", scriptNames)
	complete(cmd, "from", dataSpecs)
	return cmd
}

// scriptHelp returns the list of scripts for the help text.
func scriptHelp() string {
	var b strings.Builder
	for _, s := range world.Scripts() {
		fmt.Fprintf(&b, "  %-9s %s\n", s.Name, s.Summary)
	}
	return b.String()
}

// record runs the cube world and writes its frames to a file.
func (a *app) record(ctx context.Context, f recordFlags) error {
	if f.out == "" {
		return usagef("tui record expects --out FILE")
	}
	const framesPerSecond = 60 // frame rate of the cube world
	frames := int(f.seconds * framesPerSecond)
	if !(f.seconds <= maxSeconds) || frames < 1 { // refuses NaN too
		return usagef("--seconds %g makes no sense; expected one frame (0.017) to a day (%d)", f.seconds, maxSeconds)
	}
	src, err := dataset.Open(ctx, "world", dataset.Options{Seed: f.seed, Script: f.script})
	if err != nil {
		return asUsageError(withSuggestion(err))
	}
	w, err := dataset.Create(a.disk, f.out, src.Schema().Rows)
	if err != nil {
		return asUsageError(writeError(f.out, err))
	}
	defer w.Abort() // does nothing after Close
	done, err := a.copyFrames(ctx, src, frames, w.Initial, w.Write)
	if err != nil {
		return withoutSyscall(err)
	}
	if done == 0 { // interrupted before the first frame: no file
		return ctx.Err()
	}
	if err := w.Close(); err != nil {
		return writeError(f.out, err)
	}
	total := done + walkoff.Delay // frames in the file: it begins with frames 0..5, the initial state
	a.remark("wrote %s: %d frames (%.1f s) of %d cubes", f.out, total, float64(done)/framesPerSecond, src.Schema().Rows)
	return ctx.Err()
}

// exportCSV writes frames of the data that f.from names as CSV, and their schema, both or neither.
// If it is interrupted, it writes the frames so far.
func (a *app) exportCSV(cmd *cobra.Command, f recordFlags) error {
	name, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(f.out, ".zst"), ".gz"), ".csv")
	switch {
	case f.out == "":
		return usagef("tui record expects --out FILE")
	case !ok || name == "":
		return usagef("--out %s makes no sense with --from; expected a name that ends in .csv, .csv.zst or .csv.gz", f.out)
	case f.script != "":
		return usagef("--script %s has no effect with --from; expected --from world:%s", f.script, f.script)
	case !(f.seconds > 0 && f.seconds <= maxSeconds):
		return usagef("--seconds %g makes no sense; expected up to a day (%d)", f.seconds, maxSeconds)
	}
	data := dataFlags{spec: f.from, seed: f.seed}
	src, err := data.open(cmd.Context())
	if err != nil {
		return err
	}
	defer closeSource(src)
	a.printRemarks(src)
	s, frames := src.Schema(), math.MaxInt
	if s.Rows == 0 {
		return usagef("%s has no fields: its frames are bytes and cannot be written as CSV", f.from)
	}
	schema := table.NewWriter(io.Discard, s).Schema()
	if err := checkSchemaFile(name+".toml", schema, f.force); err != nil {
		return err
	}
	if _, hasEnd := src.(dataset.Sized); !hasEnd || cmd.Flags().Changed("seconds") {
		frames = max(1, int(f.seconds*float64(s.TickHz)))
	}
	done, err := 0, error(nil) // number of frames; error of reading or writing frames
	writeErr := a.disk.Group(filepath.Dir(f.out), []atomicfile.Entry{
		{Name: filepath.Base(f.out), Write: func(out io.Writer) error {
			return writeCompressed(out, f.out, func(out io.Writer) error {
				w := table.NewWriter(out, s)
				// In CSV the initial state is written as a frame like the others.
				if done, err = a.copyFrames(cmd.Context(), src, frames, w.Write, w.Write); err != nil {
					return err
				}
				return w.Close()
			})
		}},
		atomicfile.Bytes(filepath.Base(name+".toml"), schema),
	})
	if err != nil { // reading or writing a frame failed; writeErr only repeats this error
		return err
	}
	if writeErr != nil {
		return asUsageError(writeError(f.out, writeErr))
	}
	a.remark("wrote %s and %s: %d frames of %d %s", f.out, name+".toml", done, s.Rows, words.Plural(s.Item))
	return cmd.Context().Err()
}

// maxSchemaBytes, 1 MB, is the largest size of an existing file that may be a schema.
const maxSchemaBytes = 1 << 20

// checkSchemaFile returns an error if the file at path must not be replaced by schema: because it
// is not a schema, or because it is a different schema and force is not set. A missing or empty
// file may be replaced; if the file cannot be read, writing it reports the error.
func checkSchemaFile(path string, schema []byte, force bool) error {
	text, err := boundedio.ReadFile(path, maxSchemaBytes)
	tooLarge := errors.As(err, new(*boundedio.SizeError))
	switch {
	case err != nil && !tooLarge || err == nil && len(text) == 0 || bytes.Equal(text, schema):
		return nil
	case tooLarge || !bytes.Contains(text, []byte("[[field]]")):
		return usagef("%s exists and is not a schema; the schema of the data needs this name: expected another --out", path)
	case !force:
		return usagef("%s exists and differs from the schema of this data; expected another --out, or --force to replace it", path)
	}
	return nil
}

// writeCompressed calls writeContent with a writer that compresses to out in the format of path's
// extension, or with out itself for other extensions.
func writeCompressed(out io.Writer, path string, writeContent func(io.Writer) error) (err error) {
	var compressor io.WriteCloser
	switch filepath.Ext(path) {
	case ".zst":
		compressor, err = zstd.NewWriter(out)
	case ".gz":
		compressor = gzip.NewWriter(out)
	default:
		return writeContent(out)
	}
	if err != nil {
		return err
	}
	return cmp.Or(writeContent(compressor), compressor.Close())
}

// copyFrames passes the initial state of src to writeInitial and up to limit frames to write, and
// returns the number of frames without the initial state. It stops early, without an error, when src or ctx ends.
func (a *app) copyFrames(ctx context.Context, src dataset.Source, limit int, writeInitial, write func(*frame.Frame) error) (done int, err error) {
	line := a.progress("record")
	defer line.done()
	f := src.Schema().NewFrame()
	src.Initial(f)
	if err := writeInitial(f); err != nil {
		return 0, err
	}
	total := limit // number of frames for the progress line
	if sized, ok := src.(dataset.Sized); ok && sized.Frames() > 0 {
		total = min(total, sized.Frames())
	}
	for done < limit && ctx.Err() == nil {
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return done, withoutSyscall(err)
		}
		if err := write(f); err != nil {
			return done, err
		}
		done++
		line.report(float64(done), float64(total))
	}
	return done, nil
}
