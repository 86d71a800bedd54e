package page

import (
	"strconv"
	"strings"

	"wirelab/experiment/engine/meters"
)

// rows collects the data for the charts and tables of one run from its samples and the rows of its
// packets.csv. Its size is bounded.
type rows struct {
	packetHead columns
	series     series
	packets    packetStats
}

// newRows returns rows for a packets.csv with the given header. Unknown columns are ignored; missing columns
// count as 0.
func newRows(packetHead []string) *rows { return &rows{packetHead: columnsOf(packetHead)} }

// Sample adds a sample. Samples must be in ascending order of time.
func (r *rows) Sample(s *meters.Sample) { r.series.add(s) }

// Packet adds a row of packets.csv. Rows may be in any order.
func (r *rows) Packet(row []string) { r.packets.addRow(cells{r.packetHead, row}) }

// Clone returns a copy that does not change when rows are added to r.
func (r *rows) Clone() *rows {
	x := *r
	x.series = r.series.clone()
	x.packets = r.packets.clone()
	return &x
}

// columns maps the names of columns to their indices.
type columns map[string]int

// columnsOf returns the columns of a CSV header.
func columnsOf(head []string) columns {
	c := make(columns, len(head))
	for i, name := range head {
		c[name] = i
	}
	return c
}

// cells is a row with the names of its columns.
type cells struct {
	columns columns
	row     []string
}

// text returns a cell, "" if the column does not exist.
func (c cells) text(name string) string {
	if i, ok := c.columns[name]; ok && i < len(c.row) {
		return c.row[i]
	}
	return ""
}

// number returns a cell as a number, 0 if it is not a finite number, or so large that sums could overflow.
func (c cells) number(name string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(c.text(name)), 64)
	if err != nil || v != v || v > 1e300 || v < -1e300 { // v != v for NaN
		return 0
	}
	return v
}
