package relay

import (
	"fmt"
	"strings"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// Tolerated is how late a datagram may leave before the link is said not to do what was
// asked: less than any game notices.
const Tolerated = time.Millisecond

// Deviations describes in what one direction of the emulator did not do what it is set to; nil if in nothing.
func (f *Flow) Deviations(way Way) (list []string) {
	if p99 := f.Late.Quantile(0.99); p99 > Tolerated {
		list = append(list, fmt.Sprintf("%s is late: p99 %s ms", way, Millis(p99)))
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

// Deviations describes in what the emulator did not do what it is set to, in both directions and
// as a whole; nil if in nothing.
func (t *Totals) Deviations() (list []string) {
	for way := range t.Flows {
		list = append(list, t.Flows[way].Deviations(Way(way))...)
	}
	if t.Oversize > 0 {
		list = append(list, fmt.Sprintf("%d were larger than IPv4 carries, and not passed on", t.Oversize))
	}
	if t.NoSocket > 0 {
		list = append(list, fmt.Sprintf("the system had no socket for %d of new clients", t.NoSocket))
	}
	return list
}

// Remarks lists what a person should know although the emulator did what was set.
func (t *Totals) Remarks() (list []string) {
	if n := t.Flows[Up].Gone; n > 0 {
		list = append(list, fmt.Sprintf("nobody at the server: %d times", n))
	}
	if t.Refused > 0 {
		list = append(list, fmt.Sprintf("refused %d of more clients", t.Refused))
	}
	return list
}

// Millis is a time in milliseconds.
func Millis(d time.Duration) string { return units.Fixed(units.Milliseconds(d), 2) }

// Since returns what came after was, an earlier moment; what is under way is that of now.
func (f *Flow) Since(was *Flow) Flow {
	d := *f
	for _, x := range []struct{ d, was *uint64 }{{&d.In, &was.In}, {&d.InBytes, &was.InBytes}, {&d.Copies, &was.Copies},
		{&d.Out, &was.Out}, {&d.OutBytes, &was.OutBytes}, {&d.OutWire, &was.OutWire}, {&d.Overrun, &was.Overrun},
		{&d.Unsent, &was.Unsent}, {&d.Missed, &was.Missed}, {&d.Gone, &was.Gone}} {
		*x.d -= *x.was
	}
	for i := range d.LostBy {
		d.LostBy[i] -= was.LostBy[i]
	}
	d.Size, d.Late, d.Took, d.Due = f.Size.Since(&was.Size), f.Late.Since(&was.Late), f.Took.Since(&was.Took), f.Due.Since(&was.Due)
	return d
}

// Since returns what came after was, an earlier moment; At is how long that took.
func (t *Totals) Since(was *Totals) Totals {
	d := *t
	d.At -= was.At
	d.Joined -= was.Joined
	d.Forgotten -= was.Forgotten
	d.Refused -= was.Refused
	d.NoSocket -= was.NoSocket
	d.Oversize -= was.Oversize
	for way := range d.Flows {
		d.Flows[way] = t.Flows[way].Since(&was.Flows[way])
	}
	return d
}

// Kbps is a rate in kilobits a second.
func Kbps(bytes uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(bytes) * 8 / 1000 / seconds
}

// Line is the line of one second, which ended at a time and in which d came. It begins with !
// if the link did not do what was asked; deviations are those that d does not contain.
func Line(at time.Duration, d *Totals, deviations []string) string {
	span := d.At.Seconds()
	mark, words := " ", []string{fmt.Sprintf("%6.0f s", at.Seconds())}
	for way := range d.Flows {
		f := &d.Flows[way]
		words = append(words, fmt.Sprintf("%s %.0f/s %.0f kbps %s ms", Way(way), float64(f.Out)/max(span, 1e-9), Kbps(f.OutBytes, span),
			Millis(f.Took.Quantile(0.5))))
		if by := f.Causes(); by != "" {
			words = append(words, "lost "+by)
		}
		if f.Line.Bytes > 0 {
			words = append(words, fmt.Sprintf("queue %d B", f.Line.Bytes))
		}
	}
	late := max(d.Flows[Up].Late.Quantile(0.99), d.Flows[Down].Late.Quantile(0.99))
	words = append(words, fmt.Sprintf("late %s ms", Millis(late)))
	if d.Clients != 1 {
		words = append(words, fmt.Sprintf("%d clients", d.Clients))
	}
	words = append(words, d.Remarks()...)
	deviations = append(deviations, d.Deviations()...)
	if len(deviations) > 0 {
		mark, words = "!", append(words, deviations...)
	}
	return mark + strings.Join(words, "  ")
}

// Causes lists how many were lost by what.
func (f *Flow) Causes() string {
	var words []string
	for cause, n := range f.LostBy {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d by %s", n, lossmodel.Cause(cause)))
		}
	}
	return strings.Join(words, ", ")
}

// The JSON of one direction. Figures without data are null.
type (
	// Figures are what went through, what was asked of the link, and what it did.
	Figures struct {
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

		Set      map[string]any `json:"asked"` // the keys of the link at the end
		Measured measured       `json:"did"`
		Late     timesMs        `json:"late_ms"` // after the time that the link gave
	}
	// measured is what a link measured.
	measured struct {
		Lost        *float64 `json:"loss"`          // share of in + copies; null without any
		Delay       timesMs  `json:"delay_ms"`      // from being read to being sent
		LinkDelay   *float64 `json:"link_delay_ms"` // the mean that the link decided
		WireKbpsMax float64  `json:"wire_kbps_max"` // with headers, in the best second
	}
	// timesMs are those of many datagrams.
	timesMs struct {
		Mean *float64 `json:"mean"`
		P50  *float64 `json:"p50"`
		P95  *float64 `json:"p95"`
		P99  *float64 `json:"p99"`
		Max  *float64 `json:"max"`
	}
)

func timesOf(h *Histogram) (t timesMs) {
	if h.N == 0 {
		return t
	}
	ms := func(d time.Duration) *float64 { return new(units.Milliseconds(d)) }
	return timesMs{ms(h.Mean()), ms(h.Quantile(0.5)), ms(h.Quantile(0.95)), ms(h.Quantile(0.99)), ms(h.Max)}
}

// Figures returns the figures of one direction, whose link was set to spec and carried best kbps
// in its best second.
func (t *Totals) Figures(way Way, spec lossmodel.Spec, best float64) Figures {
	f := &t.Flows[way]
	d := Figures{In: f.In, InBytes: f.InBytes, Copies: f.Copies, Out: f.Out, OutBytes: f.OutBytes, Lost: f.Lost(),
		LostBy: map[string]uint64{}, Overrun: f.Overrun, Unsent: f.Unsent, Queued: f.Queued, Missed: f.Missed, Gone: f.Gone,
		Kbps: Kbps(f.OutBytes, t.At.Seconds()), Set: spec.Values(), Late: timesOf(&f.Late),
		Measured: measured{Delay: timesOf(&f.Took), LinkDelay: timesOf(&f.Due).Mean, WireKbpsMax: best}}
	for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
		d.LostBy[cause.String()] = f.LostBy[cause]
	}
	if all := f.In + f.Copies; all > 0 {
		d.Measured.Lost = new(float64(f.Lost()) / float64(all))
	}
	return d
}
