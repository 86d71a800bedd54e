package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"wirelab/experiment"
	"wirelab/experiment/report"
)

func (a *app) replayCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "replay REPORT.json",
		GroupID: groupData,
		Short:   "Run a saved report again and demand the same bytes",
		Long: `Run a saved report again, every change at the very moment at which it was made, and
compare the digest of every datagram sent and every frame decoded. Reports of the
dashboard and of run can both be replayed, on any machine. The folder that holds
the report.json will do as well.

Files that the run read are looked for where its configuration says, then where they
are as seen from the report, then beside it; they must have the same SHA-256.

Exits with 1 if a single byte differs, or if the report is of a sweep that was not run
to its end.`,
		Example: `  tui replay report/report.json
  tui replay report/report.json --json`,
		Args:              oneArg("a report.json"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args[0], force) },
		ValidArgsFunction: completeFiles(1, "json"),
	}
	cmd.Flags().BoolVar(&force, "force", false, "run what may take more than 8 GB of memory")
	a.addOutputFlags(cmd)
	return cmd
}

func (a *app) replay(cmd *cobra.Command, path string, force bool) error {
	line := a.progress("replay")
	result, err := experiment.Replay(cmd.Context(), path,
		experiment.RunOptions{Progress: line.report, Packing: a.packingProgress(line), Clock: a.clock, Force: force})
	line.done()
	if err != nil {
		return markDataError(err)
	}
	if a.asJSON {
		if err := a.stdout.json(result); err != nil {
			return err
		}
	}
	var differ []string
	for _, run := range result.Runs {
		if !run.Same {
			differ = append(differ, fmt.Sprintf("%sother bytes: saved %s, got %s", place(run.Set), run.Want, run.Got))
		} else if !a.asJSON {
			fmt.Fprintf(a.stdout, "%ssame bytes: %s\n", place(run.Set), run.Got)
		}
	}
	if result.Missing != "" {
		differ = append(differ, fmt.Sprintf("%s: %s", path, result.Missing))
	}
	return newFailure(differ)
}

// place names a point of a sweep: "down.loss=5%: "; nothing outside of one.
func place(set map[string]string) string {
	if name := report.PointName(set); name != "" {
		return name + ": "
	}
	return ""
}
