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

// anyWidth, as argument of WriteText, does not limit the width of a table: it also goes to files and
// pipes, where long lines do no harm.
const anyWidth = 0

// listCommand returns a command without arguments that lists something, with --json.
func (a *app) listCommand(name, short, long, example string, list func() error) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, GroupID: groupLists, Short: short, Long: long, Example: example,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return list() },
	}
	a.addJSON(cmd)
	return cmd
}

// writeList writes all items: with --json as an array under key, otherwise as a table with these
// column titles and a row of cells for each item, and the note below it.
func writeList[T any](a *app, key string, items []T, note string, titles []string, row func(T) []any) error {
	return a.writeResult(map[string]any{key: items}, func(w io.Writer) {
		g := texttable.New(titles...)
		for _, x := range items {
			g.Add(row(x)...)
		}
		g.WriteText(w, a.columns)
		fmt.Fprint(w, note)
	})
}

// datasetsCommand returns tui datasets, which lists the kinds of data and has subcommands to
// examine data.
func (a *app) datasetsCommand() *cobra.Command {
	cmd := a.listCommand("datasets", "List the kinds of data that can be sent",
		`List the forms that --data and the configuration key data.source accept. A path without
a prefix is a recording in walk-off records, raw or compressed with zstd or gzip.`,
		`  tui datasets
  tui datasets stats world --against walk.bin.zst
  tui datasets describe > game.toml
  tui datasets infer game.csv > game.toml
  tui walkoff --data file:walk.bin.zst`,
		a.listDatasets)
	cmd.AddCommand(a.datasetsStatsCommand(), a.datasetsDescribeCommand(), a.datasetsInferCommand())
	return cmd
}

// listDatasets writes the kinds of data.
func (a *app) listDatasets() error {
	return writeList(a, "datasets", dataset.Kinds(), "", []string{"spec", "meaning"},
		func(k dataset.Kind) []any { return []any{k.Spec, k.Summary} })
}

// presetsCommand returns tui presets.
func (a *app) presetsCommand() *cobra.Command {
	return a.listCommand("presets", "List the experiments that come with wirelab",
		`List the experiments that --preset accepts. A preset is an ordinary configuration:
tui check --preset NAME prints it as a file, ready to be changed.`,
		`  tui presets
  tui run --preset loss-table
  tui check --preset loss-table > mine.toml`,
		a.listPresets)
}

// listPresets writes the presets.
func (a *app) listPresets() error {
	return writeList(a, "presets", experiment.Presets(), "\ntui run --preset NAME runs a preset; tui check --preset NAME prints it.\n",
		[]string{"preset", "what it shows"}, func(p experiment.Preset) []any { return []any{p.Name, p.Summary} })
}

// datasetsDescribeCommand returns tui datasets describe.
func (a *app) datasetsDescribeCommand() *cobra.Command {
	var records bool
	cmd := &cobra.Command{
		Use:   "describe [SPEC]",
		Short: "Print the schema of data, or an example schema, as TOML",
		Long: `Print the schema of the frames of SPEC in TOML, in the format that
table:SCHEMA.toml,PATH reads. Without SPEC, print a commented example with every kind
of field, to be adapted to your own records; with --records, print CSV records that fit
this example.`,
		Example: `  tui datasets describe > game.toml
  tui datasets describe --records > game.csv
  tui datasets describe demo`,
		Args:              func(cmd *cobra.Command, args []string) error { return noArgs(cmd, args[min(len(args), 1):]) },
		RunE:              func(cmd *cobra.Command, args []string) error { return a.describeDataset(cmd.Context(), args, records) },
		ValidArgsFunction: completeArg(dataSpecs, cobra.ShellCompDirectiveDefault),
	}
	cmd.Flags().BoolVar(&records, "records", false, "print the records of the example instead of its schema")
	return cmd
}

// describeDataset writes the schema of the data that args[0] names or, if args is empty, of an
// example. If records is set, it writes the rows of the example in CSV instead of its schema.
func (a *app) describeDataset(ctx context.Context, args []string, records bool) error {
	text, exampleRows := table.Example()
	switch {
	case len(args) > 0 && records:
		return usagef("--records prints the records of the example; expected no SPEC, got %s", args[0])
	case records:
		text = exampleRows
	case len(args) > 0:
		var err error
		if text, err = a.readSchema(ctx, args[0]); err != nil {
			return err
		}
	}
	return a.writeTOML(text)
}

// readSchema returns the schema of the data that spec names as TOML. Data without fields, such as
// messages, has no schema, which is a usage error.
func (a *app) readSchema(ctx context.Context, spec string) ([]byte, error) {
	data := dataFlags{spec: spec}
	src, err := data.open(ctx)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	a.printRemarks(src)
	s := src.Schema()
	if s.Rows == 0 {
		return nil, usagef("%s has no fields: its frames are bytes", spec)
	}
	if tableSource, ok := src.(*table.Source); ok {
		return tableSource.Layout().Describe(), nil // includes the format of the records
	}
	preamble := 0                              // number of copies of the initial state before the first frame
	if _, ok := src.(*dataset.Recording); ok { // a recording begins with copies of its initial state, by the rules of the walk-off
		preamble = walkoff.Delay
	}
	return table.Describe(s, preamble), nil
}
