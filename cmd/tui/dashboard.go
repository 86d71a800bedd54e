package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment"
	"wirelab/experiment/report"
	"wirelab/internal/panics"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"

	"github.com/spf13/cobra"
)

type dashboardFlags struct {
	lookFlags
	config  configFlags
	reports string
	tour    bool
	charts  string
	remote  remoteFlags
}

// lookFlags choose the colours and characters of anything that is drawn.
type lookFlags struct {
	ascii bool
	theme string
}

func (a *app) dashboardCommand() *cobra.Command {
	var f dashboardFlags
	cmd := &cobra.Command{
		Short: "A lab for sending game state over bad networks",
		Long: `Wirelab sends game state through a model of a bad network, lets you swap the
encoder while it runs, and charts what it costs and what breaks.

Without a command it is the dashboard, on preset demo unless told otherwise. Press ?
for the keys, t for a guided tour. Ctrl-C saves the run before it leaves; q does not.`,
		Example: `  tui                                          the dashboard, on the demo recording
  tui --data walk.bin.zst --encoder rotor      on a recording of yours
  tui --data world                             a world to play: press 4, then the arrows
  tui --to TOKEN@192.0.2.7:27970               sent to another machine, where tui listen runs
  tui run --preset loss-table                  the same lab, for scripts`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.dashboard(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.config.file, "config", "", "start from this configuration (`FILE`)")
	f.config.add(cmd)
	f.addLook(cmd)
	if err := cmd.MarkFlagFilename("config", "toml"); err != nil {
		panic(err)
	}
	return cmd
}

// addLook adds the flags of how the dashboard looks and where it saves.
func (f *dashboardFlags) addLook(cmd *cobra.Command) {
	f.lookFlags.add(cmd)
	f.remote.add(cmd)
	cmd.Flags().StringVar(&f.charts, "charts", "", "draw charts as `STYLE`: "+strings.Join(look.ChartStyles(), ", ")+
		" (default: as fine as the terminal shows)")
	complete(cmd, "charts", look.ChartStyles)
	cmd.Flags().StringVar(&f.reports, "reports", "", "save reports under this folder (`DIR`; default "+shownReports+")")
}

func (f *lookFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "auto", "colours: `NAME` is one of "+strings.Join(look.Themes(), ", "))
	complete(cmd, "theme", look.Themes)
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with plain ASCII, for terminals without Unicode")
}

// check returns an error if the theme is unknown.
func (f *lookFlags) check() error { return oneOf("--theme", f.theme, look.Themes()) }

// tourCommand is the dashboard with its guided tour open.
func (a *app) tourCommand() *cobra.Command {
	f := dashboardFlags{tour: true}
	cmd := &cobra.Command{
		Use: "tour", GroupID: groupBegin,
		Short: "Take the guided tour of the dashboard",
		Long: `Seven short steps through what the lab is about: quantise, delta, index, relative,
entropy, loss, playout. Each changes one thing and says what to look at. Enter goes
on, backspace goes back, esc leaves; everything stays yours to play with meanwhile.`,
		Example: `  tui tour                                     on the demo recording
  tui tour --theme high-contrast               for a projector`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.dashboard(cmd.Context(), f) },
	}
	f.addLook(cmd)
	return cmd
}

func (a *app) dashboard(ctx context.Context, f dashboardFlags) error {
	if f.config.file == "" && f.config.preset == "" {
		f.config.preset = firstPreset
		if f.remote.given() { // its line is no part of what the path does
			f.config.set = append(f.config.set, "profile=perfect")
		}
	}
	config, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	f.charts = cmp.Or(f.charts, chartStyle(os.Getenv))
	if err := cmp.Or(f.check(), oneOf("--charts", f.charts, look.ChartStyles())); err != nil {
		return err
	}
	if f.reports != "" {
		if err := report.CheckDir(a.disk, f.reports); err != nil {
			return usage(err)
		}
	} else {
		f.reports = defaultReports()
	}
	if !a.interactive() {
		return usagef("the dashboard needs a terminal; in scripts and pipes use tui run")
	}
	link, err := f.remote.open(ctx)
	if err != nil {
		return err
	}
	defer link.close()
	runner, err := experiment.NewRunner(ctx, config, experiment.RunnerOptions{
		Clock: a.clock, Reports: f.reports, Disk: a.disk, Remote: link.Link,
		Stamp: func() string { return time.Now().Format("2006-01-02-150405") },
	})
	if err != nil {
		return badData(err)
	}
	runner.Start(ctx)
	err = ui.Run(ctx, runner, ui.Options{ASCII: f.ascii, Tour: f.tour, Theme: f.theme, Charts: f.charts, ReportsDir: f.reports, Picture: linkPicture})
	runner.Stop()
	if last := runner.Snapshot().Err; err == nil && errors.As(last, new(*panics.Error)) {
		err = last // the report that was being written as the person left
	}
	if err == nil {
		return nil
	}
	return a.rescue(runner, err)
}

// chartStyle is how charts are drawn unless told otherwise: in Braille dots, but for a
// locale that names another character set than UTF-8, and for the console of Linux, whose
// fonts have no Braille.
func chartStyle(env func(string) string) string {
	const fine, line = "fine", "line"
	if env("TERM") == "linux" {
		return line
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if v := strings.ToLower(env(name)); v != "" {
			if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
				return fine
			}
			return line
		}
	}
	return fine
}

// firstPreset is what a newcomer meets: a link that loses a little.
const firstPreset = "demo"

// rescue saves a session that ended in another way than by q.
func (a *app) rescue(runner *experiment.Runner, err error) error {
	if runner.Snapshot().Now == 0 { // it waited for a patch
		fmt.Fprintln(a.stderr, "nothing was sent yet, and there is nothing to save")
	} else if path, saveErr := runner.Save(""); saveErr != nil {
		fmt.Fprintf(a.stderr, "tui: the run could not be saved: %v\n", saveErr)
	} else {
		fmt.Fprintf(a.stderr, "the run so far is saved in %[1]s; tui replay %[1]s repeats it\n", path)
	}
	if errors.Is(err, ui.ErrInterrupted) {
		return context.Canceled
	}
	return badData(err)
}

// shownReports is how help names the folder that defaultReports returns.
const shownReports = "~/.local/state/wirelab/reports"

// defaultReports is where reports go unless told otherwise, after the XDG base
// directory specification.
func defaultReports() string {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the specification: relative paths are invalid
		home, err := os.UserHomeDir()
		if err != nil {
			home = os.TempDir()
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "wirelab", "reports")
}

// linkPicture draws what a link does to the traffic of a session: 25 s of it, so
// that a satellite's handover is seen. It takes a millisecond or two.
func linkPicture(spec lossmodel.Spec, w int, ascii bool) string {
	traffic := measure.Traffic{Packets: 1500, Interval: time.Second / 60, Size: 400}
	text, err := measure.Show(spec, 1, traffic, measure.Style{Width: w, ASCII: ascii})
	if err != nil {
		return err.Error()
	}
	return text
}
