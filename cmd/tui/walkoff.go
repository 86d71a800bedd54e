package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// endlessFrames is the number of frames that are read by default of a source without an end: as
// many as the recordings of the walk-off have.
const endlessFrames = 2837

// walkoffFlags are the flags of tui walkoff.
type walkoffFlags struct {
	data        dataFlags
	encoders    []string         // names, each with parameters as in "rotor bits=8"; empty means the default encoder, unless all is set
	chosen      []config.Encoder // set by findCodecs, as are params
	params      []any            // parameters of the encoders; nil if all have their defaults
	all         bool             // score all encoders that support the data
	frames      int              // score only the first frames; 0 means all
	baselineAge string           // age of the baselines: a number of frames, or "game"
	audit       bool             // prove that each encoder obeys the rules
	time        bool             // also measure times relative to a reference loop, and the speed of the engine
}

// walkoffCommand returns tui walkoff.
func (a *app) walkoffCommand() *cobra.Command {
	var f walkoffFlags
	cmd := &cobra.Command{
		Use:     "walkoff",
		GroupID: groupMeasure,
		Short:   "Score encoders by the rules of Fiedler's delta compression walk-off",
		Long: `Score encoders by the rules of Glenn Fiedler's delta compression walk-off (2015): frames
0..5 are the initial state, frame n is encoded relative to frame n-6, payloads are rounded
up to whole bytes, and every frame must be decoded exactly. Your own tables and demos of
matches can be scored too; their initial state then stands for frames 0..5. For demos the
size of the game's own packets is shown as well. Those are encoded relative to the snapshots
that the game's client had acknowledged; --back game uses the same baselines.

--encoder "NAME PARAM=VALUE" sets parameters of an encoder; tui encoders NAME lists them. If
an encoder fails at a frame, the table has no figures for it.

--audit proves that an encoder obeys the rules. For each residue class n mod 6 a separate
process decodes with only the packets of its class. One more process encodes everything
again and must produce the same bytes. An encoder that uses frame n-1 fails.

--time adds two columns. A fixed reference loop is timed before and after each encoder; the
time to encode and decode a packet is given in passes of that loop, which are nearly the same
on all machines. The last column is the speed of the whole engine, relative to real time, over
a link with 5 % loss and a delay of 50 +- 16 ms in both directions.

The exit code is 1 if an encoder is not lossless or does not obey the rules.`,
		Example: `  tui walkoff --data demo
  tui walkoff --data walk.bin.zst --encoder rotor --encoder zstd-baseline --audit
  tui walkoff --data quake3:match.dm_71 --all --back game
  tui walkoff --data walk.bin.zst --all --time
  tui walkoff --data demo --all --json | jq '.results[] | {encoder, kbps}'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.walkoff(cmd, f) },
	}
	f.data.add(cmd, "demo", "demo", "world", "quake3", "table") // the default of --data, then the accepted kinds of data
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", nil, "score this `encoder`; may be repeated (default: relative-orientation)")
	cmd.Flags().BoolVar(&f.all, "all", false, "score all encoders")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "score only the first `N` frames (default: all; 2837 of the endless world)")
	cmd.Flags().StringVar(&f.baselineAge, "back", "6", "encode relative to `N` frames before, or \"game\" for the baselines of the game; the rules require 6")
	cmd.Flags().BoolVar(&f.audit, "audit", false, "prove with separate processes that each encoder obeys the rules")
	cmd.Flags().BoolVar(&f.time, "time", false, "also measure times in passes of a reference loop, and the speed of the engine")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	return cmd
}

// walkoff scores the encoders and writes the results. If it is interrupted, it still writes those
// of the encoders that are complete.
func (a *app) walkoff(cmd *cobra.Command, f walkoffFlags) error {
	back, err := f.parseBack()
	if err != nil {
		return err
	}
	codecs, err := f.prepare(a, cmd)
	if err != nil {
		return err
	}
	line := a.progress("walkoff")
	opt := walkoff.Options{Frames: f.frames, Back: back, Params: f.params, Clock: a.clock, Progress: line.report}
	if f.audit { // the processes of the audit need the same plugins
		opt.Audit = func(ctx context.Context) *exec.Cmd { return a.auditProcess(ctx, a.pluginArgs()...) }
	}
	if f.time {
		opt.Session = func(ctx context.Context, i int, length time.Duration, progress func(float64)) (float64, error) {
			return a.runSession(ctx, f.data, f.chosen[i], length, progress)
		}
	}
	board, err := walkoff.Run(cmd.Context(), f.data.spec, f.data.opener(cmd.Context()), codecs, opt)
	line.done()
	if err != nil && !board.Interrupted {
		return asUsageError(err)
	}
	writeErr := a.writeResult(board, func(w io.Writer) {
		if len(board.Results) > 0 {
			writeBoard(w, board)
		}
	})
	return cmp.Or(writeErr, err, newFailure(board.Failed()))
}

// runSession sends the given time of data with encoder e over a link with 5 % loss, 50 ms latency and 16 ms
// jitter in both directions. It returns how much faster than real time the session was.
func (a *app) runSession(ctx context.Context, data dataFlags, e config.Encoder, length time.Duration, progress func(float64)) (float64, error) {
	c := config.Default()
	settings := []struct {
		key   string
		value any
	}{{"data.source", data.spec}, {"seed", int64(max(data.seed, 1))}, {"encoder.name", e.Name},
		{"link.loss", "5%"}, {"link.latency", "50ms"}, {"link.jitter", "16ms"}}
	for _, s := range settings {
		if err := c.Set(s.key, s.value); err != nil {
			return 0, err
		}
	}
	c.Duration = length
	c.Data.Cubes = cmp.Or(data.cubes, c.Data.Cubes)
	c.Encoder.Params = e.Params
	opt := experiment.RunOptions{Clock: a.clock, Progress: func(done, total float64) { progress(done / max(total, 1)) }}
	report, err := experiment.Run(ctx, c, opt)
	if err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil { // an interrupted run returns no error
		return 0, err
	}
	run := report.Runs[0]
	if run.Totals.Wrong > 0 {
		return 0, failure{fmt.Sprintf("%s decoded %d packets of the timed session incorrectly", e.Name, run.Totals.Wrong)}
	}
	return run.Timing.RealTimeFactor, nil
}

// parseBack parses --back, the age of the baselines: a number of frames, or "game" for the
// baselines that the game used, which a demo contains.
func (f *walkoffFlags) parseBack() (walkoff.BaselineAge, error) {
	if f.baselineAge == "game" {
		return walkoff.GameBaseline, nil
	}
	n, err := strconv.Atoi(f.baselineAge)
	if err != nil || n < 1 || n > walkoff.MaxBaselineAge {
		return 0, usagef("--back %s makes no sense; expected a number of frames, 1 to %d, or \"game\"", f.baselineAge, walkoff.MaxBaselineAge)
	}
	return walkoff.BaselineAge(n), nil
}

// checkFrames returns a usage error if --frames leaves no frame to score after the initial state.
func (f *walkoffFlags) checkFrames(cmd *cobra.Command) error {
	if f.frames < 0 || cmd.Flags().Changed("frames") && f.frames <= walkoff.Delay {
		return usagef("--frames %d makes no sense; expected more than %d, because frames 0..5 are the initial state", f.frames, walkoff.Delay)
	}
	return nil
}

// prepare checks the flags and opens the data once, to print remarks on it, to set the default of
// f.frames for data without an end, and to find the encoders that the flags choose, which it
// returns.
func (f *walkoffFlags) prepare(a *app, cmd *cobra.Command) ([]*encoders.Codec, error) {
	if err := f.checkFrames(cmd); err != nil {
		return nil, err
	}
	if f.all && len(f.encoders) > 0 {
		return nil, usagef("--all and --encoder %s both choose encoders; expected one of them", f.encoders[0])
	}
	if err := f.data.checkRereadable(); err != nil {
		return nil, err
	}
	src, err := f.data.open(cmd.Context())
	if err != nil {
		return nil, err
	}
	schema := src.Schema()
	a.printRemarks(src)
	_, ends := src.(dataset.Sized)
	closeSource(src)
	if !ends && f.frames == 0 {
		f.frames = endlessFrames
	}
	return f.findCodecs(schema)
}

// findCodecs returns the encoders that the flags choose for frames of schema s: with --all every
// encoder that supports s, without flags the default encoder. It sets f.chosen and f.params.
func (f *walkoffFlags) findCodecs(s *frame.Schema) ([]*encoders.Codec, error) {
	var list []*encoders.Codec
	if f.all {
		all := table.All()
		for i := range all {
			if all[i].Suits(s) {
				list = append(list, &all[i])
				f.chosen = append(f.chosen, config.Encoder{Name: all[i].Name})
			}
		}
		return list, nil
	}
	texts := f.encoders
	if len(texts) == 0 {
		texts = []string{table.Default(s)}
	}
	for _, text := range texts {
		e, err := config.ParseEncoder(strings.Fields(text))
		if err != nil {
			return nil, usagef("--encoder %q: %w", text, err)
		}
		if len(e.Own) > 0 {
			return nil, usagef("--encoder %q: a walk-off has no budget, control or priority; expected parameters of %s", text, e.Name)
		}
		codec, err := table.ByName(e.Name)
		if err != nil {
			return nil, asUsageError(withSuggestion(err))
		}
		if err := checkSuits(codec, s); err != nil {
			return nil, err
		}
		_, params, err := e.Resolve("encoder", nil)
		if err != nil {
			return nil, asUsageError(withSuggestion(err))
		}
		list = append(list, codec)
		f.chosen = append(f.chosen, e)
		f.params = append(f.params, params)
	}
	return list, nil
}

// checkSuits returns a usage error if a codec does not support frames of a schema.
func checkSuits(c *encoders.Codec, s *frame.Schema) error {
	if c.Suits(s) {
		return nil
	}
	return usagef("encoder %s does not support %s; expected one of %s", c.Name, words.Plural(s.Item),
		strings.Join(table.SuitableNames(table.All(), s), ", "))
}

// auditCommandName is the name of the hidden command that tui walkoff --audit starts.
const auditCommandName = "audit-process"

// auditCommand returns the hidden command that runs one process of an audit: it encodes or decodes
// packets with the encoder that is audited. It exchanges messages with tui walkoff through standard
// input and output.
func (a *app) auditCommand() *cobra.Command {
	return &cobra.Command{
		Use: auditCommandName, Hidden: true, Args: noArgs,
		Short: "Run one process of the walk-off's audit (internal)",
		RunE: func(*cobra.Command, []string) error {
			return walkoff.Serve(a.stdin, a.stdout.raw(), table.ByName)
		},
	}
}

// writeBoard writes the results as a table, then the rules that applied. b.Dataset.Game describes the
// packets of the game itself; it is nil unless the data is a demo, a match that the game recorded.
func writeBoard(w io.Writer, b *walkoff.Scoreboard) {
	d := b.Dataset
	printf(w, "%s: %d frames of %d %s, sha256 %.12s\n\n", d.Spec, d.Frames, d.Items, words.Plural(d.Item), d.SHA256)
	note := writeResults(w, b)
	if d.Game != nil {
		fmt.Fprintf(w, "\nThe game's own packets: %.1f bytes per packet, %.1f kbps, relative to the baselines of the game.\n", d.Game.BytesPerPacket, d.Game.Kbps)
	}
	switch d.Baselines {
	case walkoff.GameRule:
		fmt.Fprint(w, "The encoders used the baselines of the game.\n")
	case walkoff.BackRule:
		fmt.Fprintf(w, "The encoders used baselines %d frames back.\n", d.Back)
	}
	fmt.Fprintf(w, "%s\nTimes are medians on this machine; sizes are exact.", note)
	if d.Cubes == 0 { // the published results are for cubes
		fmt.Fprintln(w)
		writePrecision(w, d.Precision)
		return
	}
	fmt.Fprint(w, `
Published results of 2015, on another recording that is not available: Giesen 213.6 kbps,
the best by the rules; Fiedler 255.4; Maxwell 135.07, which uses frame n-1 against the
rules, although the receiver may have lost that frame.
`)
}

// writeResults writes a table with a row per encoder. The encoder with the fewest bytes is first. Encoders
// that failed at a frame are last and have no figures, because those would be of fewer frames. note explains
// the mark on times of plugins; it is empty if there are none.
func writeResults(w io.Writer, b *walkoff.Scoreboard) (note string) {
	titles := []string{"encoder", ">bytes/packet", ">kbps", ">bits/" + b.Dataset.Item, ">bits/changed", ">encode µs", ">decode µs"}
	isTimed := slices.ContainsFunc(b.Results, func(r walkoff.Result) bool { return r.Timing != nil })
	if isTimed {
		titles = append(titles, ">both, in passes", ">times real time")
	}
	titles = append(titles, "lossless", "audit")
	if b.Dataset.Game != nil {
		titles = append(titles, ">vs game")
	}
	g := texttable.New(titles...)
	results := slices.Clone(b.Results)
	slices.SortStableFunc(results, func(a, b walkoff.Result) int {
		switch {
		case a.Lossless && !b.Lossless:
			return -1
		case b.Lossless && !a.Lossless:
			return 1
		}
		return cmp.Compare(a.Kbps, b.Kbps)
	})
	for _, r := range results {
		var timing []string // the cells of isTimed
		if isTimed {
			timing = []string{"-", "-"}
		}
		if !r.Lossless {
			g.Add(r.Label(), "-", "-", "-", "-", "-", "-", timing, r.Lossless, r.Audit)
			continue
		}
		if r.Timing != nil {
			timing = []string{threeDigits(r.Timing.Passes), threeDigits(r.Timing.RealTime)}
		}
		encode, decode := fmt.Sprintf("%.1f", r.EncodeUS.P50), fmt.Sprintf("%.1f", r.DecodeUS.P50)
		if r.RunsAs != "" { // the encoder is a plugin
			mark := encoders.TimeMarker(r.RunsAs)
			encode, decode, note = encode+mark, decode+mark, encoders.TimeFootnote(r.RunsAs)+".\n"
		}
		var ofGame []string // the size relative to the game's own packets: one cell, or none
		if r.OfGame != nil {
			ofGame = []string{fmt.Sprintf("%.3f", *r.OfGame)}
		}
		g.Add(r.Label(), r.BytesPerPacket, r.Kbps, fmt.Sprintf("%.3f", r.BitsPerItem), r.BitsPerChangedItem, encode, decode, timing,
			r.Lossless, r.Audit, ofGame)
	}
	g.WriteText(w, anyWidth)
	return note
}

// threeDigits formats x with three significant digits, or with all digits before the decimal point if these
// are more.
func threeDigits(x float64) string { return units.Stepped(x, 2, 1, 100) }

// closeSource closes sources that hold an open file.
func closeSource(src dataset.Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close() // the file was only read, so the error does not matter
	}
}
