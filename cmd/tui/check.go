package main

import (
	"context"

	"github.com/spf13/cobra"

	"wirelab/experiment"
)

func (a *app) checkCommand() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:     "check [FILE.toml]",
		GroupID: groupData,
		Short:   "Validate a configuration and print what it amounts to",
		Long: `Validate a configuration and print the effective one, every default spelt out, as
a file that run takes. What is wrong is said with its line and key, and what a link
does that its keys do not say, as netem's faults, as a warning.`,
		Example: `  tui check experiment.toml
  tui check --preset loss-table > mine.toml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.preset != "" {
				return nil
			}
			return oneArg("a configuration in TOML, or --preset NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.file = args[0]
			}
			return a.check(cmd.Context(), &f)
		},
		ValidArgsFunction: completeFiles("toml"),
	}
	cmd.Flags().StringVar(&f.preset, "preset", "", "print this experiment (`NAME`); see tui presets")
	f.addSet(cmd)
	complete(cmd, "preset", presetNames)
	return cmd
}

func (a *app) check(ctx context.Context, f *configFlags) error {
	config, err := f.load(ctx)
	if err != nil {
		return err
	}
	if err := experiment.Check(ctx, config); err != nil {
		return badData(err)
	}
	text, err := config.TOML()
	if err != nil {
		return err
	}
	a.warn(config.Warnings())
	_, err = a.stdout.Write(text)
	return err
}
