package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/experiment/search"
	"wirelab/internal/atomicfile"
	"wirelab/internal/texttable"

	"github.com/spf13/cobra"
)

// searchFlags are the flags of tui search.
type searchFlags struct {
	config configFlags
	out    string // folder for the results; "" for none
	jobs   int    // parallel runs; 0 means one per core
	force  bool   // replace the results of another run in out
}

// searchCommand returns tui search.
func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:     "search FILE.toml",
		GroupID: groupMeasure,
		Short:   "Find the best settings without running the whole grid",
		Long: `Find the settings that minimise a figure, subject to constraints, with far fewer runs than
the whole grid.

  [search]
  minimise = "payload_kbps"
  subject_to = ["wrong == 0", "playout.starved_ratio <= 0.1%"]
  bounds = "mean"                  # of the seeds; "each": every seed keeps the bounds
  runs = 200                       # maximum number of runs
  seeds = 8                        # for the comparison of the best settings
  [search.over]
  "encoder.params.orientation_small" = { from = 3, to = 8, step = 1 }
  "sender.every" = [1, 2, 3]

Random settings are run with one seed. Those that may be the best get twice as many seeds,
and so on, until the best has all (successive halving). Then its neighbours are compared
with it in the same way, on the same frames and losses, and the search goes on from each
better one.
The same file gives the same result, except for figures that are times, such as
encode_us.p95, which depend on the machine.

--out writes a folder with search.json (every setting tried, and why it is not the best),
search.md, report.html, and best.toml, the configuration with the best setting, unless it
breaks the bounds. The exit code is 0 if a setting keeps the bounds, and 1 if none does.`,
		Example: `  tui search tuning.toml
  tui search tuning.toml --out found
  tui run found/best.toml`,
		Args: oneArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.file = args[0]
			return a.search(cmd.Context(), f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.config.add(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the results to folder `DIR`")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "number of parallel runs (default: one per core)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the results of another run in --out")
	a.addOutputFlags(cmd)
	return cmd
}

// search runs the search and writes its result. It returns a failure if no setting meets the
// constraints.
func (a *app) search(ctx context.Context, f searchFlags) error {
	jobs, err := parallelRuns(f.jobs)
	if err != nil {
		return err
	}
	c, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	var folder *atomicfile.Folder
	if f.out != "" {
		isResult := func(name string) bool {
			return slices.Contains([]string{"search.json", "search.md", "report.html", "best.toml"}, name)
		}
		if folder, err = report.OpenFolderMatching(a.disk, f.out, isResult, f.force, "--force to replace them"); err != nil {
			return err
		}
		defer func() { _ = folder.Close() }() // only closing log files can fail, and there are none
	}
	line := a.progress("search")
	found, err := search.Run(ctx, c, search.Options{Clock: a.clock, Jobs: jobs, Progress: line.report})
	line.done()
	if found == nil { // the search could not begin
		return markDataError(err)
	}
	if err != nil { // interrupted: write what was found until then
		return cmp.Or(a.writeSearchResult(f, c, found, folder), err)
	}
	err = a.writeSearchResult(f, c, found, folder)
	if !found.Best.Keeps() {
		conclusion := found.Confidence[len(found.Confidence)-1] // the last sentence is the reason
		err = errors.Join(err, newFailure([]string{conclusion}))
	}
	return err
}

// writeSearchResult writes the result of a search to standard output and, if folder is not nil,
// to the folder.
func (a *app) writeSearchResult(f searchFlags, c *config.Config, found *search.Result, folder *atomicfile.Folder) (err error) {
	err = a.writeResult(found, func(w io.Writer) { writeSearchText(w, found) })
	if folder == nil {
		return err
	}
	if saveErr := saveSearchFolder(folder, c, found); saveErr != nil {
		return errors.Join(err, saveErr)
	}
	a.remark("results in %s", f.out)
	return err
}

// saveSearchFolder writes search.json, search.md, report.html and, if a setting keeps the bounds, best.toml: the
// configuration c with the best of them.
func saveSearchFolder(folder *atomicfile.Folder, c *config.Config, found *search.Result) error {
	best, err := found.BestTOML(c)
	if err != nil {
		return err
	}
	entries := []atomicfile.Entry{
		atomicfile.JSON("search.json", found),
		{Name: "search.md", Write: func(w io.Writer) error {
			_, err := fmt.Fprint(w, "# Search\n\n```\n")
			writeSearchText(w, found)
			_, err2 := fmt.Fprint(w, "```\n")
			return errors.Join(err, err2)
		}},
		{Name: "report.html", Write: func(w io.Writer) error { return found.WritePage(w, c, best) }},
	}
	if best != nil {
		entries = append(entries, atomicfile.Bytes("best.toml", best))
	}
	if err := folder.Write(entries); err != nil {
		return writeError(filepath.Clean(folder.Path()), err)
	}
	return nil
}

// writeSearchText writes the result of a search as text: the best settings with their figures, and the conclusions.
func writeSearchText(w io.Writer, found *search.Result) {
	fmt.Fprintf(w, "%.0f settings, %d of them run; %d runs in all\n\n", found.Settings, found.Tried, found.Runs)
	if found.Best != nil {
		writeSettings(w, found)
		// RatioToOwn compares with the settings that the configuration has without the search.
		if found.RatioToOwn != nil && found.Best.Keeps() {
			fmt.Fprintf(w, "ratio of the best setting to the original configuration: %s\n", found.RatioToOwn.Fixed(" ± ", 4))
		}
	}
	for _, sentence := range found.Confidence {
		printf(w, "%s\n", sentence)
	}
}

// writeSettings writes the table of the best setting and the nearest others.
func writeSettings(w io.Writer, found *search.Result) {
	const maxOthers = 9 // number of settings listed after the best one
	note := ""          // explains the marks of times
	var notes figures.Notes
	titles := slices.Concat([]string{"setting"}, texttable.Numbers(found.Minimise))
	if found.Bounds != "" {
		titles = append(titles, "bounds")
	}
	first := "best"
	if !found.Best.Keeps() {
		first = "closest"
	}
	g := texttable.New(append(titles, ">ratio to "+first)...)
	row := func(c search.Candidate, ratio string) {
		figure := c.Figures[found.Minimise]
		notes.Add(figure)
		cells := []string{figure.Significant(5)}
		if c.RunsAs != "" && (strings.HasPrefix(found.Minimise, "encode_us.") || strings.HasPrefix(found.Minimise, "decode_us.")) {
			cells[0] += encoders.TimeMarker(c.RunsAs)
			note = encoders.TimeFootnote(c.RunsAs) + "\n"
		}
		if found.Bounds != "" {
			cells = append(cells, c.BoundsText())
			for _, b := range c.Bounds {
				notes.Add(b.Measured)
			}
		}
		g.Add(c.Text, cells, ratio)
	}
	row(*found.Best, first)
	for _, r := range found.Rivals[:min(len(found.Rivals), maxOthers)] {
		notes.Add(r.Ratio)
		row(r.Candidate, r.Ratio.Fixed(" ± ", 4)+notes.AddDoubt(r.Ratio.Doubt(1)))
	}
	g.WriteText(w, anyWidth)
	for _, line := range notes.Lines() {
		note += line + "\n"
	}
	fmt.Fprintln(w, note)
}
