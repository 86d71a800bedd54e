package page

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
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
	s, err := engine.NewSession(context.Background(), c,
		engine.Options{Observer: &kept, Inspect: true, KeepPackets: 1024})
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

// loaded returns the document of the report at path.
func loaded(t *testing.T, path string) *Document {
	t.Helper()
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return l.Document()
}

// compared returns the comparison of the reports at paths.
func compared(t *testing.T, paths ...string) *Document {
	t.Helper()
	list := make([]*Loaded, len(paths))
	for i, path := range paths {
		l, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = l
	}
	return Compare(list)
}

// TestSavedIsMade: report.md and report.html that a run saves and those made later from its folder are equal
// byte for byte, and have what happened in the run.
func TestSavedIsMade(t *testing.T) {
	dir := saveRun(t, lossy)
	d := loaded(t, dir)
	page, markdown := render(t, d)
	if string(readFile(t, filepath.Join(dir, "report.html"))) != page ||
		string(readFile(t, filepath.Join(dir, "report.md"))) != markdown {
		t.Error("the files made from the folder differ from the saved ones")
	}
	if again, _ := render(t, loaded(t, filepath.Join(dir, "report.json"))); again != page {
		t.Error("two pages of one report differ")
	}
	testkit.CheckMarkdown(t, "report.md", markdown)
	if x := d.Tiles[0]; x.Name != "payload" || !strings.Contains(d.Headline, x.Value+" "+x.Unit) {
		t.Errorf("the first tile is %+v, the headline %q", x, d.Headline)
	}
	for text, in := range map[string]string{", rotor": d.Headline, "nothing decoded wrong": d.Headline,
		"does not hold": fmt.Sprint(tablesOf(sectionOf(d,
			"assertions"))[0].Rows), "changed-index": fmt.Sprint(tablesOf(sectionOf(d, "shadows"))[0].Rows),
		"down loss 20%": fmt.Sprint(tablesOf(sectionOf(d, "changes"))[0].Rows,
			d.Marks), "no baseline": fmt.Sprint(tablesOf(sectionOf(d, "packets"))[0].Rows),
		"The charts as a table": tablesOf(sectionOf(d,
			"charts"))[0].Caption, "tui replay report.json": fmt.Sprint(sectionOf(d, "again").Blocks),
		"payload_kbps":         fmt.Sprint(columnOf(tablesOf(sectionOf(d, "figures"))[1], "key")),
		"relative-orientation": tablesOf(sectionOf(d, "figures"))[0].Rows[0][0].Text, "rotor": tablesOf(sectionOf(d, "figures"))[0].Rows[1][0].Text} {
		if !strings.Contains(in, text) {
			t.Errorf("%q is not in %s", text, in)
		}
	}
}

// testPacket returns a row of packets.csv.
var testPacket = report.NewRows([]string{"seq", "copy", "send_us", "recv_us", "outcome", "reason", "why"})

// TestOrderOfPackets: the order of the packets, which differs during a run, does not affect the page.
func TestOrderOfPackets(t *testing.T) {
	var lines [][]string
	for i := range 3000 {
		row := []string{fmt.Sprint(i), "0", fmt.Sprint(i * 16667), "lost", "lost", "lost",
			fmt.Sprintf("packet %d was lost", i)}
		if i%3 == 0 {
			row[3], row[4], row[5], row[6] = fmt.Sprint(i*16667+50000+i), "decoded", "", ""
		}
		lines = append(lines, row)
	}
	page := func(order []int) string {
		r := &rows{}
		for _, i := range order {
			r.Packet(testPacket(lines[i]))
		}
		list, _ := r.Clone().overTime(timeCharts("cube", true, &figures.Playout{}), 0)
		d := &Document{}
		d.add("charts", "", list)
		d.add("packets", "", problemTables(&r.packets)...)
		page, _ := render(t, d)
		return page
	}
	forth, back := make([]int, len(lines)), make([]int, len(lines))
	for i := range lines {
		forth[i], back[i] = i, len(lines)-1-i
	}
	if page(forth) != page(back) {
		t.Error("the page depends on the order of the rows")
	}
}

// TestBounded: the memory for a run is bounded, and the sums are exact.
func TestBounded(t *testing.T) {
	r := &rows{}
	const n = 100_000 // of 100 ms: nearly three hours
	for i := range n {
		r.Sample(&meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, Width: meters.SamplePeriod, Counts: figures.Counts{Sent: 6, Lost: 1},
			Sizes: meters.Sizes{PayloadBits: int64(i % 100 * 100)}})
		r.Packet(testPacket([]string{fmt.Sprint(i), "0", fmt.Sprint(i * 100_000), "lost", "lost", fmt.Sprintf("reason %d", i%500)}))
		r.Packet(testPacket([]string{fmt.Sprint(n + i), "0", fmt.Sprint(i * 100_000), fmt.Sprint(i*100_000 + 20_000), "decoded"}))
	}
	points := r.series.points
	if len(points) > maxPoints || len(r.packets.delays.buckets) > maxPoints ||
		len(r.packets.reasons) > maxReasons ||
		len(r.packets.problems[kindLost].stored) > 2*maxEvents {
		t.Errorf("%d points, %d stretches, %d reasons, %d events", len(points),
			len(r.packets.delays.buckets), len(r.packets.reasons),
			len(r.packets.problems[kindLost].stored))
	}
	sum := joinPoints(points, 1)[0]
	if sum.Sent != 6*n || sum.Lost != n || sum.PayloadBits != n/100*4950*100 || sum.Width != n*meters.SamplePeriod {
		t.Errorf("sent %d, lost %d, payload %d bits in %v", sum.Sent, sum.Lost, sum.PayloadBits, sum.Width)
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
		t.Errorf("%d problems stored, the last of packet %d: not spread over the run", len(kept),
			kept[len(kept)-1].seq)
	}
}

// TestSelfContained: the page has at most 300 kB in addition to its data, and no address except in the
// licence.
func TestSelfContained(t *testing.T) {
	page, _ := render(t, loaded(t, saveRun(t, lossy)))
	checkHTML(t, "page", page)
	if data := len(dataOf.FindString(page)); data > 300_000 || len(page)-data > 300_000 {
		t.Errorf("%d bytes, of which %d are data", len(page), data)
	}
	for _, url := range regexp.MustCompile(`(https?:)?//[a-z][^\s"'<>)]*`).FindAllString(page, -1) {
		if url != "https://github.com/leeoniya/uPlot" {
			t.Errorf("the page names %s", url)
		}
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
	d := loaded(t, dir)
	notes := strings.Join(d.Notes, "\n")
	if !strings.Contains(notes, "samples.csv is not in the folder of the report") ||
		!strings.Contains(notes, "packets.csv is not in the folder of the report") {
		t.Errorf("the notes are %q", notes)
	}
	if len(chartsOf(sectionOf(d, "charts"))) > 0 || len(tablesOf(sectionOf(d, "packets"))) != 0 {
		t.Error("charts or lists of packets without rows")
	}
	if err := os.WriteFile(filepath.Join(dir, "samples.csv"), []byte("t_s,payload_kbps\n0.100,5\n\"broken"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(loaded(t, dir).Notes, "\n"); !strings.Contains(notes,
		"samples.csv cannot be read from line 3 on") {
		t.Errorf("the notes are %q", notes)
	}
}

// TestSavedReports: saved reports of every kind have pages.
func TestSavedReports(t *testing.T) {
	paths, err := filepath.Glob("../testdata/reports/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	documents := []*Document{compared(t, paths...)}
	for _, path := range paths {
		documents = append(documents, loaded(t, path))
	}
	for _, d := range documents {
		page, markdown := render(t, d)
		checkHTML(t, d.Title, page)
		testkit.CheckMarkdown(t, d.Title, markdown)
	}
}

// FuzzRows: any CSV file results in a page, in bounded memory and time.
func FuzzRows(f *testing.F) {
	f.Add("t_s,payload_kbps\n0.1,5\n", "seq,send_us,recv_us,outcome,reason,why\n1,5,lost,lost,lost,x\n")
	f.Add("t_s\n-1e308\nNaN\n1e300\n",
		"seq,send_us,recv_us,outcome\n-1,-9e99,9e99,decoded\n1e99,1e99,0,stale\n")
	f.Fuzz(func(t *testing.T, samples, packets string) {
		var rows rows
		feed := func(text string, add func(report.Row)) {
			head, lines, _ := strings.Cut(text, "\n")
			newRow := report.NewRows(strings.Split(head, ","))
			for line := range strings.SplitSeq(lines, "\n") {
				add(newRow(strings.Split(line, ",")))
			}
		}
		feed(samples, func(row report.Row) {
			s := meters.ReadSample(row.Text)
			rows.Sample(&s)
		})
		feed(packets, rows.Packet)
		list, table := rows.Clone().overTime(timeCharts("cube", true, &figures.Playout{}), 0)
		d := &Document{}
		d.add("charts", "", list, table)
		d.add("packets", "", problemTables(&rows.packets)...)
		page, markdown := render(t, d)
		testkit.CheckHTML(t, "page", page)
		testkit.CheckTerminalText(t, "markdown", markdown)
	})
}

// The means in the charts are those of the totals: weighted, although the samples have different numbers of
// changed cubes.
func TestChartMeansAreWeighted(t *testing.T) {
	l, err := Load(saveRun(t, "seed = 3\nduration = \"6s\"\n[encoder]\nname = \"changed-index\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	list, x := chartsOf(sectionOf(l.Document(), "charts")), &l.Run.Result.Totals
	unweighted := false // the mean of the samples differs from the weighted one: the test tests something
	for title, want := range map[string]float64{"Bits per changed cube, 2 s mean": x.BitsPerChangedCube.Or(0), "Bandwidth, 2 s mean": x.PayloadKbps} {
		i := slices.IndexFunc(list, func(c *chart) bool { return c.Title == title })
		if i < 0 {
			t.Fatalf("no chart %q", title)
		}
		c := list[i]
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

// The charts over time show means of the two seconds that end with a sample. A loop point of the recording,
// which makes packets large, does not set the scale, also if the samples around it are merged.
func TestChartsOfTwoSecondMeans(t *testing.T) {
	const loopAt, n = 300, 600
	r := &rows{}
	kbps := make([]float64, n)
	for i := range kbps {
		across := 0
		if kbps[i] = 100 + float64(i%10); i == loopAt {
			kbps[i], across = 2476, 1
		}
		bits := int64(100 * kbps[i])
		r.Sample(&meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, Width: meters.SamplePeriod,
			Sizes: meters.Sizes{PayloadBits: bits, WireBits: bits + 1300, Changed: bits / 20, CrossingLoop: across}})
	}
	defined := timeCharts("cube", true, &figures.Playout{})
	list, _ := r.overTime(defined, 0)
	c := list[0]
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
	merged := joinPoints(r.series.points, n/50) // five seconds each
	for i := range defined[0].lines {
		defined[0].lines[i].points = merged
	}
	if got := defined[0].draw().Title; got != "Bandwidth, 5 s mean" {
		t.Errorf("points of 5 s have the title %q", got)
	}
	for i := range merged {
		if isLoop := crossesLoop(recent(merged[:i+1])); isLoop != (i == loopAt/50) {
			t.Errorf("merged point %d is at a loop point: %v", i, isLoop)
		}
	}
}
