package page

import (
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
)

// rows collects the data for the charts and tables of one run from its samples and the rows of its
// packets.csv. Its size is bounded.
type rows struct {
	series  series
	packets packetStats
}

// Sample adds a sample. Samples must be in ascending order of time.
func (r *rows) Sample(s *meters.Sample) { r.series.add(s) }

// Packet adds a row of packets.csv. Rows may be in any order.
func (r *rows) Packet(row report.Row) { r.packets.addRow(row) }

// Clone returns a copy that does not change when rows are added to r.
func (r *rows) Clone() *rows { return &rows{r.series.clone(), r.packets.clone()} }
