package page

import (
	"fmt"
	"math"

	"wirelab/internal/texttable"
)

// document is what stands on a page, in the order in which it stands there.
type document struct {
	Title, Headline string
	Meta            []string // what was run, in a few words each
	Alarms          []string // why the run cannot be trusted, or did not hold
	Notes           []string // what is missing, and what a reader must know
	Tiles           []tile
	Sections        []section
	data            data
}

// tile is a figure that is seen at once.
type tile struct{ Name, Value, Unit, Note string }

// section is a part of a page under a title.
type section struct {
	ID, Title string
	Lead      []string
	Strip     []slice
	Charts    []chartView
	Graphics  []graphic
	Tables    []table
	Code      []code
}

// chartView is a chart of the script's, by its place in data.
type chartView struct {
	ID                       int
	Title, Unit, Description string
}

// code is text to be copied.
type code struct{ Caption, Text string }

// table is a table whose first column names the rows. The classes of cells are good, bad and
// h0 to h8.
type table struct {
	texttable.Table
	Caption string
	Folded  bool // the reader has to open it
	Heat    bool // the cells are coloured by their values
}

// newTable returns a table; titles are as in texttable.New.
func newTable(caption string, titles ...string) table {
	return table{Table: *texttable.New(titles...), Caption: caption}
}

// show adds the charts of d from the first-th on to a section.
func (s *section) show(d *data, first int) {
	for i := first; i < len(d.Charts); i++ {
		c := &d.Charts[i]
		s.Charts = append(s.Charts, chartView{i, c.Title, c.Unit, c.Label})
	}
}

// slice is a part of a strip: its share of the whole, where it begins, and its ink.
type slice struct {
	Name, Share string
	X, Width    string // of 1000
	Ink         int
}

// strip cuts a strip of 1000 into shares.
func strip(names []string, shares []float64) (out []slice) {
	at := 0.0
	for i, share := range shares {
		if share <= 0 || math.IsNaN(share) {
			continue
		}
		out = append(out, slice{names[i], percent(share), fmt.Sprintf("%.1f", 1000*at), fmt.Sprintf("%.1f", 1000*share), 1 + i%8})
		at += share
	}
	return out
}
