package page

import (
	"fmt"
	"math"
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
	ID                int
	Title, Unit, Says string
}

// code is text to be copied.
type code struct{ Caption, Text string }

// table is a table; one that is Folded is opened by whoever wants it.
type table struct {
	Caption string
	Head    []head
	Rows    [][]cell
	Folded  bool
	Heat    bool // the cells are coloured by their values
}

type head struct {
	Text string
	Num  bool
}

type cell struct {
	Text  string
	Num   bool
	Head  bool   // it names its row
	Class string // good, bad, h0 to h8
}

// heads names columns; those that begin with ">" are of numbers.
func heads(names ...string) []head {
	out := make([]head, len(names))
	for i, n := range names {
		out[i].Text = n
		if len(n) > 0 && n[0] == '>' {
			out[i] = head{n[1:], true}
		}
	}
	return out
}

// row makes the cells of a row; the first names it, and the columns say which are numbers.
func (t *table) row(texts ...any) {
	cells := make([]cell, len(texts))
	for i, x := range texts {
		c, ok := x.(cell)
		if !ok {
			c.Text = fmt.Sprint(x)
		}
		c.Num, c.Head = i < len(t.Head) && t.Head[i].Num, i == 0
		cells[i] = c
	}
	t.Rows = append(t.Rows, cells)
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
