package page

import (
	"fmt"
	"slices"
	"strconv"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// Keys of the durations of a tick, which figures.Flatten does not return because they are measured with the wall clock.
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

// addCrowdTiles adds the main figures of a run with many receivers.
func (d *document) addCrowdTiles(x *engine.Result) {
	t, c := &x.Totals, x.Totals.Crowd
	add := func(name, value, unit, note string) { d.Tiles = append(d.Tiles, tile{name, value, unit, note}) }
	add("clients", formatNumber(float64(c.Clients)), "", "")
	add("encodings", formatFigure(c.EncodingsPerTick), "a tick", "at most "+formatNumber(float64(c.MaxEncodings)))
	add("wire of a client", formatFigure(c.P50.WireKbps), "kbps", "p95 "+formatFigure(c.P95.WireKbps)+", worst "+formatFigure(c.Worst.WireKbps))
	add("wire of all", formatNumber(t.WireKbps/1000), "Mbit/s", "")
	add("starved", formatShare(c.P95.Playout.StarvedRatio), "", "p95 of clients; worst "+formatShare(c.Worst.Playout.StarvedRatio))
	if c.UplinkPeakMS != nil {
		add("wait for the uplink", formatFigure(*c.UplinkPeakMS), "ms", "longest")
	}
	if u := x.Timing.TickUS; u != nil {
		add("server", formatNumber(u.EncodeUS.Or(0)+u.ServerUS.Or(0)), "µs a tick", "of one core, by the wall clock")
	}
}

// addCrowd adds the figures of a run with many receivers: what a tick costs, and quantiles and distributions over
// clients. Other runs have no such section.
func (d *document) addCrowd(x *engine.Result) {
	c := x.Totals.Crowd
	if c == nil {
		return
	}
	s := section{ID: "clients", Title: "Clients"}
	t := newTable("Quantiles over clients, of each figure by itself", "figure", ">p5", ">median", ">p95", ">worst")
	for _, field := range c.Fields() {
		row := []string{field.Label()}
		for _, q := range c.Quantiles() {
			row = append(row, formatFigure(field.Of(q.CrowdClient).Times(field.Scale())))
		}
		t.Add(row)
	}
	s.Tables = append(s.Tables, t)
	if u := x.Timing.TickUS; u != nil {
		s.Tables = append(s.Tables, tickTable(u))
	}
	first := len(d.data.Charts)
	d.addDistributions(x.Clients)
	s.addCharts(&d.data, first)
	if len(x.Clients) > 0 {
		s.Lead = []string{"Each chart has the clients from the smallest to the largest value: at 95 % is the value that 95 % of the clients do not exceed."}
	}
	d.Sections = append(d.Sections, s)
}

// tickTable returns a table of the parts of the work of a tick.
func tickTable(u *figures.CrowdTiming) table {
	t := newTable("Work of a tick, by the wall clock of the machine: not reproducible", "part", ">µs")
	if u.ChooseUS != nil {
		t.Add("choosing the rows of packets under a budget", formatFigure(*u.ChooseUS))
	}
	t.Add("encodings", formatFigure(u.EncodeUS))
	t.Add("acks, baselines, headers and the uplink, for all clients", formatFigure(u.ServerUS))
	t.Add("receivers, displays and links of all clients; not work of a server", formatFigure(u.ClientsUS))
	t.Add("decoding each payload once; not work of a server", formatFigure(u.DecodeUS))
	t.Add("elapsed, median", formatFigure(u.ElapsedUS.Of(u.ElapsedUS.P50)))
	t.Add("elapsed, p99", formatFigure(u.ElapsedUS.Of(u.ElapsedUS.P99)))
	return t
}

// addDistributions adds a chart of each figure that differs between clients: its value over the share of the clients.
func (d *document) addDistributions(clients []figures.CrowdClient) {
	const points = 101 // 0 % to 100 %
	axis := -1         // of all charts
	values := make([]float64, 0, len(clients))
	for _, field := range figures.ClientFieldsOf(clients) {
		values = values[:0]
		for k := range clients {
			if v, known := field.Of(&clients[k]).Times(field.Scale()).Value(); known {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		if len(values) == 0 || values[0] == values[len(values)-1] {
			continue
		}
		l := line{Name: field.Label(), Color: 1}
		var x []axisValue
		for p := range points {
			x = append(x, axisValue(p))
			l.Y = append(l.Y, value(quantile.NearestRank(values, float64(p)/(points-1))))
		}
		if axis < 0 {
			axis = d.data.addAxis(x)
		}
		d.data.Charts = append(d.data.Charts, chart{Title: field.Label(), Axis: "% of clients", X: axis, Lines: []line{l},
			Label: fmt.Sprintf("%s over the share of clients, from %s to %s; the table has quantiles", field.Label(), formatNumber(values[0]), formatNumber(values[len(values)-1]))})
	}
}

// beginClients returns a function that adds a row of clients.csv with the given header to the clients of the run.
func (r *run) beginClients(head []string) func(row []string) {
	fields := make([]*figures.ClientField, len(head)) // nil for other columns
	for i, key := range head {
		if k := slices.IndexFunc(figures.ClientFields(), func(f figures.ClientField) bool { return f.Key == key }); k >= 0 {
			fields[i] = &figures.ClientFields()[k]
		}
	}
	return func(row []string) {
		var c figures.CrowdClient
		for i, text := range row[:min(len(row), len(fields))] {
			if v, err := strconv.ParseFloat(text, 64); err == nil && fields[i] != nil {
				*fields[i].Of(&c) = figures.Finite(v)
			}
		}
		if len(r.Result.Clients) < maxClientRows {
			r.Result.Clients = append(r.Result.Clients, c)
		}
	}
}

// maxClientRows bounds the rows that are read of a damaged clients.csv.
const maxClientRows = 100_000
