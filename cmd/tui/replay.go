package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/experiment"
	"wirelab/experiment/report"
)

// replayCommand returns tui replay.
func (a *app) replayCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "replay REPORT.json",
		GroupID: groupData,
		Short:   "Repeat the run of a saved report and check that it gives the same bytes",
		Long: `Repeat the run of a saved report, with every change at the same virtual time, and compare
the digest of all datagrams sent and all frames decoded. Reports of the dashboard and of
tui run can be replayed on any machine. Instead of the report.json its folder may be given.

Files that the run read are searched for at the path in the configuration, then at that
path relative to the report, then next to the report; they must have the same SHA-256.

The exit code is 1 if any byte differs, or if the report is of an incomplete sweep. If the
packets of an encoder have changed since the report was saved, that is the reason given. A
report of another version, or of a run over a real network, is not replayed: the exit code
is 1.`,
		Example: `  tui replay report/report.json
  tui replay report/report.json --json`,
		Args:              oneArg("a report.json"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args[0], force) },
		ValidArgsFunction: completeFiles(1, "json"),
	}
	cmd.Flags().BoolVar(&force, "force", false, "allow more than 8 GB of memory")
	a.addOutputFlags(cmd)
	return cmd
}

// replay repeats the runs of the report at path and compares their digests with the saved ones. force
// allows more than 8 GB of memory. It returns a failure that names the runs that differ.
func (a *app) replay(cmd *cobra.Command, path string, force bool) error {
	line := a.progress("replay")
	opt := experiment.RunOptions{
		Progress: line.report,
		Packing:  a.packingProgress(line), // shows the patches that file transfers make before they begin
		Clock:    a.clock, Force: force}
	result, err := experiment.Replay(cmd.Context(), path, opt)
	line.done()
	if errors.Is(err, report.ErrOtherVersion) || errors.Is(err, experiment.ErrNetworkRun) {
		return newFailure([]string{err.Error()})
	}
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
		if len(run.Changed) > 0 {
			differ = append(differ, pointPrefix(run.Set)+strings.Join(run.Changed, "; "))
		} else if !run.Same {
			differ = append(differ, fmt.Sprintf("%sdifferent bytes: saved digest %s, got %s", pointPrefix(run.Set), run.Want, run.Got))
		} else if !a.asJSON {
			printf(a.stdout, "%ssame bytes: %s\n", pointPrefix(run.Set), run.Got)
		}
	}
	if result.Missing != "" { // the report is of an incomplete sweep
		differ = append(differ, fmt.Sprintf("%s: %s", path, result.Missing))
	}
	return newFailure(differ)
}

// pointPrefix names a point of a sweep, such as "down.loss=5%: "; it returns "" for a single run.
func pointPrefix(set map[string]string) string {
	if name := report.PointName(set); name != "" {
		return name + ": "
	}
	return ""
}
