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

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
	"wirelab/internal/words"
)

// endlessFrames is how much of a source that never ends is scored, unless told
// otherwise: as long as the recordings of the walk-off.
const endlessFrames = 2837

type walkoffFlags struct {
	data     dataFlags
	encoders []string
	all      bool
	frames   int
	back     string
	audit    bool
}

func (a *app) walkoffCommand() *cobra.Command {
	var f walkoffFlags
	cmd := &cobra.Command{
		Use:     "walkoff",
		GroupID: groupMeasure,
		Short:   "Score encoders by the rules of Fiedler's delta compression walk-off",
		Long: `Score encoders by the rules of Glenn Fiedler's delta compression walk-off (2015):
frames 0..5 are the initial state, frame n is encoded relative to frame n-6, the
payload counts in whole bytes, and every frame must come back bit for bit. Tables of
your own are scored as well, and demos of matches: their initial state stands for
frames 0..5. Of a match the game's own bytes are told, too; they are relative to the
snapshots that its client had acknowledged, and --back game takes the same ones.

--audit proves that an encoder is legal. Each residue class n mod 6 is decoded by
a process of its own that sees the packets of its class and nothing else, and one
more process encodes everything again and must arrive at the same bytes. What
borrows from frame n-1 fails.

Exits with 1 if an encoder is not lossless or not legal.`,
		Example: `  tui walkoff --data demo
  tui walkoff --data walk.bin.zst --encoder rotor --encoder zstd-baseline --audit
  tui walkoff --data quake3:match.dm_71 --all --back game
  tui walkoff --data demo --all --json | jq '.results[] | {encoder, kbps}'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.walkoff(cmd, f) },
	}
	f.data.add(cmd, "demo", "demo", "world", "quake3", "teeworlds", "table")
	cmd.Flags().StringArrayVar(&f.encoders, "encoder", nil, "score this `encoder`; may be repeated (default relative-orientation)")
	cmd.Flags().BoolVar(&f.all, "all", false, "score every encoder there is")
	cmd.Flags().IntVar(&f.frames, "frames", 0, "score the first `N` frames only (default all; of the endless world 2837)")
	cmd.Flags().StringVar(&f.back, "back", "6", "baselines lie `N` frames back, or where those of the \"game\" did; only 6 is by the rules")
	cmd.Flags().BoolVar(&f.audit, "audit", false, "prove that each encoder is legal, in processes of its own")
	a.addOutputFlags(cmd)
	complete(cmd, "encoder", encoderNames)
	return cmd
}

func (a *app) walkoff(cmd *cobra.Command, f walkoffFlags) error {
	back, err := f.backs()
	if err != nil {
		return err
	}
	codecs, err := f.choose(a, cmd)
	if err != nil {
		return err
	}
	line := a.progress("walkoff")
	opt := walkoff.Options{Frames: f.frames, Back: back, Clock: a.clock, Progress: line.report}
	if f.audit {
		opt.Audit = func(ctx context.Context) *exec.Cmd { return a.auditProcess(ctx, a.pluginArgs()...) }
	}
	board, err := walkoff.Run(cmd.Context(), f.data.spec, f.data.opener(cmd.Context()), codecs, opt)
	line.done()
	if err != nil && !board.Interrupted {
		return asUsageError(err)
	}
	written := a.writeResult(board, func(w io.Writer) {
		if len(board.Results) > 0 {
			writeBoard(w, board)
		}
	})
	return cmp.Or(written, err, newFailure(board.Failed()))
}

// backs returns where baselines lie.
func (f *walkoffFlags) backs() (walkoff.Back, error) {
	if f.back == "game" {
		return walkoff.Own, nil
	}
	n, err := strconv.Atoi(f.back)
	if err != nil || n < 1 || n > walkoff.MaxBack {
		return 0, usagef("--back %s makes no sense; expected a number of frames, 1 to %d, or \"game\"", f.back, walkoff.MaxBack)
	}
	return walkoff.Back(n), nil
}

func (f *walkoffFlags) checkFrames(cmd *cobra.Command) error {
	if f.frames < 0 || cmd.Flags().Changed("frames") && f.frames <= walkoff.Delay {
		return usagef("--frames %d makes no sense; expected more than %d, of which frames 0..5 are the initial state", f.frames, walkoff.Delay)
	}
	return nil
}

// choose checks the flags, settles how many frames are scored and finds the encoders.
func (f *walkoffFlags) choose(a *app, cmd *cobra.Command) ([]*encoders.Codec, error) {
	if err := f.checkFrames(cmd); err != nil {
		return nil, err
	}
	if f.all && len(f.encoders) > 0 {
		return nil, usagef("--all and --encoder %s contradict each other; expected one of them", f.encoders[0])
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
	return f.codecs(schema)
}

// codecs resolves what was asked for.
func (f walkoffFlags) codecs(s *frame.Schema) ([]*encoders.Codec, error) {
	var list []*encoders.Codec
	if f.all {
		all := table.All()
		for i := range all {
			if all[i].Suits(s) {
				list = append(list, &all[i])
			}
		}
		return list, nil
	}
	names := f.encoders
	if len(names) == 0 {
		names = []string{table.Default(s)}
	}
	for _, name := range names {
		codec, err := table.ByName(name)
		if err != nil {
			return nil, asUsageError(withSuggestion(err))
		}
		if err := checkSuits(codec, s); err != nil {
			return nil, err
		}
		list = append(list, codec)
	}
	return list, nil
}

// checkSuits returns an error if a codec does not take frames of a schema.
func checkSuits(c *encoders.Codec, s *frame.Schema) error {
	if c.Suits(s) {
		return nil
	}
	return usagef("encoder %s does not take %s; expected one that does: %s", c.Name, words.Plural(s.Item),
		strings.Join(table.Suiting(table.All(), s), ", "))
}

// auditCommand is what `walkoff --audit` starts; people never type it.
const auditCommand = "audit-process"

func (a *app) auditCommand() *cobra.Command {
	return &cobra.Command{
		Use: auditCommand, Hidden: true, Args: noArgs,
		Short: "One process of the walk-off's audit; talks to its parent only",
		RunE: func(*cobra.Command, []string) error {
			return walkoff.Serve(a.stdin, a.stdout, table.ByName)
		},
	}
}

// writeBoard prints the table for people, the smallest first.
func writeBoard(w io.Writer, b *walkoff.Board) {
	d := b.Dataset
	fmt.Fprintf(w, "%s: %d frames of %d %s, sha256 %.12s\n\n", d.Spec, d.Frames, d.Items, words.Plural(d.Item), d.SHA256)
	heads := []string{"encoder", ">bytes/packet", ">kbps", ">bits/" + d.Item, ">bits/changed", ">encode µs", ">decode µs", "lossless", "audit"}
	if d.Game != nil {
		heads = append(heads, ">of the game's")
	}
	g := texttable.New(heads...)
	results := slices.Clone(b.Results)
	slices.SortStableFunc(results, func(a, b walkoff.Result) int { return cmp.Compare(a.Kbps, b.Kbps) })
	note := ""
	for _, r := range results {
		encode, decode := fmt.Sprintf("%.1f", r.EncodeUS.P50), fmt.Sprintf("%.1f", r.DecodeUS.P50)
		if r.RunsAs != "" {
			mark := encoders.TimeMark(r.RunsAs)
			encode, decode, note = encode+mark, decode+mark, encoders.TimeNote(r.RunsAs)+".\n"
		}
		var ofGame []string
		if r.OfGame != nil {
			ofGame = []string{fmt.Sprintf("%.3f", *r.OfGame)}
		}
		g.Add(r.Encoder, r.BytesPerPacket, r.Kbps, fmt.Sprintf("%.3f", r.BitsPerItem), r.BitsPerChangedItem, encode, decode, r.Lossless,
			r.Audit, ofGame)
	}
	g.WriteText(w, 0)
	if d.Game != nil {
		fmt.Fprintf(w, "\nThe game itself: %.1f bytes a packet, %.1f kbps, against the snapshots that it referred to.\n", d.Game.BytesPerPacket, d.Game.Kbps)
		if n := d.Game.Keyframes; n == 1 {
			fmt.Fprintf(w, "A keyframe of its recorder, %.0f bytes, is left out of that and of shares of it.\n", d.Game.KeyframeBytes)
		} else if n > 1 {
			fmt.Fprintf(w, "%d keyframes of its recorder, %.0f bytes each, are left out of that and of shares of it.\n", n, d.Game.KeyframeBytes/float64(n))
		}
	}
	switch d.Baselines {
	case walkoff.GameRule:
		fmt.Fprint(w, "Baselines are those of the game.\n")
	case walkoff.BackRule:
		fmt.Fprintf(w, "Baselines lie %d back.\n", d.Back)
	}
	fmt.Fprintf(w, "%s\nMedians of this process; sizes are exact.", note)
	if d.Cubes == 0 {
		fmt.Fprintln(w)
		return
	}
	fmt.Fprint(w, ` Published in 2015, on a recording that
is not available, and so to be compared with care: 213.6 kbps by Giesen, the record
by the rules; 255.4 by Fiedler; 135.07 by Maxwell, with a shortcut that the rules
forbid: it leans on frame n-1, which the receiver may have lost.
`)
}

// closeSource closes what holds a file.
func closeSource(src dataset.Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close() // it was only read
	}
}
