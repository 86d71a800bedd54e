package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/experiment"
)

// listCommand is what the commands that list things have in common.
func (a *app) listCommand(name, short, long, example string, list func(json bool) error) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use: name, GroupID: groupLists, Short: short, Long: long, Example: example,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return list(json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "write one JSON document to standard output")
	return cmd
}

func (a *app) datasetsCommand() *cobra.Command {
	cmd := a.listCommand("datasets", "List where frames can come from",
		`List the kinds of data that --data and data.source take. A bare path is a
recording in walk-off records, raw or compressed with zstd or gzip.`,
		`  tui datasets
  tui datasets stats world --against walk.bin.zst
  tui datasets describe > game.toml
  tui walkoff --data file:walk.bin.zst`,
		a.datasets)
	cmd.AddCommand(a.datasetsStatsCommand(), a.datasetsDescribeCommand())
	return cmd
}

func (a *app) datasets(json bool) error {
	kinds := dataset.Kinds()
	if json {
		return a.stdout.json(map[string]any{"datasets": kinds})
	}
	g := newGrid("spec", "what it is")
	for _, k := range kinds {
		g.row(k.Spec, k.Summary)
	}
	g.write(a.stdout, a.columns)
	return nil
}

func (a *app) presetsCommand() *cobra.Command {
	return a.listCommand("presets", "List the experiments that come with wirelab",
		`List the experiments that --preset takes. Each is a configuration like any other:
tui check --preset NAME prints it as a file to start from.`,
		`  tui presets
  tui run --preset loss-table
  tui check --preset loss-table > mine.toml`,
		a.presets)
}

func (a *app) presets(json bool) error {
	presets := experiment.Presets()
	if json {
		return a.stdout.json(map[string]any{"presets": presets})
	}
	g := newGrid("preset", "what it shows")
	for _, p := range presets {
		g.row(p.Name, p.Summary)
	}
	g.write(a.stdout, a.columns)
	fmt.Fprint(a.stdout, "\ntui run --preset NAME runs one; tui check --preset NAME prints it.\n")
	return nil
}
