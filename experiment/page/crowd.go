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

// Keys of the durations of a tick, which figures.Flatten does not return because they are measured with the
// wall clock.
const (
	encodeTimeKey = "timing.tick_us.encode_us"
	serverTimeKey = "timing.tick_us.server_us"
)

// addTickTimes adds the durations of the server's work in a tick to figures by key; t may be nil.
func addTickTimes(all map[string]float64, t *figures.CrowdTiming) {
	if t == nil {
		return
	}
	for key, f := range map[string]figures.Figure{encodeTimeKey: t.EncodeUS, serverTimeKey: t.ServerUS} {
		if v, known := f.Value(); known {
			all[key] = v
		}
	}
}

// addCrowd adds the figures of a run with many receivers: the main ones, what a tick costs, and quantiles and
// distributions over clients.
func (d *Document) addCrowd(x *engine.Result) {
	c := x.Totals.Crowd
	u := x.Timing.TickUS
	d.tile("clients", formatNumber(float64(c.Clients)), "", "")
	d.tile("encodings", formatFigure(c.EncodingsPerTick), "a tick",
		"at most "+formatNumber(float64(c.MaxEncodings)))
	work := newTable("Work of a tick, by the wall clock of the machine: not reproducible", "part", ">µs")
	if u != nil {
		d.tile("server", formatNumber(u.EncodeUS.Or(0)+u.ServerUS.Or(0)), "µs a tick",
			"of one core, by the wall clock")
		if u.ChooseUS != nil {
			work.add("choosing the rows of packets under a budget", *u.ChooseUS)
		}
		work.add("encodings", u.EncodeUS)
		work.add("acks, baselines, headers and the uplink, for all clients", u.ServerUS)
		work.add("receivers, displays and links of all clients; not work of a server", u.ClientsUS)
		work.add("decoding each payload once; not work of a server", u.DecodeUS)
		work.add("elapsed, median", u.ElapsedUS.Of(u.ElapsedUS.P50))
		work.add("elapsed, p99", u.ElapsedUS.Of(u.ElapsedUS.P99))
	}
	quantiles := newTable("Quantiles over clients, of each figure by itself", "figure", ">p5", ">median",
		">p95", ">worst")
	for _, field := range c.Fields() {
		row := []any{field.Label()}
		for _, q := range c.Quantiles() {
			row = append(row, field.Of(q.CrowdClient).Times(field.Scale()))
		}
		quantiles.add(row...)
	}
	lead := ""
	if len(x.Clients) > 0 {
		lead = "Each chart has the clients from the smallest to the largest value: at 95 % is the value " +
			"that 95 % of the clients do not exceed."
	}
	d.add("clients", "Clients", paragraph(lead), quantiles, work, distributions(x.Clients))
}

// distributions returns a chart of each figure that differs between clients: its value over the share of the
// clients.
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
