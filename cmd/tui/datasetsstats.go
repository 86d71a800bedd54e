package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/fields"
	"wirelab/dataset/frame"
	"wirelab/dataset/stats"
	"wirelab/encoders"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
)

type statsFlags struct {
	walkoffFlags // data.spec is set to each in turn
	against      []string
	lag          int  // of acks, in messages
	chosen       bool // the encoders were
}

func (a *app) datasetsStatsCommand() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats SPEC [--against SPEC]...",
		Short: "Say what data is like: snapshots of cubes side by side, or how each field changes",
		Long: fmt.Sprintf(`Say what snapshots of cubes are like, by everything that makes them cheap or dear
to send: how many cubes change, what stays the same, how large the differences are,
and what two encoders spend on them by the walk-off's rules. Every frame is compared
with the frame six before it.

An active frame is one in which %d cubes or more changed. Differences are absolute,
in units of the snapshot: in position, of cubes that moved; in orientation, of cubes
that turned while their largest component stayed the same. Runs are how many frames a
cube goes on changing, and how many cubes with consecutive numbers change together.

Of data that does not hold cubes it says how each field changes over %d frames: how
often, by how much, and how many bits its change would take by itself.

Of messages, a text or a capture, it says how large they are and how often they come,
how much each place of them tells, and what each encoder makes of them: what would my
game save? Acks are taken to arrive --lag messages late, and nothing to be lost. An
encoder may have parameters: --encoder "deflate level=9".`, stats.ActiveCubes, statsAge),
		Example: `  tui datasets stats demo
  tui datasets stats world --seed 7 --against walk.bin.zst
  tui datasets stats world:katamari --encoder kinetic --json
  tui datasets stats rpc --seed 8
  tui datasets stats table:game.toml,game.csv
  tui datasets stats packets:match.pcap,port=27960 --json`,
		Args: exactlyOneSpec,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.chosen = cmd.Flags().Changed("encoder")
			return a.datasetsStats(cmd, append([]string{args[0]}, f.against...), f)
		},
		ValidArgsFunction: completeArg(dataSpecs, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().StringArrayVar(&f.against, "against", nil, "compare with this `SPEC`; may be repeated")
	cmd.Flags().IntVar(&f.data.cubes, "cubes", 0, "cubes in each frame of a recording (default 901)")
	cmd.Flags().Uint64Var(&f.data.seed, "seed", 0, "seed of generated data; recordings ignore it")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "look at the first `N` frames only (default all; of the endless world 2837)")
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", []string{"relative-orientation", "adaptive"},
		"what this `encoder` spends; may be repeated (default for messages: all that suit)")
	cmd.Flags().IntVar(&f.lag, "lag", 4, "of messages: an ack arrives `N` messages late")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	complete(cmd, "against", dataSpecs)
	return cmd
}

// exactlyOneSpec demands one specification of data.
func exactlyOneSpec(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s expects SPEC: %s", cmd.CommandPath(), specList("demo", "world", "rpc", "table"))
	}
	return noArgs(cmd, args[1:])
}

// likeness is what one source of snapshots is like, in the JSON of `datasets stats`.
type likeness struct {
	Spec string `json:"spec"`
	stats.Summary
	Encoders []spending `json:"encoders"`
}

// spending is what one encoder needs, by the rules of the walk-off.
type spending struct {
	Encoder            string  `json:"encoder"`
	BytesPerPacket     float64 `json:"bytes_per_packet"`
	BitsPerChangedCube float64 `json:"bits_per_changed_cube"`
}

func (a *app) datasetsStats(cmd *cobra.Command, specs []string, f statsFlags) error {
	if err := f.checkFrames(cmd); err != nil {
		return err
	}
	if len(specs) == 1 {
		if done, err := a.statsOfFields(cmd.Context(), specs[0], f); done {
			return err
		}
	}
	list := make([]likeness, len(specs))
	for i, spec := range specs {
		f.data.spec = spec
		l, err := a.liken(cmd.Context(), f.walkoffFlags)
		if err != nil {
			return err
		}
		list[i] = l
	}
	return a.writeResult(map[string]any{"datasets": list}, func(w io.Writer) { writeLikeness(w, list) })
}

// statsOfFields tells how the fields of data change that does not hold cubes; it
// reports whether that was so, or the data cannot be opened at all.
func (a *app) statsOfFields(ctx context.Context, spec string, f statsFlags) (bool, error) {
	f.data.spec = spec
	src, err := f.data.open(ctx)
	if err != nil {
		return true, err
	}
	defer closeSource(src)
	switch s := src.Schema(); {
	case frame.IsCubes(s):
		return false, nil
	case s.Rows == 0 && s.Delivery == frame.Each:
		return true, a.messageStats(ctx, src, f)
	}
	a.printRemarks(src)
	return true, a.fieldStats(ctx, spec, src, f.frames)
}

// liken finds out what one source is like.
func (a *app) liken(ctx context.Context, f walkoffFlags) (likeness, error) {
	l := likeness{Spec: f.data.spec}
	if err := f.data.checkRereadable(); err != nil {
		return l, err
	}
	src, err := f.data.open(ctx)
	if err != nil {
		return l, err
	}
	defer closeSource(src)
	if !frame.IsCubes(src.Schema()) {
		return l, usagef("%s holds %s; expected snapshots of cubes", l.Spec, src.Schema().Name)
	}
	if _, ends := src.(dataset.Sized); !ends && f.frames == 0 {
		f.frames = endlessFrames
	}
	codecs, err := f.codecs(src.Schema())
	if err != nil {
		return l, err
	}
	if l.Summary, err = summarise(ctx, src, max(f.frames-walkoff.Delay, 0)); err != nil {
		return l, err
	}
	l.Encoders, err = a.spend(ctx, f, codecs)
	return l, err
}

// summarise counts up to limit frames, 0 means no limit.
func summarise(ctx context.Context, src dataset.Source, limit int) (stats.Summary, error) {
	f := src.Schema().NewFrame()
	src.Initial(f)
	c := stats.New(src.Schema(), f)
	if _, err := readFrames(ctx, src, f, limit, func(int) { c.Add(f) }); err != nil {
		return stats.Summary{}, asUsageError(withoutSyscall(err))
	}
	return c.Summary(), nil
}

// spend runs a walk-off of the encoders.
func (a *app) spend(ctx context.Context, f walkoffFlags, codecs []*encoders.Codec) ([]spending, error) {
	line := a.progress("stats")
	defer line.done()
	opt := walkoff.Options{Frames: f.frames, Clock: a.clock, Progress: line.report}
	board, err := walkoff.Run(ctx, f.data.spec, f.data.opener(ctx), codecs, opt)
	if err != nil {
		if !board.Interrupted {
			err = asUsageError(err)
		}
		return nil, err
	}
	if err := newFailure(board.Failed()); err != nil {
		return nil, err
	}
	var list []spending
	for _, r := range board.Results {
		list = append(list, spending{r.Encoder, r.BytesPerPacket, r.BitsPerChangedItem})
	}
	return slices.Clip(list), nil
}

// writeLikeness prints the table for people: a row per statistic, a column per
// source of snapshots.
func writeLikeness(w io.Writer, list []likeness) {
	heads := []string{""}
	for _, l := range list {
		heads = append(heads, ">"+strings.TrimSuffix(filepath.Base(l.Spec), ".bin.zst"))
	}
	g := texttable.New(heads...)
	row := func(name, format string, values func(l *likeness) []any) {
		var cells []string
		for i := range list {
			cells = append(cells, fmt.Sprintf(format, values(&list[i])...))
		}
		g.Add(name, cells)
	}
	row("frames compared", "%d", func(l *likeness) []any { return []any{l.Frames} })
	row("cubes changed per frame", "%.1f", func(l *likeness) []any { return []any{l.Changed.Mean} })
	row("  p5 p50 p95", "%d %d %d", func(l *likeness) []any { return []any{l.Changed.P5, l.Changed.P50, l.Changed.P95} })
	row("  per active frame", "%.1f", func(l *likeness) []any { return []any{l.Changed.ActiveMean} })
	share := func(name string, of func(l *likeness) float64) {
		row(name, "%.2f %%", func(l *likeness) []any { return []any{100 * of(l)} })
	}
	share("active frames", func(l *likeness) float64 { return l.Changed.ActiveShare })
	share("unchanged cubes", func(l *likeness) float64 { return l.Unchanged.Cube })
	share("unchanged positions", func(l *likeness) float64 { return l.Unchanged.Position })
	share("unchanged orientations", func(l *likeness) float64 { return l.Unchanged.Orientation })
	share("unchanged interacting", func(l *likeness) float64 { return l.Unchanged.Interacting })
	share("interacting cubes", func(l *likeness) float64 { return l.Interacting })
	share("of changed: only turned", func(l *likeness) float64 { return l.OnlyTurned })
	share("of changed: only moved", func(l *likeness) float64 { return l.OnlyMoved })
	share("of changed: only the flag", func(l *likeness) float64 { return l.OnlyFlagged })
	share("of turned: same largest", func(l *likeness) float64 { return l.SameLargest })
	for i, d := range list[0].Deltas {
		row("difference in "+d.Field+": p50 p90 p99", "%d %d %d", func(l *likeness) []any {
			return []any{l.Deltas[i].P50, l.Deltas[i].P90, l.Deltas[i].P99}
		})
	}
	row("a cube changes for, frames: mean p50 p90", "%.1f %d %d", func(l *likeness) []any {
		return []any{l.RunFrames.Mean, l.RunFrames.P50, l.RunFrames.P90}
	})
	row("cubes changed in a row: mean p50 p90", "%.1f %d %d", func(l *likeness) []any {
		return []any{l.RunCubes.Mean, l.RunCubes.P50, l.RunCubes.P90}
	})
	for i, e := range list[0].Encoders {
		row("bits per changed cube, "+e.Encoder, "%.1f", func(l *likeness) []any { return []any{l.Encoders[i].BitsPerChangedCube} })
		row("bytes per packet, "+e.Encoder, "%.1f", func(l *likeness) []any { return []any{l.Encoders[i].BytesPerPacket} })
	}
	g.WriteText(w, 0)
}

// Frames that `datasets stats` looks at, unless told otherwise, and how far apart those
// are that it compares: a round trip of 100 ms.
const (
	statsFrames = 3600
	statsAge    = 6
)

// fieldStats counts and prints how each field of src changes: all that can be said of
// records that are not cubes. frames bounds how many are looked at, 0 for the default.
func (a *app) fieldStats(ctx context.Context, spec string, src dataset.Source, frames int) error {
	s := src.Schema()
	if s.Rows == 0 {
		return usagef("%s has no fields: its frames are bytes", spec)
	}
	f, count := s.NewFrame(), fields.New(s, statsAge)
	if _, err := readFrames(ctx, src, f, cmp.Or(frames, statsFrames), func(int) { count.Add(f) }); err != nil {
		return asUsageError(err)
	}
	doc := map[string]any{"spec": spec, "frames": count.Frames(), "age": statsAge, "fields": count.Changes()}
	return a.writeResult(doc, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d frames, each compared with the one %d before\n\n", s.Name, count.Frames(), statsAge)
		g := texttable.New("field", "kind", ">changed %", ">mean step", ">largest", "unit", ">low bits")
		for _, c := range count.Changes() {
			g.Add(c.Field, c.Kind, 100*c.Changed, formatNumber(c.Mean), formatNumber(c.Max), c.Unit, c.Entropy)
		}
		g.WriteText(w, a.columns)
	})
}
