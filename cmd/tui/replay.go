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
	var f replayFlags
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
packets of an encoder have changed since the report was saved, that is the reason given.`,
		Example: `  tui replay report/report.json
  tui replay report/report.json --json
  tui replay report/report.json --cast run.cast --page 3`,
		Args:              oneArg("a report.json"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args[0], f) },
		ValidArgsFunction: completeFiles(1, "json"),
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "allow more than 8 GB of memory")
	cmd.Flags().StringVar(&f.film.file, "cast", "", "record the dashboard in virtual time to a new `FILE`, as asciicast v2: the same bytes every time, except with --measure")
	cmd.Flags().IntVar(&f.film.page, "page", 1, "with --cast: record page `N` of the dashboard, 1 to 5; a crowd always has page 8")
	cmd.Flags().StringVar(&f.film.size, "size", "120x36", "with --cast: `COLUMNSxROWS` of the terminal")
	cmd.Flags().StringVar(&f.film.image, "image", "", "with --cast: save the last frame to a new `FILE`, as SVG")
	cmd.Flags().BoolVar(&f.film.timed, "measure", false, "with --cast: show durations, such as the CPU time of a crowd's ticks, by the clock of this machine")
	a.addOutputFlags(cmd)
	return cmd
}

// replayFlags are the flags of tui replay.
type replayFlags struct {
	force bool // allow more than 8 GB of memory
	film  filmFlags
}

// replay repeats the runs of the report at path and compares their digests with the saved ones. It
// returns a failure that names the runs that differ.
func (a *app) replay(cmd *cobra.Command, path string, f replayFlags) error {
	line := a.progress("replay")
	opt := experiment.RunOptions{
		Progress: line.report,
		Packing:  a.packingProgress(line), // shows the patches that file transfers make before they begin
		Clock:    a.clock, Force: f.force}
	film, err := f.film.open(path)
	if err != nil {
		return err
	}
	if film != nil {
		opt.View = film.show
		if !f.film.timed {
			opt.Clock = nil // nothing is timed, so that the film is the same on all machines
		}
	}
	result, err := experiment.Replay(cmd.Context(), path, opt)
	line.done()
	if err := errors.Join(err, film.close()); err != nil {
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
