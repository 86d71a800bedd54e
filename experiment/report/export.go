package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/atomicfile"
)

// Exporter writes the folder of a report while a session runs: all of it anew, or
// nothing. Rows go to the disk as they come, and what is held in memory does not grow with
// the length of the run. Close it after use.
type Exporter struct {
	Set              map[string]string  // the run's place in a sweep
	folder           *atomicfile.Folder // nil: none
	files            *Files             // that the run reads
	samples, packets *rows
	packetList           // not yet in packets, where they stand by sequence
	enough           int // how many make it worth to look which can go there
	curves           curves
	page             Page // nil: none
}

// openPackets is how many packets are put in order at once, at least.
const openPackets = 1024

// NewExporter returns an exporter into folder, nil if there is none, for a run at the
// place set of a sweep, which reads files. pages makes its report.html.
func NewExporter(folder *atomicfile.Folder, set map[string]string, files *Files, pages Pages) *Exporter {
	e := &Exporter{folder: folder, Set: set, files: files, enough: openPackets}
	if folder != nil {
		e.samples, e.packets = newRows(folder, "samples.csv", sampleHead()), newRows(folder, "packets.csv", packetHead())
		if pages.Run != nil {
			e.page = pages.Run(sampleHead(), packetHead())
		}
	}
	return e
}

// Observer returns the exporter if it has a folder to write.
func (e *Exporter) Observer() engine.Observer {
	if e.folder == nil {
		return nil
	}
	return e
}

// Sample implements engine.Observer.
func (e *Exporter) Sample(s *meters.Sample) {
	row := sampleRow(s, e.curves.add(s))
	e.samples.row(row)
	if e.page != nil {
		e.page.Sample(row)
	}
}

// Settled implements engine.Observer. It waits until there are twice as many packets as
// were left the last time, so that none is looked at often.
func (e *Exporter) Settled(seq uint64) {
	if len(e.list) < e.enough {
		return
	}
	e.sort()
	n, _ := slices.BinarySearchFunc(e.list, seq, func(p endedPacket, seq uint64) int { return cmp.Compare(p.Seq, seq) })
	for i := range e.list[:n] {
		row := packetRow(&e.list[i])
		e.packets.row(row)
		if e.page != nil {
			e.page.Packet(row)
		}
	}
	e.list = append(e.list[:0], e.list[n:]...)
	e.enough = max(openPackets, 2*len(e.list))
}

// Write writes the whole folder for r, if there is one.
func (e *Exporter) Write(r *engine.Result) error {
	r.Set = e.Set
	if e.folder == nil {
		return nil
	}
	e.sort()
	open := make([][]string, len(e.list))
	for i := range e.list {
		open[i] = packetRow(&e.list[i])
	}
	x := *r
	x.Files = e.files.List(e.folder.Path())
	entries := []atomicfile.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeTOML(w, &x) }},
		e.samples.entry(),
		e.packets.entry(open...),
		{Name: "report.md", Write: func(w io.Writer) error { return writeMarkdown(w, &x, &e.curves) }},
		atomicfile.JSON("report.json", &Report{Runs: []*engine.Result{&x}}),
	}
	if len(x.SamplesByLane) > 1 {
		entries = append(entries, atomicfile.Entry{Name: "shadows.csv", Write: func(w io.Writer) error { return writeSideBySide(w, x.SamplesByLane) }})
	}
	if e.page != nil {
		entries = append(entries, atomicfile.Entry{Name: "report.html", Write: func(w io.Writer) error {
			p := e.page.Copy()
			for _, row := range open {
				p.Packet(row)
			}
			return p.Write(w, &x)
		}})
	}
	return WriteError(e.folder.Write(entries))
}

// Close removes what was needed beside the folder.
func (e *Exporter) Close() error {
	if e.folder == nil {
		return nil
	}
	return WriteError(e.folder.Close())
}

// ErrWrite: a report could not be written. What it wraps says where and why.
var ErrWrite = errors.New("the report cannot be written")

// WriteError marks err, if there is one, as ErrWrite.
func WriteError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWrite, err)
}

// WriteSweep writes the top of a sweep's folder: the results so far, a page that
// compares them, and the configuration. The runs have folders of their own below. The
// first time all that was there before goes.
func WriteSweep(folder *atomicfile.Folder, first bool, c *config.Config, r *Report, files *Files, pages Pages) error {
	x := *r
	x.Runs = make([]*engine.Result, len(r.Runs))
	list := files.List(folder.Path())
	for i, run := range r.Runs {
		y := *run
		y.Files = list
		x.Runs[i] = &y
	}
	entries := []atomicfile.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeConfig(w, c) }},
		{Name: "report.md", Write: func(w io.Writer) error { return writeSweepMarkdown(w, &x) }},
		{Name: "summary.csv", Write: func(w io.Writer) error { return writeSummary(w, &x) }},
		atomicfile.JSON("report.json", &x),
	}
	if pages.Sweep != nil {
		entries = append(entries, atomicfile.Entry{Name: "report.html", Write: func(w io.Writer) error { return pages.Sweep(w, &x) }})
	}
	if first {
		return WriteError(folder.Write(entries))
	}
	return WriteError(folder.Update(entries))
}

// writeTOML writes the effective configuration with the changes that were made
// as its script, and the length the run had: running it repeats the run.
func writeTOML(w io.Writer, r *engine.Result) error {
	c, err := r.Replayable()
	if err != nil {
		return err
	}
	return writeConfig(w, c)
}

func writeConfig(w io.Writer, c *config.Config) error {
	text, err := c.TOML()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// resultName is what the files and folders of a report are called.
var resultName = regexp.MustCompile(`^(experiment\.toml|samples\.csv|shadows\.csv|packets\.csv|summary\.csv|report\.(md|json|html)|run-[0-9]{3,})$`)

// OpenFolder says, before a run, whether a report can be written into dir, which is made
// if it is missing. What another run has written there stays, unless force.
func OpenFolder(disk *atomicfile.Disk, dir string, force bool) (*atomicfile.Folder, error) {
	return OpenFolderOf(disk, dir, resultName.MatchString, force, "--force to replace them")
}

// OpenFolderOf is OpenFolder for results of other names; otherwise says what to do if there
// are some already.
func OpenFolderOf(disk *atomicfile.Disk, dir string, ours func(name string) bool, force bool, otherwise string) (*atomicfile.Folder, error) {
	f, err := disk.Open(dir, ours, force)
	switch {
	case errors.Is(err, atomicfile.ErrHeld):
		return nil, &config.Error{Key: "out", Problem: dir + " holds the results of another run",
			Expected: "an empty folder or a new one, or " + otherwise}
	case errors.Is(err, atomicfile.ErrMixed), errors.Is(err, atomicfile.ErrFixed):
		return nil, &config.Error{Key: "out", Problem: dir + " " + err.Error(), Expected: "an empty folder or a new one"}
	case err != nil:
		return nil, unwritable(dir, err)
	}
	return f, nil
}

func unwritable(dir string, err error) error {
	return &config.Error{Key: "out", Problem: dir + " cannot be written: " + config.WithoutPath(err), Expected: "a folder for the report",
		Cause: err}
}

// CheckDir says whether reports can be written below dir: it makes the folder if it is
// missing, and a file in it for a moment.
func CheckDir(disk *atomicfile.Disk, dir string) error {
	if _, err := disk.Prepare(dir); err != nil {
		return unwritable(dir, err)
	}
	return nil
}
