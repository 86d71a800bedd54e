package page

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
	"wirelab/internal/texttable"
)

// render returns the document as a page and as Markdown.
func render(t testing.TB, d *Document) (page, markdown string) {
	t.Helper()
	var h, m strings.Builder
	if err := d.WriteHTML(&h); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteMarkdown(&m); err != nil {
		t.Fatal(err)
	}
	return h.String(), m.String()
}

// sectionOf returns the section or answer with the given ID; one without blocks if the document has none.
func sectionOf(d *Document, id string) section {
	all := slices.Concat(d.Answers, d.Sections)
	if i := slices.IndexFunc(all, func(s section) bool { return s.ID == id }); i >= 0 {
		return all[i]
	}
	return section{}
}

// chartsOf returns the charts of a section.
func chartsOf(s section) (list charts) {
	for _, b := range s.Blocks {
		if c, ok := b.(charts); ok {
			list = append(list, c...)
		}
	}
	return list
}

// tablesOf returns the tables of a section.
func tablesOf(s section) (list []*table) {
	for _, b := range s.Blocks {
		if t, ok := b.(*table); ok {
			list = append(list, t)
		}
	}
	return list
}

// paragraphsOf returns the paragraphs of a section as one text.
func paragraphsOf(s section) (text string) {
	for _, b := range s.Blocks {
		if p, ok := b.(paragraph); ok {
			text += string(p) + "\n"
		}
	}
	return text
}

// columnOf returns the texts of a column of the table.
func columnOf(t *table, title string) (texts []string) {
	k := slices.IndexFunc(t.Heads, func(h texttable.Head) bool { return h.Text == title })
	for _, row := range t.Rows {
		texts = append(texts, row[k].Text)
	}
	return texts
}

// documentOf returns a document with every block, in which all texts are text.
func documentOf(text string) *Document {
	list := []string{text, text}
	d := &Document{Title: text, Headline: text, Verdict: passedVerdict, Meta: list, Alarms: list,
		Notes: list, Marks: []mark{{1, text}}}
	d.tile(text, text, text)
	tables := make([]*table, 3)
	for i := range tables {
		tables[i] = newTable(text, text, ">"+text)
		tables[i].add(text, texttable.Cell{Text: text, Class: "good"})
	}
	tables[1].Folded = true
	tables[2].Heat = true
	c := &chart{Title: text, Unit: text, Axis: timeAxis, X: []axisValue{1, 2}, Label: text, Marked: true,
		Lines: []line{{Name: text, Color: 1, Y: []value{3, noValue}}}}
	rows := &chart{Axis: text, X: []axisValue{1}, Ticks: []string{text}, Rows: []string{text},
		Notes: []string{text}, Lines: []line{{Y: []value{0}, Kind: "dots"}}}
	points := newScatter(text, &figures.Row{Title: text}, &figures.Row{Unit: text},
		[]dots{{text, "line", []dot{{Name: text, X: exactly(1), Y: exactly(2), Tag: text}}}})
	d.answer("answer", text, paragraph(text), charts{points})
	d.add("section", text, charts{c, rows}, newStrip([]string{text}, []float64{1}), tables[0], tables[1],
		tables[2], code{text, text}, code{"", text})
	return d
}

// FuzzDocument: whatever the texts of a document are, they add no markup, script or control character to
// either of its forms.
func FuzzDocument(f *testing.F) {
	for _, text := range testkit.HostileTexts {
		f.Add(text)
	}
	f.Add("\"><script>alert(1)</script><img src=x onerror=alert(2)>'--></script><style>*{}</style>\u2028&amp;")
	f.Add("a | b `c` [d](e)\n```\n# FORGED\n```\n<b>")
	f.Fuzz(func(t *testing.T, text string) {
		page, markdown := render(t, documentOf(text))
		testkit.CheckHTML(t, "page", page)
		checkHTML(t, "page", page)
		if !strings.Contains(markdown, "\n```\n") {
			t.Error("no code")
		}
		fence := regexp.MustCompile("(?s)\n```\n.*?\n```\n")
		testkit.CheckMarkdown(t, "markdown", fence.ReplaceAllString(markdown, ""))
	})
}

// Both forms have the texts of all blocks, except that Markdown leaves out details, and charts that are not
// over time.
func TestRenderers(t *testing.T) {
	d := &Document{Title: "title", Verdict: failedVerdict, Headline: "headline", Alarms: []string{"alarm"},
		Notes: []string{"note"}, Meta: []string{"fact", "other"}}
	d.tile("tile", "7", "kbps")
	details := newTable("details", "detail")
	details.Folded = true
	details.add("folded")
	list := newTable("caption", "name", ">number")
	list.add("row", 1234.0)
	d.answer("first", "First section", paragraph("prose"), newTable("", "empty"))
	over := &chart{Title: "Over time", Unit: "kbps", Axis: timeAxis, X: []axisValue{1, 2},
		Lines: []line{{Name: "line", Y: []value{1, 2}}}}
	d.add("second", "Second section", charts{over, newScatter("Scatter", &figures.Row{}, &figures.Row{}, nil)}, list, details,
		code{Text: "command"}, code{"file", "content"})
	d.add("third", "Section without content", paragraph(""), charts(nil), newTable("", "empty"))
	page, markdown := render(t, d)
	for _, text := range []string{"title", failedVerdict, "headline", "alarm", "note", "fact", "other",
		"First section", "prose",
		"Second section", "Over time", "line", "caption", "number", "row", "1,234", "command"} {
		if !strings.Contains(strings.NewReplacer("</b>", "", "&#43;", "+").Replace(page), text) {
			t.Errorf("the page lacks %q", text)
		}
		if !strings.Contains(markdown, text) {
			t.Errorf("Markdown lacks %q", text)
		}
	}
	for _, text := range []string{"tile", "7 kbps", "details", "folded", "Scatter", "content"} {
		if !strings.Contains(strings.ReplaceAll(page, "</b>", ""), text) || strings.Contains(markdown, text) {
			t.Errorf("%q is not only on the page", text)
		}
	}
	if strings.Contains(page+markdown, "without content") || strings.Contains(page+markdown, "empty") {
		t.Error("an empty block or section is written")
	}
}

// The text of a chart begins at 0, has gaps and the largest values; values at loop points do not set its
// scale.
func TestPlot(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		values []value
		loops  []int
		top    string
	}{{[]value{0, 4}, nil, "4.0 "}, {[]value{0, 0}, nil,
		"1.0 "}, {[]value{value(nan), 0.5, value(math.Inf(1))}, nil, "0.5 "},
		{[]value{value(nan)}, nil, "1.0 "}, {[]value{1, 90, 2}, []int{1}, "2.0 "}} {
		c := &chart{X: make([]axisValue, len(x.values)), Loops: x.loops, Lines: []line{{Y: x.values}}}
		c.X[len(c.X)-1] = 2.5
		text := c.plot()
		if !strings.HasPrefix(strings.TrimSpace(text), x.top) || !strings.Contains(text, "to 2.5 s") &&
			len(c.X) > 1 {
			t.Errorf("%v:\n%s", x.values, text)
		}
		if strings.Contains(text, "cut off") != (x.loops != nil) {
			t.Errorf("loop points of %v:\n%s", x.values, text)
		}
	}
	many := &chart{X: make([]axisValue, 1000), Lines: []line{{Y: make([]value, 1000)}}}
	many.Lines[0].Y[555] = 8
	if text := many.plot(); !strings.HasPrefix(text, " 8.0 ") || len(strings.Split(text, "\n")[0]) > 300 {
		t.Errorf("a peak of many values:\n%s", text)
	}
}

// A scatter has the points of all groups in ascending order; the line of a group has gaps at the points of
// the others.
func TestScatter(t *testing.T) {
	interval := figures.Mean{N: 2, Mean: .5, Lo: new(.25), Hi: new(.75)}
	x, y := &figures.Row{Title: "x"}, &figures.Row{Title: "y", Unit: "%"}
	c := newScatter("title", x, y, []dots{
		{"a", "step", []dot{{X: exactly(3), Y: interval, Name: "a3"},
			{X: exactly(1), Y: exactly(.25), Large: true, Name: "a1"}}},
		{"b", "", []dot{{X: exactly(2), Y: exactly(.75), Name: "b2"}, {X: exactly(-1), Y: exactly(0), Name: "b-1"}}}})
	a, b := c.Lines[0], c.Lines[1]
	got := fmt.Sprint(c.X, c.Notes, a.Y, a.Lo, a.Hi, a.Large, a.Join, b.Y, b.Lo, b.Large, c.Tags)
	want := "[-1 1 2 3] [b-1: -1, 0 % a1: 1, 25 % b2: 2, 75 % a3: 3, 50 ± 25 %] [NaN 25 NaN 50] [NaN NaN NaN 25] [NaN NaN NaN 75] [1]step[0 NaN 75 NaN] [] [] []"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if c := newScatter("title", x, y, make([]dots, 12)); len(c.Lines) != maxLines ||
		c.Title != "title (8 of 12 lines)" {
		t.Errorf("%q with %d lines", c.Title, len(c.Lines))
	}
}

// Equal lines become one line with all names; lines that differ in a value or in their band stay.
func TestEqualLinesAreJoined(t *testing.T) {
	nan := value(math.NaN())
	a, b := []value{1, nan, 3}, []value{1, nan, 4}
	c := chart{Lines: []line{
		{Name: "p", Y: a}, {Kind: "edge", Y: b}, {Kind: "edge", Band: 1, Y: a},
		{Name: "q", Y: []value{7, nan}},
		{Name: "r", Y: a}, {Kind: "edge", Y: b}, {Kind: "edge", Band: 1, Y: a},
		{Name: "s", Y: b},
		{Name: "t", Y: []value{7, nan}},
		{Name: "u", Y: a, Kind: "dash"},
	}}
	c.mergeEqual()
	var got []string
	for _, l := range c.Lines {
		got = append(got, l.Name+l.Kind)
	}
	if want := "p,edge,edge,q = t,r,edge,edge,s,udash"; strings.Join(got, ",") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// The first second of a chart over time does not set its scale, unless the run is short.
func TestSettle(t *testing.T) {
	for _, x := range []struct {
		chart chart
		n     int // values, 100 ms apart
		want  int
	}{{chart{Axis: timeAxis}, 100, 10}, {chart{Axis: timeAxis}, 49, 0}, {chart{Axis: "down.loss"}, 100,
		0}, {chart{Axis: timeAxis, Rows: []string{"lost"}}, 100, 0}} {
		for i := range x.n {
			x.chart.X = append(x.chart.X, axisValue(float64(i+1)/10))
		}
		if x.chart.settle(); x.chart.Settle != x.want {
			t.Errorf("%q over %d values: %d", x.chart.Axis, x.n, x.chart.Settle)
		}
	}
}

// The parts of a page.
var (
	policyOf  = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
	styleOf   = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	scriptsOf = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	dataOf    = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	idsOf     = regexp.MustCompile(` id="([^"]*)"`)
	loads     = regexp.MustCompile(`<(img|iframe|object|embed|base|form|audio|video)\b|<[^>]* (src|srcset|style|action)=`)
	links     = regexp.MustCompile(`href="[^#]`)
	quoted    = regexp.MustCompile(`"[^"]*"`)
)

// checkHTML checks that a page allows and contains only its own style, two scripts and data, that nothing is
// loaded, and that IDs are unique.
func checkHTML(t *testing.T, name, page string) {
	t.Helper()
	scripts := scriptsOf.FindAllStringSubmatch(page, -1)
	if len(scripts) != 2 ||
		policyOf.FindStringSubmatch(page)[1] != contentSecurityPolicy(styleOf.FindStringSubmatch(page)[1],
			scripts[0][1], scripts[1][1]) {
		t.Errorf("%s: %d scripts, of which the policy allows others", name, len(scripts))
	}
	if !json.Valid([]byte(dataOf.FindStringSubmatch(page)[1])) {
		t.Errorf("%s: the data are no JSON", name)
	}
	body := page[strings.Index(page, "<body>"):strings.Index(page, "<script")]
	if found := loads.FindString(quoted.ReplaceAllString(body, "")) + links.FindString(body); found != "" {
		t.Errorf("%s: the page loads %s", name, found)
	}
	ids := map[string]bool{}
	for _, id := range idsOf.FindAllString(body, -1) {
		if ids[id] {
			t.Errorf("%s: %s is there twice", name, id)
		}
		ids[id] = true
	}
}
