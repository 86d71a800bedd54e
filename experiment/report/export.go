package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"wirelab/dataset/whole"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// Exporter gathers the rows of a report while a session runs, and writes the folder:
// all of it anew, or nothing.
type Exporter struct {
	Folder   *whole.Folder     // nil: none
	Set      map[string]string // the run's place in a sweep
	Files    *Files            // that the run reads
	Samples  []engine.Sample
	Packets  []engine.PacketRecord
	Troubles map[engine.PacketID]Trouble // of those packets that had any
}

// Sample implements Observer.
func (e *Exporter) Sample(s *engine.Sample) { e.Samples = append(e.Samples, *s) }

// Packet implements Observer.
func (e *Exporter) Packet(p *engine.PacketRecord) { e.Packets = append(e.Packets, *p) }

// Trouble implements engine.TroubleObserver.
func (e *Exporter) Trouble(o *engine.Opened, c *config.Config) {
	if e.Troubles == nil {
		e.Troubles = map[engine.PacketID]Trouble{}
	}
	e.Troubles[o.ID] = TroubleOf(o, c)
}

// Write writes the whole folder for r, if there is one.
func (e *Exporter) Write(r *engine.Result) error {
	r.Set = e.Set
	if e.Folder == nil {
		return nil
	}
	e.sort()
	x := *r
	x.Files = e.Files.List(e.Folder.Path())
	return writeError(e.Folder.Write([]whole.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeTOML(w, &x) }},
		{Name: "samples.csv", Write: func(w io.Writer) error { return writeSamples(w, e.Samples) }},
		{Name: "packets.csv", Write: func(w io.Writer) error { return writePackets(w, e.Packets, e.Troubles) }},
		{Name: "report.md", Write: func(w io.Writer) error { return writeMarkdown(w, &x, e.Samples) }},
		{Name: "report.json", Write: func(w io.Writer) error { return writeJSON(w, &Report{Runs: []*engine.Result{&x}}) }},
	}))
}

// ErrWrite: a report could not be written. What it wraps says where and why.
var ErrWrite = errors.New("the report cannot be written")

func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWrite, err)
}

// sort puts the packets in order of sequence: they came in the order they ended.
func (e *Exporter) sort() {
	slices.SortStableFunc(e.Packets, func(a, b engine.PacketRecord) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
}

// WriteSweep writes the top of a sweep's folder: the results so far, a page that
// compares them, and the configuration. The runs have folders of their own below. The
// first time all that was there before goes.
func WriteSweep(folder *whole.Folder, first bool, c *config.Config, r *Report, files *Files) error {
	x := *r
	x.Runs = make([]*engine.Result, len(r.Runs))
	list := files.List(folder.Path())
	for i, run := range r.Runs {
		y := *run
		y.Files = list
		x.Runs[i] = &y
	}
	entries := []whole.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeConfig(w, c) }},
		{Name: "report.md", Write: func(w io.Writer) error { return writeSweepMarkdown(w, &x) }},
		{Name: "report.json", Write: func(w io.Writer) error { return writeJSON(w, &x) }},
	}
	if first {
		return writeError(folder.Write(entries))
	}
	return writeError(folder.Update(entries))
}

func writeJSON(w io.Writer, r *Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
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
var resultName = regexp.MustCompile(`^(experiment\.toml|samples\.csv|packets\.csv|report\.(md|json)|run-[0-9]{3,})$`)

// OpenFolder says, before a run, whether a report can be written into dir, which is made
// if it is missing. What another run has written there stays, unless force.
func OpenFolder(disk *whole.Disk, dir string, force bool) (*whole.Folder, error) {
	f, err := disk.Open(dir, resultName.MatchString, force)
	switch {
	case errors.Is(err, whole.ErrHeld):
		return nil, &config.Error{Key: "out", Problem: dir + " holds the results of another run",
			Expected: "an empty folder or a new one, or --force to replace them"}
	case errors.Is(err, whole.ErrMixed), errors.Is(err, whole.ErrFixed):
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
func CheckDir(disk *whole.Disk, dir string) error {
	made, err := disk.MkdirAll(dir)
	if err == nil {
		err = disk.Probe(dir)
	}
	if err != nil {
		disk.RemoveEmpty(made)
		return unwritable(dir, err)
	}
	return nil
}
