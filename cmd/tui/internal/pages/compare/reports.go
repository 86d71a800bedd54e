package compare

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// run is a run whose totals are compared: a saved report, or this run.
type run struct {
	report.SavedReport       // as it was when read; only the name is set for this run
	err                error // why the report cannot be read; then only SavedReport is set
	notes              []string
	length             time.Duration
	encoders           string // all that were active
	totals             figures.Totals
	timing             figures.Timing
	stretches          []meters.StretchFigures // between changes; nil without changes
	settings           map[string]string       // at the end of the run; nil if unknown
	settingsID         string                  // of this run; it changes with its settings
	comparedWith       *run                    // the run that difference is about; nil for none
	difference         string                  // the last result of compareConditions
}

// openRun reads a saved report; of a sweep only its first run. It parses the whole file, so call it in the
// background.
func openRun(saved report.SavedReport) *run {
	opened := &run{SavedReport: saved}
	runs, err := report.ReadRuns(saved.Path)
	if err != nil {
		opened.err = err
		var ce *config.Error
		if errors.As(err, &ce) { // ce names the file, which the table shows already
			opened.err = fmt.Errorf("%s. Expected: %s", ce.Problem, ce.Expected)
		}
		return opened
	}
	r := runs[0]
	opened.length = r.DurationNS
	opened.encoders = r.Encoders()
	opened.totals = r.Totals
	opened.timing = r.Timing
	opened.stretches = r.Stretches
	if len(runs) > 1 {
		note := fmt.Sprintf("the first of %d runs of a sweep", len(runs))
		opened.notes = append(opened.notes, note)
	}
	opened.settings, err = r.Settings()
	if err != nil {
		opened.notes = append(opened.notes, "its configuration cannot be read: "+err.Error())
	}
	if n := len(r.Changes); n > 0 {
		opened.notes = append(opened.notes, words.Count(n, "change")+" during the run")
	}
	var shadows []string
	for name, totals := range report.Lanes(r) {
		shadows = append(shadows, name+" "+units.Fixed(totals.PayloadKbps, 1)+" kbps")
	}
	if len(shadows) > 1 {
		opened.notes = append(opened.notes, "shadows, over the whole run: "+strings.Join(shadows[1:], ", "))
	}
	return opened
}

// rows returns the row of the report and those of its stretches.
func (r *run) rows() []*row {
	main := &row{key: r.Path, name: r.shortName(), timing: r.timing, err: r.err, report: r}
	main.figures = unknownFigures()
	if r.err != nil {
		return []*row{main}
	}
	main.figures = r.figures()
	main.about = r.about()
	return append([]*row{main}, stretchRows(r.Path, r.stretches, r)...)
}

// about describes the data, the link and the length of a report. Data from a file are named by the file; a
// link without a profile is described by loss and latency of the downlink.
func (r *run) about() string {
	data, path, isFile := strings.Cut(r.settings["data.source"], ":") // a name, or a kind and a path
	if isFile {
		data = filepath.Base(path)
	}
	link := r.settings["profile"]
	if link == "" {
		link = r.settings["down.loss"] + " " + r.settings["down.latency"]
	}
	return data + ", " + link + ", " + units.Fixed(r.length.Seconds(), 0) + " s"
}

// unlike returns why a run and another one cannot be compared; "" if they can. Besides what tui compare refuses, the
// settings of the sender have to be equal, because they decide what is sent.
func (r *run) unlike(other *run) string {
	conditions := r.otherConditions(other)
	if conditions == "" && (r.length-other.length).Abs() >= time.Second {
		return fmt.Sprintf("lasts %s, not %s", seconds(r.length), seconds(other.length))
	}
	return conditions
}

// otherConditions returns which conditions of two runs differ: data, links or a setting of the sender; "" if none do. A
// run with unknown settings is like no other.
func (r *run) otherConditions(other *run) string {
	if r != other && (r.settings == nil || other.settings == nil) {
		return otherDataOrLink
	}
	if r.comparedWith != other {
		r.comparedWith = other
		r.difference = r.compareConditions(other)
	}
	return r.difference
}

const otherDataOrLink = "other data or link"

// compareConditions compares the settings of two runs for otherConditions.
func (r *run) compareConditions(other *run) (difference string) {
	for _, key := range report.SortedKeys([]map[string]string{r.settings, other.settings}) {
		switch {
		case r.settings[key] == other.settings[key]:
		case config.IsCondition(key):
			return otherDataOrLink
		case strings.HasPrefix(key, "sender."):
			difference = cmp.Or(difference, "other "+key)
		}
	}
	return difference
}

// shortName returns the name of a report without the year: day and time, "auto" if a signal saved the report, the number
// among reports of one second, and its encoders, as a "mean" if it has several stretches. Names of another form are
// returned unchanged.
func (r *run) shortName() string {
	const layout = "2006-01-02-150405-"
	n := min(len(r.Name), len(layout))
	saved, err := time.Parse(layout, r.Name[:n])
	rest, isAutomatic := strings.CutPrefix(r.Name[n:], report.Automatic)
	encoder := r.settings["encoder.name"]
	number, hasEncoder := strings.CutPrefix(rest, encoder)
	isOther := err != nil || encoder == ""
	if isOther || !hasEncoder {
		return r.Name
	}
	out := saved.Format("01-02 15:04:05")
	if isAutomatic {
		out += " auto"
	}
	out += strings.ReplaceAll(number, "-", " ")
	switch {
	case len(r.stretches) > 0:
		out += " mean of"
	case r.totals.Crowd != nil:
		out += " " + sumOfClients(r.totals.Crowd.Clients) + ","
	}
	return out + " " + r.encoders
}

// sumOfClients describes the figures of a crowd.
func sumOfClients(n int) string { return fmt.Sprintf("sum of %d clients", n) }

// folder is the folder of the saved reports, with what was read from it. Files are read in the background,
// because a large file takes a while and a network folder may not respond.
type folder struct {
	dir     string               // "" if none exists
	list    []report.SavedReport // newest first
	opened  []report.SavedReport // reports in other folders that were opened
	showAll bool                 // also show reports of runs that cannot be compared with this run
	err     error                // why the folder cannot be listed
	listed  bool                 // it was listed
	listDue bool                 // it has to be listed
	reading bool                 // a file or the folder is being read; only one is at a time
	runs    map[string]*run      // the reports that were read, by path
	redraws int                  // redraws that were due since it was last listed
	notice  int                  // the newest notice of the lab; a new one may mean that a report was saved
}

// maxRuns bounds the reports that are kept in memory. More are read than a screen has rows.
const maxRuns = 200

// observe makes the folder due for listing after a notice of the lab, which may report a saved file, and
// every few redraws, to find reports of other processes.
func (d *folder) observe(v room.View) {
	const listEvery = 6 // redraws
	if v.Snap.Notice.ID != d.notice {
		d.notice = v.Snap.Notice.ID
		d.listDue = true
	}
	if v.RedrawDue {
		d.redraws++
	}
	if d.redraws >= listEvery {
		d.redraws = 0
		d.listDue = true
	}
}

// work returns the next read: the folder if it is due, or the first of the visible reports that was not
// read, or whose file changed since; nil if there is none or a read is in progress. changed is called after
// a change.
func (d *folder) work(visible []report.SavedReport, changed func()) (read func() (storeResult func())) {
	if d.reading {
		return nil
	}
	if d.listDue && d.dir != "" {
		d.reading = true
		d.listDue = false
		return func() func() {
			list, err := report.SavedReports(d.dir)
			return func() {
				d.reading = false
				if !d.listed || !slices.Equal(list, d.list) || (err == nil) != (d.err == nil) {
					d.list, d.err, d.listed = list, err, true
					changed()
				}
			}
		}
	}
	isUnread := func(s report.SavedReport) bool {
		r := d.runs[s.Path]
		return r == nil || r.SavedReport != s
	}
	i := slices.IndexFunc(visible, isUnread)
	if i < 0 {
		return nil
	}
	d.reading = true
	return func() func() {
		opened := openRun(visible[i])
		return func() {
			d.reading = false
			d.store(opened)
			changed()
		}
	}
}

// open adds a report in another folder.
func (d *folder) open(path string) error {
	hasPath := func(s report.SavedReport) bool { return s.Path == path }
	if slices.ContainsFunc(slices.Concat(d.opened, d.list), hasPath) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	name := filepath.Base(filepath.Dir(path))
	saved := report.SavedReport{Name: name, Path: path, Saved: info.ModTime(), Bytes: info.Size()}
	d.opened = append(d.opened, saved)
	return nil
}

// store stores a report that was read. If maxRuns reports are stored already, it first drops all of them.
func (d *folder) store(opened *run) {
	if len(d.runs) >= maxRuns {
		clear(d.runs)
	}
	d.runs[opened.Path] = opened
}

// maxCompared is the number of the newest reports that are compared with this run before all are shown.
const maxCompared = 20

// rows returns the heading of the reports and their rows: of those that were opened and those that can be compared
// with this run, sorted by a figure, or of all, newest first because those that were not read yet have no figures.
func (d *folder) rows(thisRun *run, by figure) []*row {
	var reports [][]*row // each with its stretches
	others := 0
	for i, saved := range slices.Concat(d.opened, d.list) {
		opened := d.runs[saved.Path]
		isLike := opened != nil && opened.otherConditions(thisRun) == ""
		isShown := d.showAll || i < len(d.opened) || isLike
		if !isShown {
			others++
			continue
		}
		if opened == nil {
			opened = &run{SavedReport: saved, err: errUnread}
		}
		list := opened.rows()
		list[0].saved = saved
		reports = append(reports, list)
	}
	if !d.showAll {
		slices.SortStableFunc(reports, func(a, b []*row) int { return a[0].compare(b[0], by) })
	}
	heading := "all reports, newest first; enter: those like this run"
	switch {
	case d.err != nil:
		heading = d.err.Error()
	case len(d.list) == 0 && d.listed:
		heading = "no saved reports: s saves this run"
	case !d.listed && d.dir != "":
		heading = "saved reports: listing the folder"
	case !d.showAll && others == 0:
		heading = "saved reports with the data, link and sender of this run"
	case !d.showAll:
		heading = "saved reports like this run; enter shows " + words.Count(others, "other")
	}
	top := newHeading(heading)
	top.key = reportsKey
	top.isToggle = len(d.list) > 0
	return append([]*row{top}, slices.Concat(reports...)...)
}

// reportsKey is the key of the heading of the saved reports.
const reportsKey = "saved reports"

// errUnread is the error of a report that was not read yet.
var errUnread = errors.New("not read yet")

// errorStyle returns the style of an error.
func errorStyle(err error) look.Style {
	if errors.Is(err, errUnread) {
		return look.Dim
	}
	return look.Bad
}
