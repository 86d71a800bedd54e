package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/report"
)

// lossy is the configuration of a run with losses, late packets, failures, changes and a shadow.
const lossy = `
seed = 3
duration = "6s"
[link]
latency = "40ms"
jitter = "15ms"
loss = "5%"
[down]
corrupt = "2%"
duplicate = "2%"
[receiver]
history = 6
playout_delay = "60ms"
[[at]]
t = "2s"
encoder = "rotor"
[[at]]
t = "4s"
down.loss = "20%"
[[shadow]]
name = "changed-index"
[assert]
wrong = "== 0"
payload_kbps = "<= 1"
`

// saveRun runs a configuration and saves its report into a folder.
func saveRun(t *testing.T, text string) string {
	t.Helper()
	c, err := config.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var kept report.SessionCopy
	s, err := engine.NewSession(context.Background(), c, engine.Options{Observer: &kept, Inspect: true, KeepPackets: 1024})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(time.Hour); err != nil || !s.Done() {
		t.Fatalf("%v, done %v", err, s.Done())
	}
	dir := filepath.Join(t.TempDir(), "out")
	f, err := report.OpenFolder(nil, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	result := s.Result()
	result.Comparison = lockstep.Compare(s.View(0))
	if err := kept.Write(f, &report.Files{}, Pages(), result); err != nil {
		t.Fatal(err)
	}
	return dir
}

// made returns the page written from the files in a folder.
func made(t *testing.T, paths ...string) string {
	t.Helper()
	list := make([]*Loaded, len(paths))
	for i, path := range paths {
		l, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = l
	}
	var b bytes.Buffer
	var err error
	if len(list) == 1 {
		err = list[0].Write(&b)
	} else {
		err = WriteComparison(&b, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSavedIsMade: the page that a run saves and a page written later from its folder are equal byte
// for byte, and so are two pages written in succession.
func TestSavedIsMade(t *testing.T) {
	dir := saveRun(t, lossy)
	saved, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	again := made(t, dir)
	if string(saved) != again {
		t.Error("the page written from the folder differs from the saved one")
	}
	if again != made(t, filepath.Join(dir, "report.json")) {
		t.Error("two pages of one report differ")
	}
	for _, what := range []string{"then rotor", "nothing decoded wrong", "payload_kbps", "does not hold", "changed-index", "down loss 20%",
		"no baseline", "tui replay report.json", "The charts as a table"} {
		if !strings.Contains(again, what) {
			t.Errorf("the page does not mention %q", what)
		}
	}
}

// TestOrderOfPackets: the order of the packets, which differs during a run, does not affect the page.
func TestOrderOfPackets(t *testing.T) {
	head := []string{"seq", "copy", "send_us", "recv_us", "outcome", "reason", "why"}
	var rows [][]string
	for i := range 3000 {
		row := []string{fmt.Sprint(i), "0", fmt.Sprint(i * 16667), "lost", "lost", "lost", fmt.Sprintf("packet %d was lost", i)}
		if i%3 == 0 {
			row[3], row[4], row[5], row[6] = fmt.Sprint(i*16667+50000+i), "decoded", "", ""
		}
		rows = append(rows, row)
	}
	page := func(order []int) string {
		r := newRows([]string{"t_s"}, head)
		for _, i := range order {
			r.Packet(rows[i])
		}
		var d chartData
		d.timeCharts(r.Clone(), "cube", true, 0, &figures.Playout{})
		text, err := d.marshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return text + fmt.Sprint(problemTables(&r.packets))
	}
	forth, back := make([]int, len(rows)), make([]int, len(rows))
	for i := range rows {
		forth[i], back[i] = i, len(rows)-1-i
	}
	if page(forth) != page(back) {
		t.Error("the page depends on the order of the rows")
	}
}

// TestBounded: the memory for a run is bounded, and the sums are exact.
func TestBounded(t *testing.T) {
	r := newRows([]string{"t_s", "sent", "payload_kbps", "lost"}, []string{"seq", "send_us", "recv_us", "outcome", "reason"})
	const n = 100_000 // of 100 ms: nearly three hours
	for i := range n {
		r.Sample([]string{fmt.Sprintf("%.3f", float64(i+1)/10), "6", fmt.Sprint(i % 100), "1"})
		r.Packet([]string{fmt.Sprint(i), fmt.Sprint(i * 100_000), "lost", "lost", fmt.Sprintf("reason %d", i%500)})
		r.Packet([]string{fmt.Sprint(n + i), fmt.Sprint(i * 100_000), fmt.Sprint(i*100_000 + 20_000), "decoded", ""})
	}
	points := r.series.allPoints()
	if len(points) > maxPoints || len(r.packets.delays.buckets) > maxPoints || len(r.packets.reasons) > maxReasons ||
		len(r.packets.problems[kindLost].stored) > maxEvents {
		t.Errorf("%d points, %d stretches, %d reasons, %d events", len(points), len(r.packets.delays.buckets), len(r.packets.reasons),
			len(r.packets.problems[kindLost].stored))
	}
	var sent, payload, lost, width float64
	for _, p := range points {
		sent, payload, lost, width = sent+p.sent, payload+p.payload, lost+p.lost, width+p.width
	}
	if sent != 6*n || lost != n || math.Abs(payload-float64(n/100)*4950*100) > 1e-3*payload || math.Abs(width-n/10) > 1e-3 {
		t.Errorf("sent %g, lost %g, payload %g bits in %g s", sent, lost, payload, width)
	}
	if got := r.packets.problems[kindLost].total; got != n {
		t.Errorf("%d lost", got)
	}
	seen := int64(0)
	r.packets.delays.forEach(func(_ float64, d delayStats) {
		seen += d.count
		if d.min != 20e6 || d.max != 20e6 {
			t.Errorf("delay %+v", d)
		}
	})
	if seen != n {
		t.Errorf("%d delays", seen)
	}
	if kept := r.packets.sortedProblems(kindLost); len(kept) < maxEvents/4 || kept[len(kept)-1].seq < n*9/10 {
		t.Errorf("%d problems stored, the last of packet %d: not spread over the run", len(kept), kept[len(kept)-1].seq)
	}
}

// hostile is a name that tries to end elements, begin scripts and leave attributes.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'--></script><style>*{}</style>` + "\u2028&amp;"

// TestHostileTexts: names, paths, labels and errors of a report appear only as text.
func TestHostileTexts(t *testing.T) {
	dir := saveRun(t, lossy)
	l, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	plain := made(t, dir)
	r := l.Run.Result
	r.Item, r.Error, r.CodecError = hostile, hostile, hostile
	r.Config["encoder"] = map[string]any{"name": hostile}
	r.Config["data"] = map[string]any{"source": hostile}
	r.Set = map[string]string{hostile: hostile}
	r.Budget = append(r.Budget, figures.BudgetShare{Slot: hostile, Bits: 1, Share: 0.5})
	r.Shadows[0].Encoder = hostile
	r.Files = []engine.DataFile{{Name: hostile, Path: hostile, SHA256: hostile}}
	r.Warnings = []string{hostile}
	r.Assertions = append(r.Assertions, engine.AssertionResult{Name: hostile, Bound: hostile})
	r.Changes[0].Change = config.NewChange("mark", hostile)
	l.Run.Missing = []string{hostile}
	l.Run.Rows.Packet([]string{"99999", "0", "5000000", "lost", "lost", hostile, hostile, "0", "0", "0", "0", "0", "false", hostile, hostile})
	l.Path = hostile
	other, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	sweep := *l.Report
	sweep.Sweep, sweep.Error = true, hostile
	two := *r
	two.Set = map[string]string{hostile: "other"}
	sweep.Runs = []*engine.Result{r, &two}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"run":    func(b *bytes.Buffer) error { return l.Write(b) },
		"beside": func(b *bytes.Buffer) error { return WriteComparison(b, []*Loaded{l, other}) },
		"sweep":  func(b *bytes.Buffer) error { return writeSweep(b, &sweep) },
		"sweeps": func(b *bytes.Buffer) error {
			s := &Loaded{Path: hostile, Report: &sweep}
			return WriteComparison(b, []*Loaded{s, s})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "alert(2)") {
			t.Errorf("%s: the texts are not on the page: nothing was tested", name)
		}
		checkHTML(t, name, b.String())
	}
	checkHTML(t, "plain", plain)
}

// checkHTML parses a page as a browser does and checks its policy: one style, two scripts and the data,
// with the right hashes, and no attribute that styles, runs or fetches anything.
func checkHTML(t *testing.T, name, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var styles, scripts, blocks []string
	var csp string
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
			inline := strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "srcset" || a.Key == "action"
			link := a.Key == "href" && !strings.HasPrefix(a.Val, "#") && a.Val != "data:,"
			if inline || link {
				t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
			}
		}
		if id := at["id"]; id != "" {
			if ids[id] {
				t.Errorf("%s: the id %q is there twice", name, id)
			}
			ids[id] = true
		}
		text := ""
		if n.FirstChild != nil {
			text = n.FirstChild.Data
		}
		switch n.Data {
		case "meta":
			if at["http-equiv"] == "Content-Security-Policy" {
				csp = at["content"]
			}
		case "style":
			styles = append(styles, text)
		case "script":
			if at["type"] == "application/json" {
				blocks = append(blocks, text)
			} else {
				scripts = append(scripts, text)
			}
		case "img", "iframe", "object", "embed", "base", "form", "audio", "video", "foreignobject":
			t.Errorf("%s: a <%s>", name, n.Data)
		}
	}
	if len(styles) != 1 || len(scripts) != 2 || len(blocks) != 1 {
		t.Fatalf("%s: %d styles, %d scripts, %d blocks of data", name, len(styles), len(scripts), len(blocks))
	}
	for _, want := range []string{"default-src 'none'", "style-src " + cspHash(styles[0]) + ";", cspHash(scripts[0]), cspHash(scripts[1])} {
		if !strings.Contains(csp, want) {
			t.Errorf("%s: the policy lacks %s: %s", name, want, csp)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
		t.Errorf("%s: the policy is %s", name, csp)
	}
	if !json.Valid([]byte(blocks[0])) {
		t.Errorf("%s: the data are no JSON", name)
	}
}

// TestNoAddresses: the page contains no URL except in the licence.
func TestNoAddresses(t *testing.T) {
	page := made(t, saveRun(t, lossy))
	for _, url := range regexp.MustCompile(`(https?:)?//[a-z][^\s"'<>)]*`).FindAllString(page, -1) {
		if !slices.Contains([]string{"https://github.com/leeoniya/uPlot"}, url) {
			t.Errorf("the page names %s", url)
		}
	}
}

// TestSize: the page is at most 300 kB in addition to its data.
func TestSize(t *testing.T) {
	page := made(t, saveRun(t, lossy))
	from := strings.Index(page, `id="data">`)
	block := strings.Index(page[from:], "</script>")
	if rest := len(page) - block; rest > 300_000 {
		t.Errorf("%d bytes in addition to the data", rest)
	}
	if block > 300_000 {
		t.Errorf("%d bytes of data", block)
	}
}

// TestWithoutRows: the page of a report without CSV files, or with damaged ones, mentions what is missing.
func TestWithoutRows(t *testing.T) {
	dir := saveRun(t, lossy)
	for _, name := range []string{"samples.csv", "packets.csv"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	page := made(t, dir)
	for _, what := range []string{"samples.csv is not in the folder of the report", "packets.csv is not in the folder of the report", "nothing decoded wrong", "Outcomes of packets"} {
		if !strings.Contains(page, what) {
			t.Errorf("the page does not say %q", what)
		}
	}
	checkHTML(t, "without rows", page)
	if err := os.WriteFile(filepath.Join(dir, "samples.csv"), []byte("t_s,payload_kbps\n0.100,5\n\"broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	page = made(t, dir)
	if what := "samples.csv cannot be read from line 3 on"; !strings.Contains(page, what) {
		t.Errorf("the page does not say %q", what)
	}
}

// TestSavedReports: saved reports of every kind have pages.
func TestSavedReports(t *testing.T) {
	paths, err := filepath.Glob("../testdata/reports/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		checkHTML(t, path, made(t, path))
	}
	checkHTML(t, "side by side", made(t, paths...))
}

// FuzzRows: any CSV file results in a page, in bounded memory and time.
func FuzzRows(f *testing.F) {
	f.Add("t_s,payload_kbps\n0.1,5\n", "seq,send_us,recv_us,outcome,reason,why\n1,5,lost,lost,lost,x\n")
	f.Add("t_s\n-1e308\nNaN\n1e300\n", "seq,send_us,recv_us,outcome\n-1,-9e99,9e99,decoded\n1e99,1e99,0,stale\n")
	f.Fuzz(func(t *testing.T, samples, packets string) {
		rows := newRows(nil, nil)
		feed := func(text string, head func([]string), row func([]string)) {
			for i, line := range strings.Split(text, "\n") {
				if i == 0 {
					head(strings.Split(line, ","))
				} else {
					row(strings.Split(line, ","))
				}
			}
		}
		feed(samples, func(h []string) { rows.sampleHead = columnsOf(h) }, rows.Sample)
		feed(packets, func(h []string) { rows.packetHead = columnsOf(h) }, rows.Packet)
		var d chartData
		d.timeCharts(rows.Clone(), "cube", true, 0, &figures.Playout{})
		problemTables(&rows.packets)
		timeTable(rows.series.allPoints(), "cube")
		if text, err := d.marshalJSON(); err != nil || !json.Valid([]byte(text)) {
			t.Fatal(text, err)
		}
	})
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n          int64
		noun, want string
	}{{0, "packet", "0 packets"}, {1, "entity", "1 entity"}, {2880, "frame", "2,880 frames"}, {1023, "entity", "1,023 entities"}} {
		if got := formatCount(c.n, c.noun); got != c.want {
			t.Errorf("count(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

// The means in the charts are those of the totals: weighted, although the samples have different numbers of changed
// cubes.
func TestChartMeansAreWeighted(t *testing.T) {
	l, err := Load(saveRun(t, "seed = 3\nduration = \"6s\"\n[encoder]\nname = \"changed-index\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	d, x := l.Run.document(), &l.Run.Result.Totals
	unweighted := false // the mean of the samples differs from the weighted one: the test tests something
	for title, want := range map[string]float64{"Bits per changed cube, 2 s mean": x.BitsPerChangedCube.Or(0), "Bandwidth, 2 s mean": x.PayloadKbps} {
		i := slices.IndexFunc(d.data.Charts, func(c chart) bool { return c.Title == title })
		if i < 0 {
			t.Fatalf("no chart %q", title)
		}
		c := &d.data.Charts[i]
		mean, sum, n := float64(*c.Lines[0].Mean), 0.0, 0.0
		for _, y := range c.Lines[0].Y {
			if f := float64(y); !math.IsNaN(f) {
				sum, n = sum+f, n+1
			}
		}
		unweighted = unweighted || math.Abs(sum/n-mean) > 0.01*mean
		if math.Abs(mean-want) > 1e-3*want || !strings.Contains(c.Label, "mean "+formatNumber(mean)+",") {
			t.Errorf("%s: the mean is %g, the total %g: %s", title, mean, want, c.Label)
		}
	}
	if !unweighted {
		t.Error("weighted and unweighted means are the same: the test tests nothing")
	}
}

// The charts over time show means of the two seconds that end with a sample. A loop point of the recording, which makes
// packets large, does not set the scale, also if the samples around it are merged.
func TestChartsOfTwoSecondMeans(t *testing.T) {
	const loopAt, n = 300, 600
	r := newRows([]string{"t_s", "sent", "payload_kbps", "wire_kbps", "bits_per_changed", "across"}, nil)
	kbps := make([]float64, n)
	for i := range kbps {
		across := 0
		if kbps[i] = 100 + float64(i%10); i == loopAt {
			kbps[i], across = 2476, 1
		}
		text := formatTestRow(float64(i+1)/10, 6, kbps[i], kbps[i]+13, 20, float64(across))
		r.Sample(text)
	}
	var d chartData
	d.timeCharts(r, "cube", true, 0, &figures.Playout{})
	c := &d.Charts[0]
	for i, got := range c.Lines[0].Y {
		sum, samples := 0.0, 0.0
		for _, v := range kbps[max(i-19, 0) : i+1] {
			sum, samples = sum+v, samples+1
		}
		if want := sum / samples; math.Abs(float64(got)-want) > 1e-6*want {
			t.Fatalf("sample %d is %v, want %v", i, got, want)
		}
	}
	if len(c.Loops) != 20 || c.Loops[0] != loopAt || c.Loops[19] != loopAt+19 {
		t.Errorf("the values at the loop point have indices %v", c.Loops)
	}
	if c.Top != 0 { // the other values are all near 100
		t.Errorf("the scale ends at %v", c.Top)
	}
	if !strings.HasSuffix(c.Title, ", 2 s mean") {
		t.Errorf("the title is %q", c.Title)
	}
	merged := mergePoints(r.series.allPoints(), n/50) // five seconds each
	if got := describeMean(merged); got != ", 5 s mean" {
		t.Errorf("points of 5 s have the title %q", got)
	}
	if got := loopPoints(merged); len(got) != 1 || got[0] != loopAt/50 {
		t.Errorf("merged points at the loop point: %v", got)
	}
}

// formatTestRow returns the cells of a row of a CSV file.
func formatTestRow(numbers ...float64) (row []string) {
	for _, v := range numbers {
		row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return row
}
