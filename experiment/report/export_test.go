package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/atomicfile"
)

// rowPage is a Page whose document is the rows that it got, without their later cells.
type rowPage struct{ lines }

func (p *rowPage) Sample(s *meters.Sample) {
	p.lines = append(p.lines, fmt.Sprintf("sample %.3f", s.T.Seconds()))
}
func (p *rowPage) Packet(r Row) {
	p.lines = append(p.lines, "packet "+r.Text("seq")+"."+r.Text("copy"))
}
func (p *rowPage) Copy() Page                       { return &rowPage{slices.Clone(p.lines)} }
func (p *rowPage) Document(*engine.Result) Document { return p.lines }

// lines is a document of lines.
type lines []string

func (l lines) WriteMarkdown(w io.Writer) error { return l.WriteHTML(w) }
func (l lines) WriteHTML(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(l, "\n"))
	return err
}

// testPages are pages that only list what they got.
var testPages = Pages{Run: func() Page { return &rowPage{} },
	Sweep: func(r *Report) Document { return lines{fmt.Sprint(len(r.Runs), " runs")} }}

// readText returns the text of a file in the folder.
func readText(t *testing.T, folder *atomicfile.Folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder.Path(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// finishedResult returns a result that can be written.
func finishedResult() *engine.Result {
	r := &engine.Result{Config: config.Default().Values()}
	r.DurationNS, r.DurationS = time.Second, 1
	return r
}

// Settled moves the packets below a sequence number to the file and the page, in their order and only when
// there are enough. Write adds the others without moving them.
func TestSettled(t *testing.T) {
	folder, err := OpenFolder(nil, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	e := NewExporter(folder, map[string]string{"seed": "1"}, nil, testPages)
	if e.Observer() != engine.Observer(e) || NewExporter(nil, nil, nil, Pages{}).Observer() != nil {
		t.Error("Observer")
	}
	e.Sample(&meters.Sample{T: meters.SamplePeriod})
	add := func(seq uint64, copyNumber int) {
		e.Packet(&packetlog.Record{Seq: seq, Copy: copyNumber, Outcome: packetlog.Decoded}, nil)
	}
	const n = minSettlePackets
	for seq := uint64(n - 2); seq > 0; seq-- { // n-1 packets: one has a copy
		add(seq, 0)
	}
	add(1, 1)
	e.Settled(n)
	if len(e.list) != n-1 {
		t.Errorf("%d packets, of which too few were settled", len(e.list))
	}
	add(n-1, 0)
	e.Settled(n - 1) // all but the last
	if len(e.list) != 1 || e.list[0].Seq != n-1 || e.settleAt != n {
		t.Errorf("%d packets are left; the next time at %d", len(e.list), e.settleAt)
	}
	for seq := uint64(3 * n); seq >= n; seq-- {
		add(seq, 0)
	}
	e.Settled(n + 1)
	if len(e.list) != 2*n || e.settleAt != 4*n {
		t.Errorf("%d packets are left; the next time at %d", len(e.list), e.settleAt)
	}
	want := []string{"sample 0.100", "packet 1.0", "packet 1.1"}
	for seq := 2; seq <= 3*n; seq++ {
		want = append(want, fmt.Sprintf("packet %d.0", seq))
	}
	r := finishedResult()
	for range 2 { // the second time writes the same
		if err := e.Write(r); err != nil {
			t.Fatal(err)
		}
		if got := readText(t, folder, "report.html"); got != strings.Join(want, "\n") {
			t.Errorf("the page has other rows: %.200q", got)
		}
		if got := strings.Count(readText(t, folder, "packets.csv"), "\n"); got != len(want) { // a head, no sample
			t.Errorf("packets.csv has %d lines, want %d", got, len(want))
		}
	}
	if !strings.Contains(readText(t, folder, "experiment.toml"), "[encoder]") {
		t.Error("experiment.toml has no settings")
	}
	if r.Set["seed"] != "1" || r.Files != nil {
		t.Errorf("set %v, files %v", r.Set, r.Files)
	}
	if _, err := os.Stat(filepath.Join(folder.Path(), "shadows.csv")); err == nil {
		t.Error("shadows.csv without shadows")
	}
	r.SamplesByLane = make([]engine.LaneSamples, 2)
	if err := errors.Join(e.Write(r), e.Close()); err != nil {
		t.Fatal(err)
	}
	readText(t, folder, "shadows.csv")
}

// An exporter without a folder writes nothing, and a session's copy writes the rows that it has.
func TestSessionCopy(t *testing.T) {
	e, r := NewExporter(nil, map[string]string{"seed": "1"}, nil, testPages), finishedResult()
	if err := errors.Join(e.Write(r), e.Close()); err != nil || r.Set["seed"] != "1" {
		t.Errorf("without a folder: %v, %v", r.Set, err)
	}
	folder, err := OpenFolder(nil, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	var k SessionCopy
	for _, seq := range []uint64{2, 1} {
		k.Sample(&meters.Sample{T: time.Duration(3-seq) * meters.SamplePeriod})
		k.Packet(&packetlog.Record{Seq: seq}, nil)
	}
	k.Settled(9)
	if err := k.Write(folder, nil, testPages, r); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, folder, "report.html"); got != "sample 0.100\nsample 0.200\npacket 1.0\npacket 2.0" {
		t.Errorf("%q", got)
	}
}

// The report of a sweep lists the data files with paths relative to its folder, and keeps the folders of runs
// unless it is the first.
func TestWriteSweep(t *testing.T) {
	dir := t.TempDir()
	out, data := filepath.Join(dir, "out"), filepath.Join(dir, "data.bin")
	writeFile(t, data, "data", 1)
	var files Files
	files.Note(data)
	writeFile(t, filepath.Join(out, "run-001", "report.json"), "{}", 1)
	writeFile(t, filepath.Join(out, "experiment.toml"), "", 1)
	if _, err := OpenFolder(nil, out, false); err == nil || !strings.Contains(err.Error(), "holds the results of another run") {
		t.Errorf("a folder with results: %v", err)
	}
	folder, err := OpenFolder(nil, out, true)
	if err != nil {
		t.Fatal(err)
	}
	r := finishedResult()
	r.Set = map[string]string{"seed": "1"}
	sweep := &Report{Sweep: true, Runs: []*engine.Result{r}, Planned: 1}
	for _, pages := range []Pages{{}, testPages} {
		first := pages.Sweep == nil
		if err := WriteSweep(folder, first, config.Default(), sweep, &files, pages); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(readText(t, folder, "report.json"), `"../data.bin"`) || r.Files != nil {
			t.Errorf("files %v", r.Files)
		}
		_, err := os.Stat(filepath.Join(out, "run-001"))
		if kept := err == nil; kept == first {
			t.Errorf("run-001 is kept: %v", kept)
		}
		writeFile(t, filepath.Join(out, "run-001", "report.json"), "{}", 1)
	}
	if got := readText(t, folder, "report.html"); got != "1 runs" {
		t.Errorf("page %q", got)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(out, "mine.txt"), "", 1)
	if _, err := OpenFolder(nil, out, true); err == nil || !strings.Contains(err.Error(), "an empty folder or a new one") {
		t.Errorf("a folder with another file: %v", err)
	}
	if _, err := OpenFolder(nil, data, true); err == nil || CheckDir(nil, filepath.Join(data, "below")) == nil {
		t.Errorf("a file as a folder: %v", err)
	}
	if err := CheckDir(nil, filepath.Join(dir, "new")); err != nil {
		t.Errorf("a new folder: %v", err)
	}
}
