package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/atomicfile"
	"wirelab/internal/units"
)

// Exporter writes the folder of a report while a session runs. It implements engine.Observer. Rows of
// the CSV files are written to disk as they arrive, so the memory does not grow with the length of the
// run. Write replaces all files of the folder, or none if it fails. Close the exporter after use.
type Exporter struct {
	Set              map[string]string  // settings of the run in a sweep; nil otherwise
	folder           *atomicfile.Folder // nil if no report is written
	files            *Files             // data files that the run reads
	pages            Pages
	samples, packets *csvLog         // nil before begin
	others           []*csvLog       // of what only some runs have, since their first rows
	packetList                       // packets with an outcome that are not in the packets file yet
	settleAt         int             // length of packetList at which Settled moves packets to the file
	recent           []meters.Sample // of the last two seconds
	page             Page            // of report.md and report.html; nil if none
}

// minSettlePackets is the minimum of Exporter.settleAt.
const minSettlePackets = 1024

// NewExporter returns an exporter to folder, or one that writes nothing if folder is nil. set contains
// the settings of the run in a sweep, files the data files that the run reads. pages makes
// report.md and report.html.
func NewExporter(folder *atomicfile.Folder, set map[string]string, files *Files, pages Pages) *Exporter {
	return &Exporter{folder: folder, Set: set, files: files, pages: pages, settleAt: minSettlePackets}
}

// begin creates the CSV files and the page, unless they exist.
func (e *Exporter) begin() {
	if e.samples != nil {
		return
	}
	e.samples = newCSVLog(e.folder, "samples.csv", meters.Heads())
	e.packets = newCSVLog(e.folder, "packets.csv", packetHead())
	if e.pages.Run != nil {
		e.page = e.pages.Run()
	}
}

// Observer returns the exporter as the observer of a session; nil if it has no folder.
func (e *Exporter) Observer() engine.Observer {
	if e.folder == nil {
		return nil
	}
	return e
}

func (e *Exporter) Sample(s *meters.Sample) {
	e.begin()
	const twoSeconds = int(2 * time.Second / meters.SamplePeriod)
	e.recent = append(e.recent[max(0, len(e.recent)-twoSeconds+1):], *s)
	e.samples.addRow(meters.Row(e.recent))
	e.addPlayouts(s)
	e.addQueue(s)
	e.addControl(s)
	if e.page != nil {
		e.page.Sample(s)
	}
}

// addRow adds a row to a CSV file that only some runs have, and creates the file if necessary.
func (e *Exporter) addRow(name string, head []string, row ...string) {
	i := slices.IndexFunc(e.others, func(l *csvLog) bool { return l.name == name })
	if i < 0 {
		i = len(e.others)
		e.others = append(e.others, newCSVLog(e.folder, name, head))
	}
	e.others[i].addRow(row)
}

// addPlayouts adds the rows of a sample to playout.csv: one for each compared playout policy.
func (e *Exporter) addPlayouts(s *meters.Sample) {
	head := []string{"t_s", "policy", "displayed", "starved", "age_ms"}
	for i := range s.Playouts {
		p := &s.Playouts[i]
		age := figures.RatioFigure(units.Milliseconds(p.Age), float64(p.Shown))
		e.addRow("playout.csv", head, units.Fixed(s.T.Seconds(), 3), p.Policy, strconv.Itoa(p.Shown),
			strconv.Itoa(p.Starved), age.FormatWith(func(v float64) string { return units.Fixed(v, 3) }, ""))
	}
}

// addQueue adds the rows of a sample to queue.csv: one for each owner of packets in the queue. Owner 0 is the
// session, owner n the n-th flow of other traffic in report.json.
func (e *Exporter) addQueue(s *meters.Sample) {
	if s.Queue.Flows == nil {
		return
	}
	head := []string{"t_s", "owner", "bytes", "ms"}
	for owner, bytes := range append([]int64{s.Queue.Bytes}, s.Queue.Flows...) {
		e.addRow("queue.csv", head, units.Fixed(s.T.Seconds(), 3), strconv.Itoa(owner),
			strconv.FormatInt(bytes, 10), units.Fixed(units.Milliseconds(s.Queue.DelayOf(bytes)), 3))
	}
}

// addControl adds the row of a sample to control.csv, if a send-rate control was active.
func (e *Exporter) addControl(s *meters.Sample) {
	if !s.Controlled {
		return
	}
	target := ""
	if s.TargetBps > 0 {
		target = units.Fixed(float64(s.TargetBps)/1000, 3)
	}
	e.addRow("control.csv", []string{"t_s", "sent", "held", "target_kbps"}, units.Fixed(s.T.Seconds(), 3),
		strconv.FormatInt(s.Sent, 10), strconv.Itoa(s.Held), target)
}

// Settled implements engine.Observer: the outcomes of all packets below seq are known. Packets get their
// outcomes in another order than they were sent. Settled sorts the packets in e.list and moves those below
// seq to packets.csv. It does so only when the list has doubled since the last time, so that the mean cost
// per packet stays constant.
func (e *Exporter) Settled(seq uint64) {
	if len(e.list) < e.settleAt {
		return
	}
	e.sort()
	compareSeq := func(p packetEntry, seq uint64) int { return cmp.Compare(p.Seq, seq) }
	n, _ := slices.BinarySearchFunc(e.list, seq, compareSeq)
	for i := range e.list[:n] {
		row := packetRow(&e.list[i])
		e.packets.addRow(row)
		if e.page != nil {
			e.page.Packet(newPacketRow(row))
		}
	}
	e.list = append(e.list[:0], e.list[n:]...) // n packets were moved to the file
	e.settleAt = max(minSettlePackets, 2*len(e.list))
}

// Write replaces the files of the folder by the report of r, and sets r.Set. Packets that Settled has not
// moved to the packets file are written too, but stay in the list, because more may come before them. Without
// a folder, Write only sets r.Set.
func (e *Exporter) Write(r *engine.Result) error {
	r.Set = e.Set
	if e.folder == nil {
		return nil
	}
	e.begin()
	e.sort()
	unsettled := make([][]string, len(e.list))
	for i := range e.list {
		unsettled[i] = packetRow(&e.list[i])
	}
	x := *r // the caller's result does not get the paths relative to this folder
	x.Files = e.files.List(e.folder.Path())
	entries := []atomicfile.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeTOML(w, &x) }},
		atomicfile.JSON("report.json", &Report{Runs: []*engine.Result{&x}}),
	}
	for _, log := range e.others {
		entries = append(entries, log.logEntry())
	}
	if len(x.Clients) == 0 { // a crowd has no samples and no list of packets
		entries = append(entries, e.samples.logEntry(), e.packets.logEntry(unsettled...))
	} else {
		entries = append(entries, atomicfile.Entry{Name: "clients.csv",
			Write: func(w io.Writer) error { return writeClients(w, x.Clients) }})
	}
	if len(x.SamplesByLane) > 1 {
		entries = append(entries, atomicfile.Entry{Name: "shadows.csv",
			Write: func(w io.Writer) error { return writeSideBySide(w, x.SamplesByLane) }})
	}
	if x.Priorities != nil {
		entries = append(entries, atomicfile.Entry{Name: "priorities.csv",
			Write: func(w io.Writer) error { return writePriorities(w, x.Priorities) }})
	}
	if e.page == nil && len(x.Clients) > 0 && e.pages.Run != nil {
		e.page = e.pages.Run()
	}
	if e.page != nil {
		p := e.page.Copy()
		for _, row := range unsettled {
			p.Packet(newPacketRow(row))
		}
		entries = append(entries, DocumentEntries(p.Document(&x))...)
	}
	return WriteError(e.folder.Write(entries))
}

// Close removes the temporary files of the folder.
func (e *Exporter) Close() error {
	if e.folder == nil {
		return nil
	}
	return WriteError(e.folder.Close())
}

// ErrWrite is wrapped by errors about a report that could not be written. Those errors also wrap the
// error of the file system.
var ErrWrite = errors.New("the report cannot be written")

// WriteError returns an error that wraps both ErrWrite and err; nil if err is nil.
func WriteError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWrite, err)
}

// WriteSweep writes the files of a sweep's report: the results so far, the pages that compare them, and
// the configuration. The runs have their own folders below. first means that this is the first call for
// the folder: then the results of an earlier run in it are removed.
func WriteSweep(folder *atomicfile.Folder, first bool, c *config.Config, r *Report, files *Files,
	pages Pages) error {
	x := *r
	x.Runs = make([]*engine.Result, len(r.Runs))
	dataFiles := files.List(folder.Path()) // with paths relative to the sweep's folder, not to the run's
	for i, run := range r.Runs {
		copied := *run
		copied.Files = dataFiles
		x.Runs[i] = &copied
	}
	entries := []atomicfile.Entry{
		{Name: "experiment.toml", Write: func(w io.Writer) error { return writeConfig(w, c) }},
		{Name: "summary.csv", Write: func(w io.Writer) error { return writeSummary(w, &x) }},
		atomicfile.JSON("report.json", &x),
	}
	if pages.Sweep != nil {
		entries = append(entries, DocumentEntries(pages.Sweep(&x))...)
	}
	if first {
		return WriteError(folder.Write(entries))
	}
	return WriteError(folder.Update(entries))
}

// writeTOML writes the configuration that repeats the run, with the changes as its script and the
// actual duration.
func writeTOML(w io.Writer, r *engine.Result) error {
	c, err := r.Replayable()
	if err != nil {
		return err
	}
	return writeConfig(w, c)
}

// writeConfig writes a configuration as TOML.
func writeConfig(w io.Writer, c *config.Config) error {
	text, err := c.TOML()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// reportFileName matches the names of a report's files and folders.
var reportFileName = regexp.MustCompile(`^(experiment\.toml|samples\.csv|shadows\.csv|playout\.csv|control\.csv|queue\.csv|priorities\.csv|packets\.csv|clients\.csv|summary\.csv|report\.(md|json|html)|run-[0-9]{3,})$`)

// OpenFolder opens dir for a report, and creates it if necessary. It returns an error if dir contains
// other files, or if it contains the report of another run and force is false.
func OpenFolder(disk *atomicfile.Disk, dir string, force bool) (*atomicfile.Folder, error) {
	return OpenFolderMatching(disk, dir, reportFileName.MatchString, force, "--force to replace them")
}

// OpenFolderMatching opens folder dir for results. isResult reports whether a file name is one of the
// results. If dir contains results already, they are replaced if force is true; otherwise the error message
// recommends "an empty folder or a new one, or " followed by alternative. If another process has dir open,
// the error is an *atomicfile.LockedError.
func OpenFolderMatching(disk *atomicfile.Disk, dir string, isResult func(name string) bool, force bool,
	alternative string) (*atomicfile.Folder, error) {
	f, err := disk.Open(dir, isResult, force)
	switch {
	case errors.As(err, new(*atomicfile.LockedError)):
		return nil, err
	case errors.Is(err, atomicfile.ErrHasResults):
		return nil, &config.Error{Key: "out", Problem: dir + " holds the results of another run",
			Expected: "an empty folder or a new one, or " + alternative}
	case errors.Is(err, atomicfile.ErrHasOtherFiles), errors.Is(err, atomicfile.ErrNotReplaceable):
		return nil, &config.Error{Key: "out", Problem: dir + " " + err.Error(),
			Expected: "an empty folder or a new one"}
	case err != nil:
		return nil, unwritableError(dir, err)
	}
	return f, nil
}

// unwritableError returns the error of a folder that cannot be written because of err.
func unwritableError(dir string, err error) error {
	return &config.Error{Key: "out", Problem: dir + " cannot be written: " + config.WithoutPath(err),
		Expected: "a folder for the report",
		Cause:    err}
}

// CheckDir returns an error if reports cannot be written below dir. To find out, it creates dir if
// necessary, and a temporary file in it.
func CheckDir(disk *atomicfile.Disk, dir string) error {
	if _, err := disk.Prepare(dir); err != nil {
		return unwritableError(dir, err)
	}
	return nil
}
