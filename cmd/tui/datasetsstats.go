package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
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

// statsFlags are the flags of tui datasets stats.
type statsFlags struct {
	walkoffFlags           // data.spec is set to each SPEC in turn
	against       []string // further data to compare with, each as for --data
	encodersGiven bool     // whether --encoder is set
}

// datasetsStatsCommand returns tui datasets stats.
func (a *app) datasetsStatsCommand() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats SPEC [--against SPEC]...",
		Short: "Measure the properties of data: cubes, fields or messages",
		Long: fmt.Sprintf(`Measure the properties of data that determine its compressed size.

For snapshots of cubes: how many cubes change, which fields stay the same, how large the
differences are, and the size with two encoders by the rules of the walk-off. Every frame
is compared with the frame six before it. A frame in which at least %d cubes change is
active. Differences are absolute values in units of the snapshot: of the position of cubes
that moved, and of the orientation of cubes that turned while the largest component of the
quaternion stayed the same. The lengths of runs are counted over time (consecutive frames
in which a cube changes) and over cubes (consecutive cubes that change).

For other tables: how often and by how much each field changes within %d frames, and the
entropy of its changes in bits.

For messages (a text or a capture): sizes, rate, the entropy at each byte offset, and the
size with each encoder. Acks are assumed to arrive four messages late, and no message is
lost. --encoder accepts parameters, as in --encoder "deflate level=9".`, stats.ActiveCubes, statsDistance),
		Example: `  tui datasets stats demo
  tui datasets stats world --seed 7 --against walk.bin.zst
  tui datasets stats world:katamari --encoder kinetic --json
  tui datasets stats rpc --seed 8
  tui datasets stats table:game.toml,game.csv
  tui datasets stats packets:match.pcap,port=27960 --json`,
		Args: exactlyOneSpec,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.encodersGiven = cmd.Flags().Changed("encoder")
			return a.datasetsStats(cmd, append([]string{args[0]}, f.against...), f)
		},
		ValidArgsFunction: completeArg(dataSpecs, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().StringArrayVar(&f.against, "against", nil, "compare with this `SPEC`; may be repeated")
	cmd.Flags().IntVar(&f.data.cubes, "cubes", 0, "number of cubes in each frame of a recording (default 901)")
	cmd.Flags().Uint64Var(&f.data.seed, "seed", 0, "seed of generated data; ignored for recordings")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "measure only the first `N` frames (default: all; 2837 of the endless world)")
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", []string{"relative-orientation", "adaptive"},
		"measure the size with this `encoder`; may be repeated (default for messages: all)")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	complete(cmd, "against", dataSpecs)
	return cmd
}

// exactlyOneSpec is an argument check for exactly one SPEC.
func exactlyOneSpec(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s expects SPEC: %s", cmd.CommandPath(), specList("demo", "world", "rpc", "table"))
	}
	return noArgs(cmd, args[1:])
}

// snapshotStats are the properties of one source of cubes, in the JSON output of tui datasets
// stats.
type snapshotStats struct {
	Spec string `json:"spec"`
	stats.Summary
	Encoders []encoderCost `json:"encoders"`
}

// encoderCost is the size with one encoder, by the rules of the walk-off.
type encoderCost struct {
	Encoder            string  `json:"encoder"`
	BytesPerPacket     float64 `json:"bytes_per_packet"`
	BitsPerChangedCube float64 `json:"bits_per_changed_cube"`
}

// datasetsStats measures data and writes the result. Each element of specs names data as --data
// does; more than one are compared, which is possible for snapshots of cubes only.
func (a *app) datasetsStats(cmd *cobra.Command, specs []string, f statsFlags) error {
	if err := f.checkFrames(cmd); err != nil {
		return err
	}
	if len(specs) == 1 {
		if done, err := a.writeOtherStats(cmd.Context(), specs[0], f); done {
			return err
		}
	}
	list := make([]snapshotStats, len(specs))
	for i, spec := range specs {
		f.data.spec = spec
		result, err := a.measureSnapshots(cmd.Context(), f.walkoffFlags)
		if err != nil {
			return err
		}
		list[i] = result
	}
	return a.writeResult(map[string]any{"datasets": list}, func(w io.Writer) { writeSnapshotText(w, list) })
}

// writeOtherStats writes the statistics of data other than cubes: of messages or of the fields of
// a table. done is false if the data contains cubes, which the caller then measures; it is true
// after an error.
func (a *app) writeOtherStats(ctx context.Context, spec string, f statsFlags) (done bool, err error) {
	f.data.spec = spec
	src, err := f.data.open(ctx)
	if err != nil {
		return true, err
	}
	defer closeSource(src)
	switch s := src.Schema(); {
	case frame.IsCubes(s):
		return false, nil
	case s.Rows == 0 && s.Delivery == frame.Unreliable: // messages: bytes, which are delivered also if they are late
		return true, a.writeMessageStats(ctx, src, f)
	}
	a.printRemarks(src)
	return true, a.writeFieldStats(ctx, spec, src, f.frames)
}

// measureSnapshots measures the cubes of f.data, and their size with the encoders that f chooses.
func (a *app) measureSnapshots(ctx context.Context, f walkoffFlags) (snapshotStats, error) {
	result := snapshotStats{Spec: f.data.spec}
	if err := f.data.checkRereadable(); err != nil {
		return result, err
	}
	src, err := f.data.open(ctx)
	if err != nil {
		return result, err
	}
	defer closeSource(src)
	if !frame.IsCubes(src.Schema()) {
		return result, usagef("%s contains %s; expected snapshots of cubes", result.Spec, src.Schema().Name)
	}
	if _, ends := src.(dataset.Sized); !ends && f.frames == 0 {
		f.frames = endlessFrames
	}
	codecs, err := f.findCodecs(src.Schema())
	if err != nil {
		return result, err
	}
	// By the rules of the walk-off the first frames, of which there are Delay, are the initial state. A
	// limit of 0 means all frames.
	if result.Summary, err = summarise(ctx, src, max(f.frames-walkoff.Delay, 0)); err != nil {
		return result, err
	}
	result.Encoders, err = a.measureCosts(ctx, f, codecs)
	return result, err
}

// summarise returns statistics of up to limit frames; 0 means no limit.
func summarise(ctx context.Context, src dataset.Source, limit int) (stats.Summary, error) {
	f := src.Schema().NewFrame()
	src.Initial(f)
	c := stats.New(src.Schema(), f)
	_, err := dataset.Read(ctx, src, f, limit, func(int) error {
		c.Add(f)
		return nil
	})
	if err != nil {
		return stats.Summary{}, asUsageError(withoutSyscall(err))
	}
	return c.Summary(), nil
}

// measureCosts scores the encoders by the rules of the walk-off. An encoder that is not lossless is
// a failure. Other errors come from the data and are usage errors, except for an interruption.
func (a *app) measureCosts(ctx context.Context, f walkoffFlags, codecs []*encoders.Codec) ([]encoderCost, error) {
	line := a.progress("stats")
	defer line.done()
	opt := walkoff.Options{Frames: f.frames, Params: f.params, Clock: a.clock, Progress: line.report}
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
	var list []encoderCost
	for _, r := range board.Results {
		list = append(list, encoderCost{r.Label(), r.BytesPerPacket, r.BitsPerChangedItem})
	}
	return list, nil
}

// writeSnapshotText writes a table with a row per statistic and a column per source. All sources have
// the same fields and encoders.
func writeSnapshotText(w io.Writer, list []snapshotStats) {
	titles := []string{""}
	for _, l := range list {
		titles = append(titles, ">"+strings.TrimSuffix(filepath.Base(l.Spec), ".bin.zst"))
	}
	g := texttable.New(titles...)
	row := func(name, format string, values func(l *snapshotStats) []any) { // adds a row with one cell per source
		var cells []string
		for i := range list {
			cells = append(cells, fmt.Sprintf(format, values(&list[i])...))
		}
		g.Add(name, cells)
	}
	row("frames compared", "%d", func(l *snapshotStats) []any { return []any{l.Frames} })
	row("cubes changed per frame", "%.1f", func(l *snapshotStats) []any { return []any{l.Changed.Mean} })
	row("  p5 p50 p95", "%d %d %d", func(l *snapshotStats) []any { return []any{l.Changed.P5, l.Changed.P50, l.Changed.P95} })
	row("  per active frame", "%.1f", func(l *snapshotStats) []any { return []any{l.Changed.ActiveMean} })
	share := func(name string, value func(l *snapshotStats) float64) {
		row(name, "%.2f %%", func(l *snapshotStats) []any { return []any{100 * value(l)} })
	}
	share("active frames", func(l *snapshotStats) float64 { return l.Changed.ActiveShare })
	share("unchanged cubes", func(l *snapshotStats) float64 { return l.Unchanged.Cube })
	share("unchanged positions", func(l *snapshotStats) float64 { return l.Unchanged.Position })
	share("unchanged orientations", func(l *snapshotStats) float64 { return l.Unchanged.Orientation })
	share("unchanged interacting", func(l *snapshotStats) float64 { return l.Unchanged.Interacting })
	share("interacting cubes", func(l *snapshotStats) float64 { return l.Interacting })
	share("of changed cubes: orientation only", func(l *snapshotStats) float64 { return l.OnlyTurned })
	share("of changed cubes: position only", func(l *snapshotStats) float64 { return l.OnlyMoved })
	share("of changed cubes: flag only", func(l *snapshotStats) float64 { return l.OnlyFlagged })
	share("of turned cubes: same largest component", func(l *snapshotStats) float64 { return l.SameLargest })
	for i, d := range list[0].Deltas {
		row(fmt.Sprintf("difference in %s: p50 p90 p99", d.Field), "%d %d %d", func(l *snapshotStats) []any {
			return []any{l.Deltas[i].P50, l.Deltas[i].P90, l.Deltas[i].P99}
		})
	}
	row("consecutive frames of change: mean p50 p90", "%.1f %d %d", func(l *snapshotStats) []any {
		return []any{l.RunFrames.Mean, l.RunFrames.P50, l.RunFrames.P90}
	})
	row("consecutive changed cubes: mean p50 p90", "%.1f %d %d", func(l *snapshotStats) []any {
		return []any{l.RunCubes.Mean, l.RunCubes.P50, l.RunCubes.P90}
	})
	for i, e := range list[0].Encoders {
		row(fmt.Sprintf("bits per changed cube, %s", e.Encoder), "%.1f", func(l *snapshotStats) []any { return []any{l.Encoders[i].BitsPerChangedCube} })
		row(fmt.Sprintf("bytes per packet, %s", e.Encoder), "%.1f", func(l *snapshotStats) []any { return []any{l.Encoders[i].BytesPerPacket} })
	}
	g.WriteText(w, anyWidth)
}

// Defaults for the statistics of fields.
const (
	statsFrames   = 3600 // number of frames that are read by default
	statsDistance = 6    // each frame is compared with the one 6 before it: 100 ms at 60 Hz, a usual round trip
)

// writeFieldStats measures and writes how each field of src changes. frames is the number of
// frames to read; 0 means statsFrames.
func (a *app) writeFieldStats(ctx context.Context, spec string, src dataset.Source, frames int) error {
	s := src.Schema()
	if s.Rows == 0 {
		return usagef("%s has no fields: its frames are bytes", spec)
	}
	f, count := s.NewFrame(), fields.New(s, statsDistance)
	_, err := dataset.Read(ctx, src, f, cmp.Or(frames, statsFrames), func(int) error {
		count.Add(f)
		return nil
	})
	if err != nil {
		return asUsageError(err)
	}
	doc := map[string]any{"spec": spec, "frames": count.Frames(), "age": statsDistance, "fields": count.Changes()}
	if remarked, ok := src.(dataset.Remarked); ok {
		doc["remarks"] = append([]string{}, remarked.Remarks()...)
	}
	precision := precisionOf(src)
	if precision != nil {
		doc["precision"] = precision
	}
	return a.writeResult(doc, func(w io.Writer) {
		printf(w, "%s: %d frames, each compared with the one %d frames earlier\n\n", s.Name, count.Frames(), statsDistance)
		g := texttable.New("field", "kind", ">changed %", ">mean change", ">max change", "unit", ">entropy bits")
		for _, c := range count.Changes() {
			g.Add(c.Field, c.Kind, 100*c.Changed, formatNumber(c.Mean), formatNumber(c.Max), c.Unit, c.Entropy)
		}
		g.WriteText(w, a.columns)
		writePrecision(w, precision)
	})
}

// precisionOf returns the rounding errors of the values that src has read; nil if src does not round.
func precisionOf(src dataset.Source) []dataset.Precision {
	if rounded, ok := src.(dataset.Rounded); ok {
		return rounded.Precision()
	}
	return nil
}

// writePrecision writes a table of the rounding errors, with an empty line before it, or nothing if no field rounds.
func writePrecision(w io.Writer, list []dataset.Precision) {
	g, n := texttable.New(dataset.PrecisionTitles()...), 0
	for i := range list {
		if list[i].Rounds() {
			g.Add(list[i].Cells())
			n++
		}
	}
	if n > 0 {
		fmt.Fprint(w, "\nLost by rounding to steps:\n")
		g.WriteText(w, anyWidth)
	}
}
