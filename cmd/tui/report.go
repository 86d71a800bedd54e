package main

import (
	"cmp"
	"os"
	"path/filepath"

	"wirelab/experiment/page"
	"wirelab/internal/atomicfile"

	"github.com/spf13/cobra"
)

// reportCommand returns tui report.
func (a *app) reportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "report DIR|report.json...",
		GroupID: groupData,
		Short:   "Make an HTML page of a report, or compare several reports",
		Long: `Make report.html from a saved report: a single file for a browser that loads nothing from
the network, so that it can be mailed or attached to a ticket. tui run --out and the key s
in the dashboard write the page already; this command makes it again.

With several reports the page compares them: differences in the configuration, in the
figures (paired, with confidence intervals, where the seeds are the same) and in the charts.

Without --out the page of a single report is written next to its report.json, and the page
of several reports to comparison.html in the working directory. If a file of the report is
missing, such as samples.csv, the page omits the part that needs it and notes that.`,
		Example: `  tui report report
  tui report monday tuesday --out both.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef("%s expects a report.json or its folder, or several of them to compare", cmd.CommandPath())
			case len(args) > page.MaxCompared:
				return usagef("%s compares at most %d reports, got %d", cmd.CommandPath(), page.MaxCompared, len(args))
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.report(args, out) },
		ValidArgsFunction: completeFiles(page.MaxCompared, "json"),
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the page to this `FILE`")
	a.addQuiet(cmd)
	return cmd
}

// report writes an HTML page of the reports at paths to the file out. If out is "", the page of a
// single report is written next to it, and that of several to comparison.html. A report of a large
// sweep contains no runs (Report is nil) and cannot be compared with others.
func (a *app) report(paths []string, out string) error {
	if len(paths) == 1 && out == "" {
		out, err := page.SavePage(a.disk, paths[0])
		return a.printWritten(out, err)
	}
	list := make([]*page.Loaded, len(paths))
	for i, path := range paths {
		loaded, err := page.Load(path)
		if err != nil {
			return markDataError(err)
		}
		if len(paths) > 1 && loaded.Report == nil {
			return usagef("%s contains the points of a sweep but not its runs, and cannot be compared; expected no other report", path)
		}
		list[i] = loaded
	}
	write := func(f *atomicfile.File) error { return page.Compare(list).WriteHTML(f) }
	if len(list) == 1 {
		write = func(f *atomicfile.File) error { return list[0].Document().WriteHTML(f) }
	}
	out = cmp.Or(out, "comparison.html")
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return usagef("--out %s is a folder; expected the name of a file, such as %s", out, filepath.Join(out, "report.html"))
	}
	return a.printWritten(out, a.disk.WriteFile(out, 0o644, write))
}

// printWritten prints the name of the page if err, the error of writing it, is nil. Otherwise it
// returns err as the error of a command. out is empty if err came before the page was opened, from
// reading the report.
func (a *app) printWritten(out string, err error) error {
	switch {
	case err == nil:
		printf(a.stdout, "%s\n", out)
		return nil
	case out == "":
		return markDataError(err)
	}
	return writeError(out, err)
}
