package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"wirelab/experiment/bench"
)

type benchFlags struct {
	walkoffFlags
	rounds int
	table  bool
}

func (a *app) benchCommand() *cobra.Command {
	f := benchFlags{rounds: 3}
	f.all = true
	cmd := &cobra.Command{
		Use:     "bench",
		GroupID: groupMeasure,
		Short:   "Measure what every encoder costs, beside a fixed loop of work",
		Long: `Measure every encoder, in turns: its sizes and times by the rules of the walk-off, then
the whole engine with it, over a link that loses 5 % and delays by 50 +- 16 ms.

Just before and after each a fixed loop is timed. Figures in ref are in passes of that
loop, and nearly the same on fast and on slow machines.

It writes the format of Go's benchmarks, a line for each encoder and round; benchstat
compares two such files. --table writes the table that README.md has.`,
		Example: `  tui bench > before.txt
  tui bench --data walk.bin.zst --rounds 5 --table
  tui bench --encoder static --encoder adaptive --frames 600 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.bench(cmd, f) },
	}
	cmd.Flags().StringVar(&f.data.spec, "data", "demo", "where the frames come from: `SPEC` is "+specs("demo", "world", "quake3", "teeworlds", "table")+"; see tui datasets")
	cmd.Flags().Uint64Var(&f.data.seed, "seed", 1, "seed of generated data and of the link (`N`)")
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", nil, "measure this `encoder`; may be repeated (default all)")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "measure on the first `N` frames only (default all; of the endless world 2837)")
	cmd.Flags().IntVar(&f.rounds, "rounds", f.rounds, "measure everything `N` times, in turns")
	cmd.Flags().BoolVar(&f.table, "table", false, "write a table in Markdown")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	complete(cmd, "data", dataSpecs)
	return cmd
}

func (a *app) bench(cmd *cobra.Command, f benchFlags) error {
	if f.rounds < 1 || f.rounds > 1000 {
		return usagef("--rounds %d makes no sense; expected 1 to 1000", f.rounds)
	}
	if f.table && a.asJSON {
		return usagef("--table and --json contradict each other; expected one of them")
	}
	f.all = len(f.encoders) == 0
	codecs, err := f.choose(a, cmd)
	if err != nil {
		return err
	}
	line := a.progress("bench")
	board, err := bench.Run(cmd.Context(), f.data.spec, f.data.seed, f.data.opener(cmd.Context()), codecs,
		bench.Options{Frames: f.frames, Rounds: f.rounds, Clock: a.clock, Progress: line.report})
	line.done()
	if err != nil && !board.Interrupted {
		return usage(err)
	}
	var failed error
	switch {
	case a.asJSON:
		failed = a.stdout.json(board)
	case f.table:
		failed = bench.WriteTable(a.stdout, board, time.Now().UTC().Format(time.DateOnly))
	default:
		failed = bench.WriteGo(a.stdout, board)
	}
	return cmp.Or(failed, err)
}
