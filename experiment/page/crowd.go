package page

import (
	"fmt"
	"slices"
	"strconv"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/quantile"
)

// Keys of the durations of a tick, which figures of totals do not have because they are measured with the
// wall clock.
const (
	tickKey       = "timing.tick_us."
	encodeTimeKey = tickKey + "encode_us"
	serverTimeKey = tickKey + "server_us"
)

// addTickTimes adds the durations of the server's work in a tick to figures by key; t may be nil.
func addTickTimes(all map[string]float64, t *figures.CrowdTiming) {
	if t == nil {
		return
	}
	for key, v := range figures.Flatten(t) {
		all[tickKey+key] = v
	}
}

// addCrowd adds the figures of a run with many receivers: quantiles and distributions over clients, and
// what a tick costs.
func (d *Document) addCrowd(x *engine.Result) {
	c := x.Totals.Crowd
	if c == nil {
		return
	}
	lead := ""
	if len(x.Clients) > 0 {
		lead = "Each chart has the clients from the smallest to the largest value: at 95 % is the value " +
			"that 95 % of the clients do not exceed."
	}
	quantiles := c.Quantiles()
	var ticks []*figures.CrowdTiming
	if x.Timing.TickUS != nil {
		ticks = append(ticks, x.Timing.TickUS)
	}
	d.add("clients", "Clients", paragraph(lead),
		figureTable("Quantiles over clients, of each figure by itself", "clients", figures.Listed, quantiles,
			func(i int) string {
				return quantiles[i].Name
			}),
		figureTable("Mean times on one core, by the wall clock of the machine: not reproducible", "", figures.Listed,
			ticks, func(int) string { return "a tick" }), distributions(x.Clients))
}

// distributions returns a chart of each figure that differs between clients: its value over the share of
// the clients.
func distributions(clients []figures.CrowdClient) (list charts) {
	const points = 101 // 0 % to 100 %
	for _, field := range figures.ClientFieldsOf(clients) {
		var values []float64
		for k := range clients {
			if v, known := field.Of(&clients[k]).Times(field.Scale()).Value(); known {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		if len(values) == 0 || values[0] == values[len(values)-1] {
			continue
		}
		c := &chart{Title: field.Label(), Axis: "% of clients"}
		l := line{Name: field.Label(), Color: 1}
		for p := range points {
			c.X = append(c.X, axisValue(p))
			l.Y = append(l.Y, value(quantile.NearestRank(values, float64(p)/(points-1))))
		}
		c.Lines = []line{l}
		c.Label = fmt.Sprintf("%s over the share of clients, from %s to %s; the table has quantiles",
			field.Label(), formatNumber(values[0]), formatNumber(values[len(values)-1]))
		list = append(list, c)
	}
	return list
}

// addClient adds a row of clients.csv to the clients of the run.
func (r *run) addClient(row report.Row) {
	var c figures.CrowdClient
	for _, field := range figures.ClientFields() {
		if v, err := strconv.ParseFloat(row.Text(field.Key), 64); err == nil {
			*field.Of(&c) = figures.Finite(v)
		}
	}
	r.Result.Clients = append(r.Result.Clients, c)
}

// maxClientRows bounds the rows that are read of a damaged clients.csv.
const maxClientRows = 100_000
