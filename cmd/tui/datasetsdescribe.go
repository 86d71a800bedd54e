package main

import (
	"context"

	"github.com/spf13/cobra"

	"wirelab/dataset"
	"wirelab/dataset/table"
	"wirelab/experiment/walkoff"
)

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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactlyOneSpec(cmd, args)
		},
		RunE:              func(cmd *cobra.Command, args []string) error { return a.datasetsDescribe(cmd.Context(), args, records) },
		ValidArgsFunction: completeData,
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
		if schema, err = describe(ctx, args[0]); err != nil {
			return err
		}
	}
	_, err := a.stdout.Write(schema)
	return err
}

// describe returns the schema of data as TOML.
func describe(ctx context.Context, spec string) ([]byte, error) {
	data := dataFlags{spec: spec}
	src, err := data.open(ctx)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
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
