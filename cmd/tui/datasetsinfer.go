package main

import (
	"context"

	"github.com/spf13/cobra"

	"wirelab/dataset/table"
)

// datasetsInferCommand returns tui datasets infer.
func (a *app) datasetsInferCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "infer LOG",
		Short: "Guess the schema of a log in CSV or JSON Lines",
		Long: `Guess the schema of a log of your game, and print it as TOML that plays at once with
table:SCHEMA.toml,LOG. The log is CSV with the names of the columns in its first line, or
JSON Lines with an object for each row or for each frame; both may be compressed with
zstd or gzip. Comments in the schema give the reason for each guess. Lines with QUESTION
ask for what the log does not show. They are printed to standard error too, with the number
of frames, what is left out, and NOTEs on what is read in another way than it is written.`,
		Example: `  tui datasets infer game.csv > game.toml
  tui walkoff --data table:game.toml,game.csv
  tui run --data table:game.toml,game.csv --set duration=20s`,
		Args: oneArg("LOG, the path of a log in CSV or JSON Lines"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.inferSchema(cmd.Context(), args[0]) },
	}
}

// inferSchema writes the guessed schema of the log at path.
func (a *app) inferSchema(ctx context.Context, path string) error {
	schema, remarks, err := table.Infer(ctx, path)
	if err != nil {
		return asUsageError(withoutSyscall(err))
	}
	for _, text := range remarks {
		a.remark("tui: %s", text)
	}
	return a.writeTOML(schema)
}
