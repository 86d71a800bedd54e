package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/world"
)

type recordFlags struct {
	out, script string
	seconds     float64
	seed        uint64
}

// maxSeconds keeps a slip of the finger from filling the disk: a day.
const maxSeconds = 24 * 60 * 60

func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:     "record --out FILE",
		GroupID: groupData,
		Short:   "Run the cube world and write a recording",
		Long: `Run the cube world as fast as it goes and write a recording in walk-off records:
901 cubes of eight 32-bit integers a frame, 60 frames a second, frames 0..5 the
initial state. A name that ends in .zst or .gz is compressed. The same seed and
script give the same bytes on every machine.

The file appears when it is complete; through a link, where that leads to. Interrupted, it holds the frames so far. A
player who has blown most cubes away begins anew, after a minute or two: there a
recording jumps, as it does where it ends and is played again.

Scripts:
` + scriptHelp(),
		Example: `  tui record --out walk.bin.zst
  tui record --out long.bin.zst --seconds 300 --seed 42 --script katamari
  tui walkoff --data walk.bin.zst --all`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.record(cmd.Context(), f) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`FILE` to write")
	cmd.Flags().Float64Var(&f.seconds, "seconds", 60, "`N` seconds of virtual time, at 60 frames each")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the player's script")
	cmd.Flags().StringVar(&f.script, "script", "", "`NAME` of the script that plays (default random)")
	a.addQuiet(cmd)
	complete(cmd, "script", scriptNames)
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
	src, err := dataset.Open("world", dataset.Options{Seed: f.seed, Script: f.script})
	if err != nil {
		return usage(named(err))
	}
	w, err := dataset.CreateOn(a.disk, f.out, src.Schema().Rows)
	if err != nil {
		return usage(unwritable(f.out, err))
	}
	defer w.Abort() // does nothing once it is closed
	done, err := a.film(ctx, src, w, frames)
	if err != nil {
		return err
	}
	if done == 0 {
		return ctx.Err()
	}
	if err := w.Close(); err != nil {
		return unwritable(f.out, err)
	}
	a.remark("wrote %s: %d frames (%.1f s) of %d cubes", f.out, done+6, float64(done)/60, src.Schema().Rows)
	return ctx.Err()
}

// film writes up to so many frames; it stops early, without an error, when ctx
// ends.
func (a *app) film(ctx context.Context, src dataset.Source, w *dataset.Writer, frames int) (done int, err error) {
	line := a.progress("record")
	defer line.done()
	f := src.Schema().NewFrame()
	src.Initial(f)
	if err := w.Initial(f); err != nil {
		return 0, readable(err)
	}
	for done < frames && ctx.Err() == nil {
		if err := step(src, w, f); err != nil {
			return done, err
		}
		done++
		line.report(float64(done), float64(frames))
	}
	return done, nil
}

func step(src dataset.Source, w *dataset.Writer, f *frame.Frame) error {
	if err := src.Next(f); err != nil {
		return fmt.Errorf("the world stopped: %w", err)
	}
	return readable(w.Write(f))
}
