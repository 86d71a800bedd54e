package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/tune"
	"wirelab/experiment/config"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
	"wirelab/internal/words"
)

// tuneFlags are the flags of tui tune.
type tuneFlags struct {
	data      dataFlags
	field     string // of cubes "position" or "orientation"; of a table the names of fields, separated by commas
	tolerance string // of a table: the largest rounding error; "" means half of a step
}

// tuneCommand returns tui tune.
func (a *app) tuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:     "tune",
		GroupID: groupMeasure,
		Short:   "Find the bit widths, or the scales of a table, with the smallest size",
		Long: `Find the bit widths of small and large differences that encode all changed values of a
recording in the fewest bits. A value is encoded as its difference from the value six frames
before. The whole grid is evaluated exactly: positions with 2..8 bits for small and 8..12
bits for large differences, separately for xy and z; orientations with 2..7 and 6..10 bits.

Settings are written as in Fiedler's article: 5-9-5-9 is 5 and 9 bits for xy, 5 and 9 bits
for z. Use a setting under [encoder.params], with gear_bits = 0 for fixed widths.

For a table, find the scale of each quantity and angle with the smallest size whose rounding
error is at most --tolerance, by default that of the schema's scale. Fields with the same
kind, unit and range share a scale. The error of a position is the distance over all of its
axes: fields with the role place, or two or three quantities of --field. Every scale is measured: the table is rounded again and
encoded by the rules of walkoff. The result is the curve of error against kbps for each
group of fields.`,
		Example: `  tui tune --data demo --field position
  tui tune --data walk.bin.zst --field orientation --json
  tui tune --data table:game.toml,game.csv --field x,y --tolerance "1 cm"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tune(cmd.Context(), f) },
	}
	f.data.add(cmd, "demo", "demo", "world", "table") // the default of --data, then the accepted kinds of data
	cmd.Flags().StringVar(&f.field, "field", "", "field to tune: `position|orientation` of cubes; of a table names of fields, separated by commas (default: all)")
	cmd.Flags().StringVar(&f.tolerance, "tolerance", "", "largest rounding error of a table's fields, such as `\"1 cm\"`")
	a.addOutputFlags(cmd)
	complete(cmd, "field", fieldNames)
	return cmd
}

// fieldNames completes --field.
func fieldNames() []cobra.Completion {
	return []cobra.Completion{tune.Position.String(), tune.Orientation.String()}
}

// tuneResult is the JSON output of tui tune.
type tuneResult struct {
	Data     string        `json:"data"`
	Frames   int           `json:"frames"` // number of frames, including frames 0..5, the initial state
	Field    string        `json:"field"`
	Samples  int64         `json:"samples"`  // number of changed values
	Settings int           `json:"settings"` // number of settings in the grid
	SearchMS float64       `json:"search_ms"`
	Results  []tuneSetting `json:"results"`   // the ten best settings
	Article  tuneSetting   `json:"published"` // result for the setting of Fiedler's article
}

// tuneSetting is one point of the grid.
type tuneSetting struct {
	Rank    int     `json:"rank"` // 1 for the best setting
	Setting string  `json:"setting"`
	Bits    float64 `json:"bits_per_value"`
	Share   float64 `json:"share"` // size relative to sending every value absolutely
	tune.Result
}

// maxShownSettings is the number of settings in the output.
const maxShownSettings = 10

// tune evaluates all settings of the field, a grid of bit widths, on the data and writes the best.
func (a *app) tune(ctx context.Context, f tuneFlags) error {
	if dataset.KindName(f.data.spec) == "table" {
		return a.tuneTable(ctx, f)
	}
	if f.tolerance != "" {
		return usagef("--tolerance is for tables: --data table:SCHEMA.toml,PATH")
	}
	if f.field == "" {
		return usagef("tui tune expects --field position or --field orientation")
	}
	field, err := tune.ParseField(f.field)
	if err != nil {
		return asUsageError(config.Unknown("--field", "field", f.field, fieldNames()))
	}
	search := tune.New(field)
	frames, searchTime, err := a.searchData(ctx, f.data, search)
	if err != nil {
		return err
	}
	start := a.clock()
	results := search.Results()
	searchTime += a.clock() - start
	out := tuneResult{
		Data: f.data.spec, Frames: frames, Field: f.field, Samples: search.Samples(), Settings: len(results),
		SearchMS: float64(searchTime.Microseconds()) / 1000,
	}
	// The settings of the article, "Snapshot Compression" (Fiedler, 2015).
	article := map[tune.Field]string{tune.Position: "5-9-5-9", tune.Orientation: "5-8"}[field]
	for i, r := range results {
		s := tuneSetting{Rank: i + 1, Setting: r.String(), Bits: r.Mean(), Share: r.Share(), Result: r}
		if i < maxShownSettings {
			out.Results = append(out.Results, s)
		}
		if s.Setting == article {
			out.Article = s
		}
	}
	return a.writeResult(out, func(w io.Writer) { writeTuneResult(w, out) })
}

// searchData adds each frame of the data, paired with the frame six before it, to the search. It
// returns the number of frames, including the initial ones, and the time spent in the search
// without reading the data.
func (a *app) searchData(ctx context.Context, data dataFlags, search *tune.Search) (frames int, searchTime time.Duration, err error) {
	src, err := data.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer closeSource(src)
	if !frame.IsCubes(src.Schema()) {
		return 0, 0, usagef("tui tune expects snapshots of cubes, but %s contains %s", data.spec, src.Schema().Name)
	}
	limit := endlessFrames - walkoff.Delay
	total := limit
	if sized, ends := src.(dataset.Sized); ends {
		limit, total = 0, sized.Frames()
	}
	line := a.progress("tune")
	defer line.done()
	var ring [walkoff.Delay]frame.Frame // the last six frames; frame n is ring[n%6]
	for n := range ring {
		src.Initial(&ring[n])
	}
	f := src.Schema().NewFrame()
	frames, err = dataset.Read(ctx, src, f, limit, func(n int) error {
		base := &ring[n%walkoff.Delay] // the frame six before f; f replaces it below
		start := a.clock()
		search.Add(f, base)
		searchTime += a.clock() - start
		base.CopyFrom(f)
		line.report(float64(n), float64(total))
		return nil
	})
	return frames + walkoff.Delay, searchTime, markDataError(err)
}

// writeTuneResult writes the best settings and that of the article as a table.
func writeTuneResult(w io.Writer, t tuneResult) {
	printf(w, "%s: %d changed %s, %d settings in %.0f ms\n\n", t.Data, t.Samples, words.Plural(t.Field), t.Settings, t.SearchMS)
	g := texttable.New(">rank", "setting", ">bits", ">of absolute")
	for _, s := range append(t.Results, t.Article) {
		g.Add(s.Rank, s.Setting, fmt.Sprintf("%.2f", s.Bits), fmt.Sprintf("%.1f %%", 100*s.Share))
	}
	g.WriteText(w, anyWidth)
	fmt.Fprint(w, "\nThe last row is the setting of the article, \"Snapshot Compression\" (Fiedler, 2015).\n")
}
