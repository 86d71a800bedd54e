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
	"wirelab/internal/atomicfile"
	"wirelab/internal/boundedio"
	"wirelab/internal/words"
)

type recordFlags struct {
	out, script string
	from        string
	seconds     float64
	seed        uint64
	force       bool
}

// maxSeconds keeps a slip of the finger from filling the disk: a day.
const maxSeconds = 24 * 60 * 60

func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:     "record --out FILE",
		GroupID: groupData,
		Short:   "Run the cube world and write a recording, or any data as CSV",
		Long: `Run the cube world as fast as it goes and write a recording in walk-off records:
901 cubes of eight 32-bit integers a frame, 60 frames a second, frames 0..5 the
initial state. A name that ends in .zst or .gz is compressed. The same seed and
script give the same bytes on every machine.

The file appears when it is complete; through a link, where that leads to. Interrupted, it holds the frames so far. A
player who has blown most cubes away begins anew, after a minute or two: there a
recording jumps, as it does where it ends and is played again.

With --from, frames of any data that has a table are written as CSV, a line for each
row, for other programs; FILE ends in .csv, .csv.zst or .csv.gz. Beside it comes the
schema, whose name ends in .toml: table:FILE.toml,FILE.csv plays the same frames. One
that is there and says something else stays, without --force. All of what ends is
written, unless --seconds says how much.

Scripts:
` + scriptHelp(),
		Example: `  tui record --out walk.bin.zst
  tui record --out long.bin.zst --seconds 300 --seed 42 --script katamari
  tui walkoff --data walk.bin.zst --all
  tui record --from quake3:match.dm_71 --out match.csv.zst`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.from != "" {
				return a.export(cmd, f)
			}
			return a.record(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`FILE` to write")
	cmd.Flags().Float64Var(&f.seconds, "seconds", 60, "`N` seconds of virtual time; of the world, at 60 frames each")
	cmd.Flags().StringVar(&f.from, "from", "", "write frames of the data `SPEC` as CSV instead; see tui datasets")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the player's script")
	cmd.Flags().StringVar(&f.script, "script", "", "`NAME` of the script that plays (default random)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace a schema that is there and says something else")
	a.addQuiet(cmd)
	complete(cmd, "script", scriptNames)
	complete(cmd, "from", dataSpecs)
	return cmd
}

// scriptHelp lists the scripts, for the help text.
func scriptHelp() string {
	var b strings.Builder
	for _, s := range world.Scripts() {
		fmt.Fprintf(&b, "  %-9s %s\n", s.Name, s.Summary)
	}
	return b.String()
}

func (a *app) record(ctx context.Context, f recordFlags) error {
	if f.out == "" {
		return usagef("tui record expects --out FILE")
	}
	frames := int(f.seconds * 60)
	if !(f.seconds <= maxSeconds) || frames < 1 {
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
	defer w.Abort() // does nothing once it is closed
	done, err := a.frames(ctx, src, frames, w.Initial, w.Write)
	if err != nil {
		return withoutSyscall(err)
	}
	if done == 0 {
		return ctx.Err()
	}
	if err := w.Close(); err != nil {
		return writeError(f.out, err)
	}
	a.remark("wrote %s: %d frames (%.1f s) of %d cubes", f.out, done+6, float64(done)/60, src.Schema().Rows)
	return ctx.Err()
}

// export writes frames of any data as CSV, with their schema.
func (a *app) export(cmd *cobra.Command, f recordFlags) error {
	name, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(f.out, ".zst"), ".gz"), ".csv")
	switch {
	case f.out == "":
		return usagef("tui record expects --out FILE")
	case !ok || name == "":
		return usagef("--out %s makes no sense with --from; expected a name that ends in .csv, .csv.zst or .csv.gz", f.out)
	case f.script != "":
		return usagef("--script %s and --from contradict each other; expected --from world:%s", f.script, f.script)
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
		return usagef("%s has no fields: its frames are bytes, for which CSV has no place", f.from)
	}
	schema := table.NewWriter(io.Discard, s).Schema()
	if err := vacant(name+".toml", schema, f.force); err != nil {
		return err
	}
	if _, ends := src.(dataset.Sized); !ends || cmd.Flags().Changed("seconds") {
		frames = max(1, int(f.seconds*float64(s.TickHz)))
	}
	done, err := 0, error(nil)
	write := a.disk.Group(filepath.Dir(f.out), []atomicfile.Entry{
		{Name: filepath.Base(f.out), Write: func(out io.Writer) error {
			return packed(out, f.out, func(out io.Writer) error {
				w := table.NewWriter(out, s)
				if done, err = a.frames(cmd.Context(), src, frames, w.Write, w.Write); err != nil {
					return err
				}
				return w.Close()
			})
		}},
		atomicfile.Bytes(filepath.Base(name+".toml"), schema),
	})
	if err != nil {
		return err // of the data
	}
	if write != nil {
		return asUsageError(writeError(f.out, write))
	}
	a.remark("wrote %s and %s: %d frames of %d %s", f.out, name+".toml", done, s.Rows, words.Plural(s.Item))
	return cmd.Context().Err()
}

// maxSchema bounds what is read as a schema.
const maxSchema = 1 << 20

// vacant says why a schema cannot take the place of what is at path.
func vacant(path string, schema []byte, force bool) error {
	text, err := boundedio.ReadFile(path, maxSchema)
	tooLarge := errors.As(err, new(*boundedio.SizeError))
	switch {
	case err != nil && !tooLarge || err == nil && len(text) == 0 || bytes.Equal(text, schema):
		return nil
	case tooLarge || !bytes.Contains(text, []byte("[[field]]")):
		return usagef("%s is there, and is no schema, for which its name is wanted; expected another --out", path)
	case !force:
		return usagef("%s is there, and says something else than the schema of this data; expected another --out, or --force to replace it", path)
	}
	return nil
}

// packed has fill write to out, through what the ending of path promises.
func packed(out io.Writer, path string, fill func(io.Writer) error) (err error) {
	var pack io.WriteCloser
	switch filepath.Ext(path) {
	case ".zst":
		pack, err = zstd.NewWriter(out)
	case ".gz":
		pack = gzip.NewWriter(out)
	default:
		return fill(out)
	}
	if err != nil {
		return err
	}
	return cmp.Or(fill(pack), pack.Close())
}

// frames writes the initial state and up to limit frames. It stops early, without an error, when
// ctx ends.
func (a *app) frames(ctx context.Context, src dataset.Source, limit int, initial, write func(*frame.Frame) error) (done int, err error) {
	line := a.progress("record")
	defer line.done()
	f := src.Schema().NewFrame()
	src.Initial(f)
	if err := initial(f); err != nil {
		return 0, err
	}
	total := limit
	if x, ok := src.(dataset.Sized); ok && x.Frames() > 0 {
		total = min(total, x.Frames())
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
