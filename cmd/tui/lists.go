package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/table"
	"wirelab/experiment"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
)

// listCommand is what the commands that list things have in common.
func (a *app) listCommand(name, short, long, example string, list func() error) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, GroupID: groupLists, Short: short, Long: long, Example: example,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return list() },
	}
	a.addJSON(cmd)
	return cmd
}

// listOf answers with all items under a key of the JSON document, or with a table of their rows and a
// note below it.
func listOf[T any](a *app, key string, items []T, note string, titles []string, row func(T) []any) error {
	return a.answer(map[string]any{key: items}, func(w io.Writer) {
		g := texttable.New(titles...)
		for _, x := range items {
			g.Add(row(x)...)
		}
		g.WriteText(w, a.columns)
		fmt.Fprint(w, note)
	})
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

func (a *app) datasets() error {
	return listOf(a, "datasets", dataset.Kinds(), "", []string{"spec", "what it is"},
		func(k dataset.Kind) []any { return []any{k.Spec, k.Summary} })
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

func (a *app) presets() error {
	return listOf(a, "presets", experiment.Presets(), "\ntui run --preset NAME runs one; tui check --preset NAME prints it.\n",
		[]string{"preset", "what it shows"}, func(p experiment.Preset) []any { return []any{p.Name, p.Summary} })
}

func (a *app) datasetsDescribeCommand() *cobra.Command {
	var records bool
	cmd := &cobra.Command{
		Use:   "describe [SPEC]",
		Short: "Print the schema of data as TOML, or one to start from",
		Long: `Print what frames of SPEC are like as a schema in TOML, as table:SCHEMA.toml,PATH
takes it. Without SPEC print a commented example with every kind of field, to be
changed into one for records of your own, and with --records the rows of CSV that go
with it.`,
		Example: `  tui datasets describe > game.toml
  tui datasets describe --records > game.csv
  tui datasets describe demo`,
		Args:              func(cmd *cobra.Command, args []string) error { return noArgs(cmd, args[min(len(args), 1):]) },
		RunE:              func(cmd *cobra.Command, args []string) error { return a.datasetsDescribe(cmd.Context(), args, records) },
		ValidArgsFunction: completeArg(dataSpecs, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().BoolVar(&records, "records", false, "print the example's records instead of its schema")
	return cmd
}

func (a *app) datasetsDescribe(ctx context.Context, args []string, records bool) error {
	schema, rows := table.Example()
	switch {
	case len(args) > 0 && records:
		return usagef("--records prints the example's; %s has its own", args[0])
	case records:
		schema = rows
	case len(args) > 0:
		var err error
		if schema, err = a.schemaOf(ctx, args[0]); err != nil {
			return err
		}
	}
	_, err := a.stdout.Write(schema)
	return err
}

// schemaOf returns the schema of data as TOML.
func (a *app) schemaOf(ctx context.Context, spec string) ([]byte, error) {
	data := dataFlags{spec: spec}
	src, err := data.open(ctx)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	a.remarksOf(src)
	s := src.Schema()
	if s.Rows == 0 {
		return nil, usagef("%s has no fields: its frames are bytes", spec)
	}
	if own, ok := src.(*table.Source); ok {
		return own.Layout().Describe(), nil // with how its records are written
	}
	preamble := 0
	if _, ok := src.(*dataset.Recording); ok {
		preamble = walkoff.Delay
	}
	return table.Describe(s, preamble), nil
}
