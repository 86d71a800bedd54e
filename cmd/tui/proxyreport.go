package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// proxyReport is what there is to tell of a proxy.
type proxyReport struct {
	script         *proxyScript
	listen, server string
	shared         bool
	changes        []config.StampedChange
	totals         relay.Totals
	wireMax        [2]float64 // kbps in the best second
	interrupted    bool
}

// tolerated is how late a datagram may leave before the link is said not to do what was
// asked: less than any game notices.
const tolerated = time.Millisecond

// lies says in what the emulator did not do what was asked; nothing if it did.
func lies(f *relay.Flow, way relay.Way) (list []string) {
	if p99 := f.Late.Quantile(0.99); p99 > tolerated {
		list = append(list, fmt.Sprintf("%s is late: p99 %s ms", way, millis(p99)))
	}
	for _, x := range []struct {
		n    uint64
		what string
	}{
		{f.Missed, "the system dropped %d before they were read"},
		{f.Unsent, "the system would not send %d"},
		{f.Overrun, "%d were too many to keep"},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s: "+x.what, way, x.n))
		}
	}
	return list
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/1e6) }

// sayEachSecond says what went through in the last second, until quit.
func (a *app) sayEachSecond(r *relay.Relay, report *proxyReport, quit <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	was := r.Totals()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		now := r.Totals()
		span := (now.At - was.At).Seconds()
		var flows [2]relay.Flow
		for way := range flows {
			flows[way] = flowSince(&now.Flows[way], &was.Flows[way])
			report.wireMax[way] = max(report.wireMax[way], kbps(flows[way].OutWire, span))
		}
		a.remark("%s", proxyLine(&now, flows, span))
		was = now
	}
}

// flowSince returns what came between two moments; what is under way is that of the later.
func flowSince(now, was *relay.Flow) relay.Flow {
	d := *now
	for _, x := range []struct{ d, was *uint64 }{{&d.In, &was.In}, {&d.InBytes, &was.InBytes}, {&d.Copies, &was.Copies},
		{&d.Out, &was.Out}, {&d.OutBytes, &was.OutBytes}, {&d.OutWire, &was.OutWire}, {&d.Overrun, &was.Overrun},
		{&d.Unsent, &was.Unsent}, {&d.Missed, &was.Missed}, {&d.Gone, &was.Gone}} {
		*x.d -= *x.was
	}
	for i := range d.LostBy {
		d.LostBy[i] -= was.LostBy[i]
	}
	d.Late, d.Took, d.Due = now.Late.Since(&was.Late), now.Took.Since(&was.Took), now.Due.Since(&was.Due)
	return d
}

func kbps(bytes uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(bytes) * 8 / 1000 / seconds
}

// proxyLine is the line of one second. It begins with ! if the link did not do what was
// asked.
func proxyLine(now *relay.Totals, flows [2]relay.Flow, span float64) string {
	mark, words := " ", []string{fmt.Sprintf("%6.0f s", now.At.Seconds())}
	for way := range flows {
		f := &flows[way]
		words = append(words, fmt.Sprintf("%s %.0f/s %.0f kbps %s ms", relay.Way(way), float64(f.Out)/max(span, 1e-9), kbps(f.OutBytes, span),
			millis(f.Took.Quantile(0.5))))
		if by := causes(f); by != "" {
			words = append(words, "lost "+by)
		}
		if f.Line.Bytes > 0 {
			words = append(words, fmt.Sprintf("queue %d B", f.Line.Bytes))
		}
	}
	late := max(flows[relay.Up].Late.Quantile(0.99), flows[relay.Down].Late.Quantile(0.99))
	words = append(words, fmt.Sprintf("late %s ms", millis(late)))
	if now.Clients != 1 {
		words = append(words, fmt.Sprintf("%d clients", now.Clients))
	}
	for way := range flows {
		for _, lie := range lies(&flows[way], relay.Way(way)) {
			mark, words = "!", append(words, lie)
		}
	}
	return mark + strings.Join(words, "  ")
}

// causes lists how many were lost by what.
func causes(f *relay.Flow) string {
	var words []string
	for cause, n := range f.LostBy {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d by %s", n, lossmodel.Cause(cause)))
		}
	}
	return strings.Join(words, ", ")
}

// The JSON of `proxy`.
type (
	proxyDocument struct {
		Listen   string  `json:"listen"`
		To       string  `json:"to"`
		Seed     uint64  `json:"seed"`
		Shared   bool    `json:"shared"`
		Reason   string  `json:"reason"` // finished or interrupted
		Duration float64 `json:"duration_s"`

		Clients  proxyClients   `json:"clients"`
		Oversize uint64         `json:"oversize"`
		Up       proxyDirection `json:"up"`
		Down     proxyDirection `json:"down"`

		Changes []config.StampedChange `json:"changes"`
		Lies    []string               `json:"lies"` // in what the emulator did not do what was asked
	}
	proxyClients struct {
		Now       int    `json:"now"`
		Joined    int    `json:"joined"`
		Forgotten int    `json:"forgotten"`
		Refused   uint64 `json:"refused"` // datagrams
	}
	proxyDirection struct {
		In       uint64            `json:"in"`
		InBytes  uint64            `json:"in_bytes"`
		Copies   uint64            `json:"copies"`
		Out      uint64            `json:"out"`
		OutBytes uint64            `json:"out_bytes"`
		Lost     uint64            `json:"lost"`
		LostBy   map[string]uint64 `json:"lost_by"`
		Overrun  uint64            `json:"overrun"`
		Unsent   uint64            `json:"unsent"`
		Queued   int               `json:"queued"`
		Missed   uint64            `json:"missed"`
		Gone     uint64            `json:"gone"`
		Kbps     float64           `json:"kbps"`

		Asked map[string]any `json:"asked"` // the keys of the link at the end
		Did   proxyDid       `json:"did"`
		Late  proxyTimes     `json:"late_ms"` // after the time that the link gave
	}
	proxyDid struct {
		Lost        *float64   `json:"loss"`          // share of in + copies; null without any
		Delay       proxyTimes `json:"delay_ms"`      // from being read to being sent
		LinkDelay   *float64   `json:"link_delay_ms"` // the mean that the link decided
		WireKbpsMax float64    `json:"wire_kbps_max"` // with headers, in the best second
	}
	proxyTimes struct {
		Mean *float64 `json:"mean"`
		P50  *float64 `json:"p50"`
		P95  *float64 `json:"p95"`
		P99  *float64 `json:"p99"`
		Max  *float64 `json:"max"`
	}
)

func timesOf(h *relay.Histogram) (t proxyTimes) {
	if h.N == 0 {
		return t
	}
	ms := func(d time.Duration) *float64 { return new(float64(d) / 1e6) }
	return proxyTimes{ms(h.Mean()), ms(h.Quantile(0.5)), ms(h.Quantile(0.95)), ms(h.Quantile(0.99)), ms(h.Max)}
}

func (p *proxyReport) direction(way relay.Way, spec lossmodel.Spec) proxyDirection {
	f := &p.totals.Flows[way]
	d := proxyDirection{In: f.In, InBytes: f.InBytes, Copies: f.Copies, Out: f.Out, OutBytes: f.OutBytes, Lost: f.Lost(),
		LostBy: map[string]uint64{}, Overrun: f.Overrun, Unsent: f.Unsent, Queued: f.Queued, Missed: f.Missed, Gone: f.Gone,
		Kbps: kbps(f.OutBytes, p.totals.At.Seconds()), Asked: spec.Values(), Late: timesOf(&f.Late),
		Did: proxyDid{Delay: timesOf(&f.Took), LinkDelay: timesOf(&f.Due).Mean, WireKbpsMax: p.wireMax[way]}}
	for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
		d.LostBy[cause.String()] = f.LostBy[cause]
	}
	if all := f.In + f.Copies; all > 0 {
		d.Did.Lost = new(float64(f.Lost()) / float64(all))
	}
	return d
}

func (p *proxyReport) document() proxyDocument {
	up, down := p.asked()
	t := &p.totals
	d := proxyDocument{Listen: p.listen, To: p.server, Seed: p.script.seed, Shared: p.shared, Reason: "finished", Duration: t.At.Seconds(),
		Clients: proxyClients{t.Clients, t.Joined, t.Forgotten, t.Refused}, Oversize: t.Oversize,
		Up: p.direction(relay.Up, up), Down: p.direction(relay.Down, down), Changes: p.changes, Lies: []string{}}
	if p.interrupted {
		d.Reason = "interrupted"
	}
	if d.Changes == nil {
		d.Changes = []config.StampedChange{}
	}
	for way := range t.Flows {
		d.Lies = append(d.Lies, lies(&t.Flows[way], relay.Way(way))...)
	}
	return d
}

// asked returns what the links were set to at the end, for clients without conditions of
// their own.
func (p *proxyReport) asked() (up, down lossmodel.Spec) {
	return p.script.conditions(len(p.changes))(relay.Client{})
}

// write tells people the totals.
func (p *proxyReport) write(w io.Writer) {
	up, down := p.asked()
	specs := [2]lossmodel.Spec{up, down}
	t := &p.totals
	fmt.Fprintf(w, "%.1f s, %d clients joined, %d forgotten, %d datagrams of more refused.\n", t.At.Seconds(), t.Joined, t.Forgotten, t.Refused)
	g := newGrid("", "up", "down")
	row := func(name string, cell func(*relay.Flow, lossmodel.Spec) any) {
		g.row(name, cell(&t.Flows[relay.Up], specs[relay.Up]), cell(&t.Flows[relay.Down], specs[relay.Down]))
	}
	key := func(k string) func(*relay.Flow, lossmodel.Spec) any {
		return func(_ *relay.Flow, s lossmodel.Spec) any {
			if s.Netem.String() != "off" {
				return "netem"
			}
			text, _ := s.Get(k)
			return text
		}
	}
	quantiles := func(h *relay.Histogram) any {
		if h.N == 0 {
			return "-"
		}
		return fmt.Sprintf("%s / %s / %s", millis(h.Quantile(0.5)), millis(h.Quantile(0.99)), millis(h.Max))
	}
	row("in", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.In, f.InBytes) })
	row("out", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.Out, f.OutBytes) })
	row("copies made", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Copies })
	row("under way", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Queued })
	row("loss asked", key("loss"))
	row("lost", func(f *relay.Flow, _ lossmodel.Spec) any {
		if f.In == 0 {
			return "-"
		}
		return strings.TrimSuffix(fmt.Sprintf("%.2f %%: %s", 100*float64(f.Lost())/float64(f.In+f.Copies), causes(f)), ": ")
	})
	row("latency asked", key("latency"))
	row("delay, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Took) })
	row("late, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Late) })
	row("rate asked", key("rate"))
	g.row("best second", fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Up]), fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Down]))
	g.write(w, 0)
	for way := range t.Flows {
		for _, lie := range lies(&t.Flows[way], relay.Way(way)) {
			fmt.Fprintf(w, "Not as asked: %s.\n", lie)
		}
	}
}
