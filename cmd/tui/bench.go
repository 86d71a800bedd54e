package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/experiment/bench"
)

// benchFlags are the flags of tui bench.
type benchFlags struct {
	walkoffFlags
	rounds int  // how often every encoder is measured
	table  bool // write a table in Markdown
}

// benchCommand returns tui bench.
func (a *app) benchCommand() *cobra.Command {
	f := benchFlags{rounds: 3}
	f.all = true // score all encoders, unless --encoder names some
	cmd := &cobra.Command{
		Use:     "bench",
		GroupID: groupMeasure,
		Short:   "Measure size and time of every encoder, relative to a reference loop",
		Long: `Measure every encoder, in several rounds: sizes and times by the rules of the walk-off, then
the whole engine over a link with 5 % loss and a delay of 50 +- 16 ms.

A fixed reference loop is timed just before and after each encoder. Figures with the unit
ref are multiples of the time of that loop, and so nearly independent of the machine.

The output has the format of Go benchmarks, a line per encoder and round, which benchstat
reads. --table writes the table of README.md instead.`,
		Example: `  tui bench > before.txt
  tui bench --data walk.bin.zst --rounds 5 --table
  tui bench --encoder static --encoder adaptive --frames 600 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.bench(cmd, f) },
	}
	cmd.Flags().StringVar(&f.data.spec, "data", "demo", dataUsage("demo", "world", "quake3", "table"))
	cmd.Flags().Uint64Var(&f.data.seed, "seed", 1, "use `N` as the seed of generated data and of the link")
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", nil, "measure this `encoder`; may be repeated (default: all)")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "measure only the first `N` frames (default: all; 2837 of the endless world)")
	cmd.Flags().IntVar(&f.rounds, "rounds", f.rounds, "measure in `N` rounds")
	cmd.Flags().BoolVar(&f.table, "table", false, "write a table in Markdown")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	complete(cmd, "data", dataSpecs)
	return cmd
}

// bench measures the encoders and writes the result in the format of the flags. If it is
// interrupted, it still writes what was measured.
func (a *app) bench(cmd *cobra.Command, f benchFlags) error {
	if f.rounds < 1 || f.rounds > 1000 {
		return usagef("--rounds %d makes no sense; expected 1 to 1000", f.rounds)
	}
	if f.table && a.asJSON {
		return usagef("--table and --json are two formats; expected one of them")
	}
	if i := slices.IndexFunc(f.encoders, func(e string) bool { return strings.ContainsRune(e, '=') }); i >= 0 {
		return usagef("--encoder %q sets a parameter; expected a name, because tui bench measures defaults", f.encoders[i])
	}
	f.all = len(f.encoders) == 0
	codecs, err := f.prepare(a, cmd)
	if err != nil {
		return err
	}
	line := a.progress("bench")
	board, err := bench.Run(cmd.Context(), f.data.spec, f.data.seed, f.data.opener(cmd.Context()), codecs,
		bench.Options{Frames: f.frames, Rounds: f.rounds, Clock: a.clock, Progress: line.report})
	line.done()
	if err != nil && !board.Interrupted { // the data cannot be read
		return asUsageError(err)
	}
	var writeErr error
	switch {
	case a.asJSON:
		writeErr = a.stdout.json(board)
	case f.table:
		writeErr = bench.WriteTable(a.stdout, board, time.Now().UTC().Format(time.DateOnly))
	default:
		writeErr = bench.WriteGo(a.stdout, board)
	}
	return cmp.Or(writeErr, err)
}
