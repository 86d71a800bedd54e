package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"wirelab/experiment/page"
	"wirelab/internal/atomicfile"

	"github.com/spf13/cobra"
)

func (a *app) reportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "report DIR|report.json...",
		GroupID: groupData,
		Short:   "Make the page of a report, or of several side by side",
		Long: `Make report.html from what was saved: one file for a browser, which asks nobody for
anything, to be mailed or put beside a ticket. run --out and s in the dashboard write it
already; this makes it anew, also of reports that are older than the page.

With several reports they stand side by side: what differs in the configuration, in the
figures (by pairs, with intervals, where the seeds are the same) and in the charts.

Without --out the page of one report stands beside its report.json, and that of several
is comparison.html in the working directory. What is missing beside a report, such as
samples.csv, is missing on the page, which says so.`,
		Example: `  tui report report
  tui report monday tuesday --out both.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef("%s expects a report.json, or the folder of one; with several they stand side by side", cmd.CommandPath())
			case len(args) > page.MaxBeside:
				return usagef("%s sets at most %d reports side by side, got %d", cmd.CommandPath(), page.MaxBeside, len(args))
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return a.report(args, out) },
		ValidArgsFunction: completeFiles(page.MaxBeside, "json"),
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the page into this `FILE`")
	a.addQuiet(cmd)
	return cmd
}

func (a *app) report(paths []string, out string) error {
	if len(paths) == 1 && out == "" {
		out, err := page.SavePage(a.disk, paths[0])
		return a.wrote(out, err)
	}
	list := make([]*page.Loaded, len(paths))
	for i, path := range paths {
		l, err := page.Load(path)
		if err != nil {
			return badData(err)
		}
		if len(paths) > 1 && l.Report == nil {
			return usagef("%s has the points of its sweep and not the runs; expected it alone, for a page of its own", path)
		}
		list[i] = l
	}
	write := func(f *atomicfile.File) error { return page.WriteComparison(f, list) }
	if len(list) == 1 {
		write = func(f *atomicfile.File) error { return list[0].Write(f) }
	}
	out = cmp.Or(out, "comparison.html")
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return usagef("--out %s is a folder; expected the name of a file, such as %s", out, filepath.Join(out, "report.html"))
	}
	return a.wrote(out, a.disk.WriteFile(out, 0o644, write))
}

// wrote names the page that was written, or says why it could not be; out is empty if it was
// not begun.
func (a *app) wrote(out string, err error) error {
	switch {
	case err == nil:
		fmt.Fprintln(a.stdout, out)
		return nil
	case out == "":
		return badData(err)
	}
	return unwritable(out, err)
}
