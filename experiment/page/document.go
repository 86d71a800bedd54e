package page

import (
	"fmt"
	"math"

	"wirelab/internal/texttable"
)

// document is the content of a page, in the order of the page. The template reads its fields.
type document struct {
	Title, Headline string
	Verdict         string   // passedVerdict, failedVerdict, or "" if nothing was asserted
	Meta            []string // facts about the run, a few words each
	Alarms          []string // failed assertions, and why the run is incomplete
	Notes           []string // missing files, and warnings
	Tiles           []tile
	Answers         []section // what is recommended; they precede Meta
	Sections        []section
	data            chartData
}

// The verdicts, which precede the headline.
const (
	passedVerdict = "Passed"
	failedVerdict = "Failed"
)

// tile is a main figure at the top of the page.
type tile struct{ Name, Value, Unit, Note string }

// section is a part of a page with a title.
type section struct {
	ID, Title string
	Lead      []string    // paragraphs below the title
	Strip     []stripPart // a stacked bar; nil means none
	Charts    []chartView
	Graphics  []graphic
	Tables    []table
	Remarks   []string // paragraphs below the tables
	Code      []code
}

// chartView is the place of a chart that the script draws; ID is its index in chartData.
type chartView struct {
	ID                       int
	Title, Unit, Description string
}

// code is text to copy, such as commands.
type code struct{ Caption, Text string }

// table is a table whose first column names the rows. The CSS classes of cells are good, bad, and h0
// to h8 for heat maps.
type table struct {
	texttable.Table
	Caption string
	Folded  bool // collapsed until the reader opens it
	Heat    bool // cells are coloured by their values
}

// newTable returns a table; titles are as in texttable.New.
func newTable(caption string, titles ...string) table {
	return table{Table: *texttable.New(titles...), Caption: caption}
}

// addCharts adds the charts of d from index first on to the section.
func (s *section) addCharts(d *chartData, first int) {
	for i := first; i < len(d.Charts); i++ {
		c := &d.Charts[i]
		s.Charts = append(s.Charts, chartView{i, c.Title, c.Unit, c.Label})
	}
}

// stripPart is a part of a stacked bar: its share in words, its left edge, its width and its colour.
type stripPart struct {
	Name, Share string
	X, Width    string // in units of 1/1000 of the bar
	Color       int    // number of the colour in page.css, 1 to 8
}

// newStrip returns the parts of a stacked bar that is 1000 units wide. names and shares have the same
// length; a share of 1 is the whole bar. Parts without a share are omitted.
func newStrip(names []string, shares []float64) (out []stripPart) {
	left := 0.0 // sum of the shares so far
	for i, share := range shares {
		if share <= 0 || math.IsNaN(share) {
			continue
		}
		out = append(out, stripPart{Name: names[i], Share: formatPercent(share), X: fmt.Sprintf("%.1f", 1000*left),
			Width: fmt.Sprintf("%.1f", 1000*share), Color: 1 + i%8})
		left += share
	}
	return out
}
