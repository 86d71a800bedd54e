package crowd

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// clientTable contains the figures of all clients by column. Panes share it, because there may be 10,000 clients.
type clientTable struct {
	view    *engine.CrowdView
	fields  []figures.ClientField
	columns []tableColumn // in the order of fields

	limits   []int     // the figure that limits each client most, an index of fields; -1 if all are near the medians
	severity []float64 // the multiple of the median that the figure of each client is
}

// tableColumn contains a figure of all clients.
type tableColumn struct {
	values []float64 // by client; -1 if unknown
	hi     float64   // the largest value; -1 if none is known
	worst  int       // the first client with that value; -1 if it is 0 or unknown
}

// update sets the table to the clients of x. Snapshots share their clients until figures are computed again; then the
// table stays the same.
func (t *clientTable) update(x *engine.CrowdView) {
	isSame := t.view != nil && len(t.view.Clients) > 0 && len(x.Clients) > 0 && &t.view.Clients[0] == &x.Clients[0]
	t.view = x
	if isSame {
		return
	}
	if fields := figures.ClientFieldsOf(x.Clients); len(fields) != len(t.fields) {
		t.fields, t.columns = fields, make([]tableColumn, len(fields))
	}
	for k := range t.columns {
		t.columns[k] = tableColumn{values: t.columns[k].values[:0], hi: -1, worst: -1}
	}
	for i := range x.Clients { // the clients are the outer loop: they do not fit in the cache
		for k := range t.columns {
			column, v := &t.columns[k], t.fields[k].Of(&x.Clients[i]).Or(-1)
			column.values = append(column.values, v)
			if v > column.hi {
				column.hi = v
				if v > 0 {
					column.worst = i
				}
			}
		}
	}
	t.findLimits()
}

// The columns of quantiles: quantileW for each quantile, then the number of the worst client.
const (
	quantileW  = 7
	quantilesW = 4*quantileW + 8 // 4 quantiles
)

// quantileHeads draws on row 1 the headings of the columns that drawQuantiles draws from column x.
func quantileHeads(c *look.Canvas, x int) {
	for i, q := range (&figures.Crowd{}).Quantiles() {
		c.TextRight(x+(i+1)*quantileW, 1, look.Dim, q.Name)
	}
	c.Text(x+quantilesW-6, 1, look.Dim, "client")
}

// drawQuantiles draws the quantiles of figure number i at row y, from column x, and the number of the worst client.
func (t *clientTable) drawQuantiles(c *look.Canvas, x, y, i int) {
	for k, q := range t.view.Recent.Quantiles() {
		c.TextRight(x+(k+1)*quantileW, y, look.Value, t.fields[i].Text(q.CrowdClient))
	}
	if worst := t.columns[i].worst; worst >= 0 {
		c.Text(x+quantilesW-6, y, look.Dim, strconv.Itoa(worst+1))
	}
}
