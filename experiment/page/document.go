package page

import (
	"fmt"
	"math"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// Document is the content of a report. WriteHTML writes it as a page and WriteMarkdown as text; both
// escape its texts.
type Document struct {
	Title, Headline string
	Verdict         string   // passedVerdict, failedVerdict, or "" if nothing was asserted
	Meta            []string // facts about the run, a few words each
	Alarms          []string // failed assertions, and why the run is incomplete
	Notes           []string // missing files, and warnings
	Tiles           []tile
	Answers         []section // what is recommended; they precede Meta
	Sections        []section
	Marks           []mark // changes during the run, marked in the charts over time
}

// The verdicts, which precede the headline.
const (
	passedVerdict = "Passed"
	failedVerdict = "Failed"
)

// tile is a main figure at the top of the page. Markdown has the tables.
type tile struct{ Name, Value, Unit string }

// section is a part of a document with a title.
type section struct {
	ID, Title string
	Blocks    []block
}

// block is a part of a section. page.tmpl writes it as HTML, by its type.
type block interface {
	isEmpty() bool
	markdown(b *strings.Builder)
}

// The blocks. An empty paragraph, and a table without rows, are not written.
type (
	paragraph string
	charts    []*chart
	strip     []stripPart // a stacked bar
	code      struct{ Caption, Text string }
)

func (p paragraph) isEmpty() bool { return p == "" }
func (c charts) isEmpty() bool    { return len(c) == 0 }
func (s strip) isEmpty() bool     { return len(s) == 0 }
func (c code) isEmpty() bool      { return c.Text == "" }
func (t *table) isEmpty() bool    { return len(t.Rows) == 0 }

// add adds a section with the blocks that are not empty, or no section if all are.
func (d *Document) add(id, title string, blocks ...block) {
	d.Sections = appendSection(d.Sections, id, title, blocks)
}

// answer adds a section to the answers, as add does.
func (d *Document) answer(id, title string, blocks ...block) {
	d.Answers = appendSection(d.Answers, id, title, blocks)
}

func appendSection(list []section, id, title string, blocks []block) []section {
	s := section{ID: id, Title: title}
	for _, b := range blocks {
		if !b.isEmpty() {
			s.Blocks = append(s.Blocks, b)
		}
	}
	if s.Blocks == nil {
		return list
	}
	return append(list, s)
}

// tile adds a main figure.
func (d *Document) tile(name, value, unit string) {
	d.Tiles = append(d.Tiles, tile{name, value, unit})
}

// table is a table whose first column names the rows. The CSS classes of cells are good, bad, and h0
// to h8 for heat maps.
type table struct {
	texttable.Table
	Caption string
	Folded  bool // details: the page shows them when the reader opens the table, and Markdown leaves them out
	Heat    bool // cells are coloured by their values
}

// newTable returns a table; titles are as in texttable.New.
func newTable(caption string, titles ...string) *table {
	return &table{Table: *texttable.New(titles...), Caption: caption}
}

// figureTable returns a table with a row for each of items, which name names, and columns for their
// figures of at least the given rank.
func figureTable[T any](caption, head string, least figures.Rank, items []T, name func(i int) string) *table {
	names := make([][]string, len(items))
	for i := range items {
		names[i] = []string{name(i)}
	}
	return &table{Table: *report.FigureTable([]string{head}, names, least, items), Caption: caption}
}

// add adds a row. Numbers and figures are formatted by formatNumber, other cells as texttable.Table.Add
// does.
func (t *table) add(cells ...any) {
	for i, cell := range cells {
		switch v := cell.(type) {
		case float64:
			cells[i] = formatNumber(v)
		case int:
			cells[i] = formatNumber(float64(v))
		case int64:
			cells[i] = formatNumber(float64(v))
		case figures.Figure:
			cells[i] = formatFigure(v)
		}
	}
	t.Add(cells...)
}

// stripPart is a part of a stacked bar: its share in words, its left edge, its width and its colour.
type stripPart struct {
	Name, Share string
	X, Width    string // in units of 1/1000 of the bar
	Color       int    // number of the colour in page.css, 1 to 8
}

// newStrip returns the parts of a stacked bar that is 1000 units wide. names and shares have the same
// length; a share of 1 is the whole bar. Parts without a share are omitted.
func newStrip(names []string, shares []float64) (out strip) {
	left := 0.0 // sum of the shares so far
	for i, share := range shares {
		if share <= 0 || math.IsNaN(share) {
			continue
		}
		part := stripPart{Name: names[i], Share: units.Fixed(100*share, 1) + " %", Color: 1 + i%maxLines}
		part.X = fmt.Sprintf("%.1f", 1000*left)
		part.Width = fmt.Sprintf("%.1f", 1000*share)
		out = append(out, part)
		left += share
	}
	return out
}
