package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"wirelab/dataset/fields"
	"wirelab/dataset/frame"
)

// Frames that `datasets stats` looks at, unless told otherwise, and how far apart those
// are that it compares: a round trip of 100 ms.
const (
	statsFrames = 3600
	statsAge    = 6
)

func (a *app) datasetsStatsCommand() *cobra.Command {
	var data dataFlags
	var json bool
	cmd := &cobra.Command{
		Use:   "stats SPEC",
		Short: "Say how each field of the data changes",
		Long: fmt.Sprintf(`Say how each field of the data changes over %d frames, which is what an encoder sees at
a round trip of 100 ms: how often, by how much, and how many low bits of it.`, statsAge),
		Example: "  tui datasets stats rpc\n  tui datasets stats rpc --seed 8 --json",
		Args:    oneArg("SPEC: demo, world, rpc, or the path of a recording"),
		RunE: func(_ *cobra.Command, args []string) error {
			data.spec = args[0]
			return a.fieldStats(&data, json)
		},
	}
	cmd.Flags().Uint64Var(&data.seed, "seed", 7, "seed of generated data; recordings ignore it")
	cmd.Flags().BoolVar(&json, "json", false, "write one JSON document to standard output")
	return cmd
}

// fieldStats counts and prints.
func (a *app) fieldStats(data *dataFlags, json bool) error {
	src, err := data.open()
	if err != nil {
		return err
	}
	defer closeSource(src)
	s := src.Schema()
	if s.Rows == 0 {
		return usagef("%s has no fields: its frames are bytes", data.spec)
	}
	f, count := s.NewFrame(), fields.New(s, statsAge)
	for range statsFrames {
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return usage(err)
		}
		count.Add(f)
	}
	if json {
		return a.stdout.json(map[string]any{"spec": data.spec, "frames": count.Frames(), "age": statsAge, "fields": count.Changes()})
	}
	a.printFields(s, count)
	return nil
}

func (a *app) printFields(s *frame.Schema, count *fields.Count) {
	fmt.Fprintf(a.stdout, "%s: %d frames, each compared with the one %d before\n\n", s.Name, count.Frames(), statsAge)
	g := newGrid("field", "kind", ">changed %", ">mean step", ">largest", "unit", ">low bits")
	for _, c := range count.Changes() {
		g.row(c.Field, c.Kind, fmt.Sprintf("%.1f", 100*c.Changed), figure(c.Mean), figure(c.Max), c.Unit, fmt.Sprintf("%.1f", c.Entropy))
	}
	g.write(a.stdout, a.columns)
}
