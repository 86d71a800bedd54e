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
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
	"wirelab/internal/words"
)

type tuneFlags struct {
	data  dataFlags
	field string
}

func (a *app) tuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:     "tune --field position|orientation",
		GroupID: groupMeasure,
		Short:   "Find the bit widths that spend the least on a recording",
		Long: `Find the bit widths of small and large differences that spend the fewest bits on all
changed values of a recording, each against the frame six before it. The whole grid
is evaluated, exactly: positions with small 2..8 and large 8..12, xy and z apart;
orientations with small 2..7 and large 6..10.

A setting is written as Fiedler wrote it: 5-9-5-9 is 5 and 9 bits for xy, 5 and 9
for z. Set it under [encoder.params], with gear_bits = 0: the widths of the article.`,
		Example: `  tui tune --data demo --field position
  tui tune --data walk.bin.zst --field orientation --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tune(cmd.Context(), f) },
	}
	f.data.add(cmd, "demo", "demo", "world")
	cmd.Flags().StringVar(&f.field, "field", "", "what to tune: `position|orientation`")
	a.addOutputFlags(cmd)
	complete(cmd, "field", fieldNames)
	return cmd
}

func fieldNames() []cobra.Completion {
	return []cobra.Completion{tune.Position.String(), tune.Orientation.String()}
}

// tuned is the JSON of `tune`.
type tuned struct {
	Data     string    `json:"data"`
	Frames   int       `json:"frames"` // frames 0..5 included
	Field    string    `json:"field"`
	Samples  int64     `json:"samples"`  // changed values
	Settings int       `json:"settings"` // in the grid
	SearchMS float64   `json:"search_ms"`
	Results  []setting `json:"results"`   // the ten best
	Article  setting   `json:"published"` // the setting of the article
}

// setting is one point of the grid.
type setting struct {
	Rank    int     `json:"rank"` // from 1
	Setting string  `json:"setting"`
	Bits    float64 `json:"bits_per_value"`
	Share   float64 `json:"share"` // of sending every value as it is
	tune.Result
}

// topSettings is how many are shown.
const topSettings = 10

func (a *app) tune(ctx context.Context, f tuneFlags) error {
	if f.field == "" {
		return usagef("tui tune expects --field position or --field orientation")
	}
	field, err := tune.ParseField(f.field)
	if err != nil {
		return usagef("--field: %w%s", err, didYouMean(f.field, fieldNames()))
	}
	search := tune.New(field)
	frames, spent, err := a.count(ctx, f.data, search)
	if err != nil {
		return err
	}
	start := a.clock()
	results := search.Results()
	spent += a.clock() - start
	out := tuned{
		Data: f.data.spec, Frames: frames, Field: f.field, Samples: search.Samples(), Settings: len(results),
		SearchMS: float64(spent.Microseconds()) / 1000,
	}
	article := map[tune.Field]string{tune.Position: "5-9-5-9", tune.Orientation: "5-8"}[field]
	for i, r := range results {
		s := setting{Rank: i + 1, Setting: r.String(), Bits: r.Mean(), Share: r.Share(), Result: r}
		if i < topSettings {
			out.Results = append(out.Results, s)
		}
		if s.Setting == article {
			out.Article = s
		}
	}
	return a.writeResult(out, func(w io.Writer) { writeTuned(w, out) })
}

// count shows the search every pair of frames, and returns what of the time was
// the search's own.
func (a *app) count(ctx context.Context, data dataFlags, search *tune.Search) (frames int, spent time.Duration, err error) {
	src, err := data.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer closeSource(src)
	if !frame.IsCubes(src.Schema()) {
		return 0, 0, usagef("tui tune expects snapshots of cubes, and %s holds %s", data.spec, src.Schema().Name)
	}
	limit := endlessFrames - walkoff.Delay
	total := limit
	if sized, ends := src.(dataset.Sized); ends {
		limit, total = 0, sized.Frames()
	}
	line := a.progress("tune")
	defer line.done()
	var ring [walkoff.Delay]frame.Frame // the last six, by number
	for n := range ring {
		src.Initial(&ring[n])
	}
	f := src.Schema().NewFrame()
	frames, err = readFrames(ctx, src, f, limit, func(n int) {
		base := &ring[n%walkoff.Delay]
		start := a.clock()
		search.Add(f, base)
		spent += a.clock() - start
		base.CopyFrom(f)
		line.report(float64(n), float64(total))
	})
	return frames + walkoff.Delay, spent, markDataError(err)
}

// writeTuned prints the ten best, and where the article's setting stands.
func writeTuned(w io.Writer, t tuned) {
	fmt.Fprintf(w, "%s: %d changed %s, %d settings in %.0f ms\n\n", t.Data, t.Samples, words.Plural(t.Field), t.Settings, t.SearchMS)
	g := texttable.New(">rank", "setting", ">bits", ">of absolute")
	for _, s := range append(t.Results, t.Article) {
		g.Add(s.Rank, s.Setting, fmt.Sprintf("%.2f", s.Bits), fmt.Sprintf("%.1f %%", 100*s.Share))
	}
	g.WriteText(w, 0)
	fmt.Fprint(w, "\nThe last row is the setting of the article, \"Snapshot Compression\" (Fiedler, 2015).\n")
}
