package main

import (
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
	"wirelab/internal/units"

	"github.com/spf13/cobra"
)

type searchFlags struct {
	config configFlags
	out    string
	jobs   int
	force  bool
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:     "search FILE.toml",
		GroupID: groupMeasure,
		Short:   "Look for the best setting instead of running them all",
		Long: `Look for the settings that make a figure smallest, within bounds, at a fraction of what
the whole grid would cost; or, with two figures, for those that no other betters in both.

  [search]
  minimise = "payload_kbps"        # or a list of two: a front
  subject_to = ["wrong == 0", "playout.starved_ratio <= 0.1%"]
  runs = 200                       # of the whole duration that it may cost, in sum
  seeds = 8                        # on which the best are compared
  [search.over]
  "encoder.params.orientation_small" = { from = 3, to = 8, step = 1 }
  "sender.every" = [1, 2, 3]

Settings are drawn at random and run for an eighth of the duration; the better half goes on.
From the best it walks to better neighbours, compared on the same frames and losses, and
runs the last few with all seeds. The same file gives the same result, unless it is about
times: encode_us.p95 and its like are this machine's.

--out writes a folder: search.json with all that was tried and why it was dropped, search.md,
and best.toml, the configuration with the best setting.`,
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
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "keep what was found in this folder (`DIR`)")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "runs side by side (default: one a core)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the results of another run in that folder")
	a.addOutputFlags(cmd)
	return cmd
}

// search runs the command.
func (a *app) search(ctx context.Context, f searchFlags) error {
	jobs, err := jobsFlag(f.jobs)
	if err != nil {
		return err
	}
	c, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	var folder *atomicfile.Folder
	if f.out != "" {
		ours := func(name string) bool { return name == "search.json" || name == "search.md" || name == "best.toml" }
		if folder, err = report.OpenFolderOf(a.disk, f.out, ours, f.force, "--force to replace them"); err != nil {
			return err
		}
		defer func() { _ = folder.Close() }() // it has no logs
	}
	line := a.progress("search")
	found, err := search.Run(ctx, c, search.Options{Clock: a.clock, Jobs: jobs, Tell: line.report})
	line.done()
	if found == nil {
		return badData(err)
	}
	if err != nil { // interrupted: what was found until then
		_ = a.writeSearch(f, c, found, folder)
		return err
	}
	err = a.writeSearch(f, c, found, folder)
	if found.Best == nil || found.Best.Breaks != "" {
		err = errors.Join(err, held([]string{found.Sure[len(found.Sure)-1]}))
	}
	return err
}

// writeSearch prints and keeps what a search came to.
func (a *app) writeSearch(f searchFlags, c *config.Config, found *search.Found, folder *atomicfile.Folder) (err error) {
	err = a.answer(found, func(w io.Writer) { writeFound(w, found) })
	if folder != nil {
		err = errors.Join(err, saveFound(folder, c, found))
		a.remark("found in %s", f.out)
	}
	return err
}

// saveFound writes the folder of a search.
func saveFound(folder *atomicfile.Folder, c *config.Config, found *search.Found) error {
	entries := []atomicfile.Entry{
		atomicfile.JSON("search.json", found),
		{Name: "search.md", Write: func(w io.Writer) error {
			_, err := fmt.Fprint(w, "# Search\n\n```\n")
			writeFound(w, found)
			_, err2 := fmt.Fprint(w, "```\n")
			return errors.Join(err, err2)
		}},
	}
	if found.Best != nil {
		best, err := search.Apply(c, found.Best)
		if err != nil {
			return err
		}
		text, err := best.TOML()
		if err != nil {
			return err
		}
		entries = append(entries, atomicfile.Bytes("best.toml", text))
	}
	err := folder.Write(entries)
	if err != nil {
		return unwritable(filepath.Clean(folder.Path()), err)
	}
	return nil
}

// writeFound prints what a search came to, for people.
func writeFound(w io.Writer, f *search.Found) {
	fmt.Fprintf(w, "%.0f settings; %d were run for the whole duration, at the cost of %.0f runs\n\n", f.Settings, f.Tried, f.Runs)
	if f.Best != nil {
		note := ""
		g := texttable.New(slices.Concat([]string{"setting"}, texttable.Numbers(f.Minimise...), []string{">of the best"})...)
		row := func(c search.Chosen, ratio string) {
			var cells []string
			for _, name := range f.Minimise {
				text := meanText(c.Figures[name])
				if c.RunsAs != "" && (strings.HasPrefix(name, "encode_us.") || strings.HasPrefix(name, "decode_us.")) {
					text += encoders.TimeMark(c.RunsAs)
					note = encoders.TimeNote(c.RunsAs) + "\n"
				}
				cells = append(cells, text)
			}
			g.Add(c.Words, cells, ratio)
		}
		if len(f.Front) > 0 {
			for _, c := range f.Front {
				row(c, "front")
			}
		} else {
			row(*f.Best, "the best")
			for _, r := range f.Near[:min(len(f.Near), 9)] {
				row(r.Chosen, ratioText(r.Ratio))
			}
		}
		g.WriteText(w, 0)
		fmt.Fprintln(w, note)
		if f.OfOwn != nil && len(f.Front) == 0 {
			fmt.Fprintf(w, "%s of the configuration itself, at the best setting\n", ratioText(*f.OfOwn))
		}
	}
	fmt.Fprintln(w, strings.Join(f.Sure, "\n"))
}

// meanText writes a mean and half of its interval.
func meanText(m figures.Mean) string {
	if m.N == 0 {
		return "-"
	}
	text := units.Significant(m.Mean, 5)
	if m.Lo != nil && *m.Hi > *m.Lo {
		text += " ± " + units.Significant((*m.Hi-*m.Lo)/2, 2)
	}
	return text
}

func ratioText(m figures.Mean) string {
	if m.N == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.4f", m.Mean)
	if m.Lo != nil && *m.Hi-*m.Lo > 1e-4 {
		text += fmt.Sprintf(" ± %.4f", (*m.Hi-*m.Lo)/2)
	}
	return text
}
