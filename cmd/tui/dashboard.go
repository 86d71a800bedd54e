package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/openfile"
	"wirelab/cmd/tui/internal/tour"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/live"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"

	"github.com/spf13/cobra"
)

// dashboardFlags are the flags of the dashboard and of the tour.
type dashboardFlags struct {
	lookFlags
	config  configFlags
	reports string // folder in which reports are saved; "" means the default
	tour    bool   // open the guided tour
	remote  remoteFlags
	report  string // the report.json to show first; "" for none
}

// lookFlags choose the colours and characters of a screen.
type lookFlags struct {
	ascii bool   // draw with ASCII characters only
	theme string // name of a colour scheme
}

// dashboardCommand returns tui without a command, which opens the dashboard.
func (a *app) dashboardCommand() *cobra.Command {
	var f dashboardFlags
	cmd := &cobra.Command{
		Use:   "tui [FILE]",
		Short: "A lab for sending game state over bad networks",
		Long: `Wirelab sends game state through a model of a bad network. You can change the encoder
during the run, and see charts of bandwidth, delay and failures.

Without a command it opens the dashboard, by default on the preset demo. FILE is a
configuration (.toml), a recording, a capture, a demo, a log, or a saved report. Press ? for
the keys, o to open a file, and type /tour for a guided tour. Ctrl-C saves the run and
quits; q quits, and asks first if a minute or more is unsaved.`,
		Example: `  tui                                          the dashboard on the demo recording
  tui walk.bin.zst --encoder rotor             the dashboard on your own recording
  tui --data world                             a world to play in: press 4, then the arrow keys
  tui --to TOKEN@192.0.2.7:27970               send to another machine where tui listen runs
  tui run --preset loss-table                  an experiment without the dashboard, for scripts`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := a.useFile(&f, args[0]); err != nil {
					return err
				}
			}
			return a.dashboard(cmd.Context(), f)
		},
	}
	f.config.add(cmd)
	f.addLook(cmd)
	return cmd
}

// useFile makes a file what its kind is for: the configuration, the data, the links or the report to show.
func (a *app) useFile(f *dashboardFlags, path string) error {
	kind, err := openfile.Recognise(path)
	if err != nil {
		return asUsageError(withoutSyscall(err))
	}
	switch kind {
	case openfile.Config:
		f.config.file = path
	case openfile.Report:
		f.report = openfile.ReportPath(path)
	case openfile.LinkCapture:
		fit, err := a.fitCSV(path)
		if err != nil {
			return err
		}
		for _, s := range fit.Settings {
			f.config.set = append(f.config.set, "down."+s.Key+"="+s.Value)
		}
	case openfile.Data:
		if f.config.data != "" {
			return usagef("%s and --data %s are two sources of data; expected one", path, f.config.data)
		}
		f.config.data = path
	}
	return nil
}

// addLook registers the flags for the appearance of the dashboard, for the receiver and for the
// reports folder.
func (f *dashboardFlags) addLook(cmd *cobra.Command) {
	f.lookFlags.add(cmd)
	f.remote.add(cmd)
	cmd.Flags().StringVar(&f.reports, "reports", "", "save reports in folder `DIR` (default "+reportsDirHelp+")")
}

// add registers the flags.
func (f *lookFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "auto", "use the colours of theme `NAME`: "+strings.Join(look.SchemeNames(), ", "))
	complete(cmd, "theme", look.SchemeNames)
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
}

// check returns an error if the theme is unknown.
func (f *lookFlags) check() error { return checkOneOf("--theme", f.theme, look.SchemeNames()) }

// tourCommand returns tui tour, which opens the dashboard with the guided tour.
func (a *app) tourCommand() *cobra.Command {
	f := dashboardFlags{tour: true}
	cmd := &cobra.Command{
		Use: "tour", GroupID: groupBegin,
		Short: "Take the guided tour of the dashboard",
		Long: fmt.Sprintf(`%d short steps through the main ideas: %s.
Each step changes one setting and explains its effect. Enter goes to the
next step, backspace to the previous one, and esc ends the tour. All keys of the dashboard
work during the tour.`, len(tour.Names()), strings.ToLower(strings.Join(tour.Names(), ", "))),
		Example: `  tui tour                                     the tour on the demo recording
  tui tour --theme light                       for a light background`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.dashboard(cmd.Context(), f) },
	}
	f.addLook(cmd)
	return cmd
}

// choosePreset chooses the default preset if neither a file nor a preset is given. On a real network its modelled links
// lose and delay nothing, unless --set says otherwise.
func (f *dashboardFlags) choosePreset() {
	if f.config.file != "" || f.config.preset != "" {
		return
	}
	f.config.preset = defaultPreset
	if f.remote.given() {
		f.config.set = append([]string{"profile=perfect"}, f.config.set...)
	}
}

// dashboard runs the dashboard until the user quits. If it ends in another way, by Ctrl-C, a signal
// or an error, the run is saved.
func (a *app) dashboard(ctx context.Context, f dashboardFlags) error {
	f.choosePreset()
	cfg, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.reports != "" {
		if err := report.CheckDir(a.disk, f.reports); err != nil {
			return asUsageError(err)
		}
	} else {
		f.reports = defaultReports()
	}
	if !a.interactive() {
		return usagef("the dashboard needs a terminal; in scripts and pipes use tui run")
	}
	link, err := f.remote.open(ctx, a) // link.Link is nil without --to and --udp
	if err != nil {
		return err
	}
	defer link.close()
	return a.showSession(ctx, cfg, f, link.Link, "")
}

// showSession runs a session of cfg in the dashboard until the user quits. point describes the point of a sweep; "" for none. link is the connection to the receiver,
// or nil for a modelled network. If the dashboard ends in another way, the run is saved.
func (a *app) showSession(ctx context.Context, cfg *config.Config, f dashboardFlags, link *remote.Link, point string) error {
	opt := live.Options{
		Clock: a.clock, Reports: f.reports, Disk: a.disk, Remote: link,
		Stamp: func() string { return time.Now().Format("2006-01-02-150405") }, // the name of each report's folder begins with this
	}
	var first *live.Runner
	err := a.await(ctx, "opening "+cfg.Data.Source+"; ctrl-c stops", func() (err error) {
		first, err = live.New(ctx, cfg, opt)
		return err
	})
	if err != nil {
		return markDataError(err)
	}
	first.Start(ctx)
	present := presentRun{runner: first}
	screen := ui.Options{ASCII: f.ascii, Theme: f.theme, Tour: f.tour, OfferTour: isFirstStart(stateFolder()), Point: point, ReportsDir: f.reports,
		Report: f.report, Recent: filepath.Join(stateFolder(), "opened"), Picture: drawLink}
	if link == nil {
		screen.Open = func(path string) (ui.Opened, error) { return a.openInDashboard(ctx, path, opt, &present) }
	}
	err = ui.Run(ctx, first, screen)
	runner := present.end()
	if last := runner.Snapshot().Err; err == nil && errors.As(last, new(*panics.Error)) {
		err = last // writing the last report panicked
	}
	if err == nil {
		return nil
	}
	return a.saveUnfinished(runner, err)
}

// openInDashboard opens a file as the argument of tui would be opened. It returns the change of the links that a capture of a
// link makes, or a new run that has replaced the present one, on its links unless the file is a configuration.
func (a *app) openInDashboard(ctx context.Context, path string, opt live.Options, present *presentRun) (ui.Opened, error) {
	var f dashboardFlags
	if err := a.useFile(&f, path); err != nil {
		return ui.Opened{}, err
	}
	if settings, err := f.config.settings(); err != nil || f.config.set != nil {
		var links config.Change
		for _, s := range settings {
			err = cmp.Or(err, links.Set(s.key, s.value))
		}
		return ui.Opened{Change: links}, err
	}
	f.choosePreset()
	cfg, err := f.config.load(ctx)
	if err != nil {
		return ui.Opened{}, err
	}
	if f.config.file == "" {
		now := present.config()
		cfg.Profile, cfg.Down, cfg.Up = now.Profile, now.Down, now.Up
	}
	next, err := live.New(ctx, cfg, opt)
	if err != nil {
		return ui.Opened{}, withoutSyscall(err)
	}
	next.Start(ctx)
	present.replace(next)
	return ui.Opened{Lab: next}, nil
}

// presentRun is the run that the dashboard shows.
type presentRun struct {
	mu     sync.Mutex
	runner *live.Runner
	ended  bool // the dashboard has ended
}

// replace makes next the present run and stops the one before, or stops next if the dashboard has ended.
func (p *presentRun) replace(next *live.Runner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		next.Stop()
		return
	}
	p.runner.Stop()
	p.runner = next
}

// config returns the current settings of the present run.
func (p *presentRun) config() *config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runner.Snapshot().Config
}

// end stops the present run, after which no other can replace it, and returns it.
func (p *presentRun) end() *live.Runner {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.runner.Stop()
	return p.runner
}

// defaultPreset is the experiment of the dashboard if none is given: a link that loses a few
// packets.
const defaultPreset = "demo"

// saveUnfinished saves the session of a dashboard that ended with err, not by q, and prints where.
// It returns the error of the command: context.Canceled after an interruption, otherwise err.
func (a *app) saveUnfinished(runner *live.Runner, err error) error {
	switch last := runner.Snapshot(); {
	case last.Now == 0: // no virtual time has passed: a file transfer was still making its patch
		fmt.Fprintln(a.stderr, "nothing was sent yet, so nothing is saved")
	case last.Saved < last.Now: // otherwise the user saved it after the peer was lost
		a.saveAtEnd(runner)
	}
	if errors.Is(err, ui.ErrInterrupted) {
		return context.Canceled
	}
	return markDataError(err)
}

// saveAtEnd saves the session, and prints where.
func (a *app) saveAtEnd(runner *live.Runner) {
	path, err := runner.Save("")
	switch {
	case err != nil:
		fmt.Fprintf(a.stderr, "tui: the run could not be saved: %s\n", escape.Line(err.Error()))
	case runner.Snapshot().To != "":
		printf(a.stderr, "the run is saved in %s\n", path) // a session over a network cannot be repeated
	default:
		printf(a.stderr, "the run is saved in %[1]s; tui replay %[1]s repeats it\n", path)
	}
}

// reportsDirHelp is the folder of defaultReports as the help text shows it.
const reportsDirHelp = "~/.local/state/wirelab/reports"

// defaultReports returns the default folder for reports.
func defaultReports() string { return filepath.Join(stateFolder(), "reports") }

// stateFolder returns the folder for what the program keeps, according to the XDG Base Directory Specification.
func stateFolder() string {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the specification declares relative paths invalid
		home, err := os.UserHomeDir()
		if err != nil {
			home = os.TempDir()
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "wirelab")
}

// isFirstStart reports whether the dashboard was not started before, and records the start in the folder dir. If
// nothing can be recorded there, it returns false.
func isFirstStart(dir string) bool {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, "started"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// drawLink draws, w columns wide, what a link does to 25 s of typical traffic: 60 packets per
// second, of 400 bytes each. That is long enough to show the handover of a satellite link. It takes one or two
// milliseconds. If the link cannot be drawn, it returns the text of the error.
func drawLink(spec lossmodel.Spec, w int) string {
	// Any seed will do, if it is the same for each drawing.
	const seed = 1
	traffic := measure.Traffic{Packets: 1500, Interval: time.Second / 60, Size: 400} // 1500 packets at 60 per second take 25 s
	text, err := measure.Show(spec, seed, traffic, measure.Style{Width: w})
	if err != nil {
		return err.Error()
	}
	return text
}
