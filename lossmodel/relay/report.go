package relay

import (
	"fmt"
	"strings"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// Lateness is the time by which datagrams leave after their due time, as a 99th percentile.
const (
	// noticeableLateness is the lateness from which on a remark is due. Ordinary scheduling causes some milliseconds.
	noticeableLateness = time.Millisecond
	// MinLateLimit is the lateness below which no link counts as distorted, however short its delay is.
	MinLateLimit = 5 * time.Millisecond
)

// LateLimit returns the lateness above which the relay distorts the effect of the links: a tenth of the delay that they
// caused, jitter and queues included (its 95th percentile), but at least MinLateLimit.
func (f *Flow) LateLimit() time.Duration { return max(MinLateLimit, f.LinkDelay.Quantile(0.95)/10) }

// IsLate reports whether datagrams were sent so late that the effect of the links is distorted. was is the previous
// result: a direction that was late remains so until the lateness is below half of the limit, so that the result does
// not alternate.
func (f *Flow) IsLate(was bool) bool {
	limit := f.LateLimit()
	if was {
		limit /= 2
	}
	return f.Lateness.Quantile(0.99) > limit
}

// Late returns IsLate of both directions.
func (t *Totals) Late(was [2]bool) (late [2]bool) {
	for direction := range t.Flows {
		late[direction] = t.Flows[direction].IsLate(was[direction])
	}
	return late
}

// LateRemark describes a lateness that is noticeable, but within the limit; "" for any other lateness.
func (f *Flow) LateRemark(direction Direction) string {
	p99 := f.Lateness.Quantile(0.99)
	if p99 <= noticeableLateness || p99 > f.LateLimit() {
		return ""
	}
	return f.describeLateness(direction)
}

// describeLateness describes how late datagrams of the flow are.
func (f *Flow) describeLateness(direction Direction) string {
	return fmt.Sprintf("%s: proxy %s ms late (p99; limit %s)", direction, tenths(f.Lateness.Quantile(0.99)), tenths(f.LateLimit()))
}

// tenths formats a duration in milliseconds with one decimal.
func tenths(d time.Duration) string { return units.Fixed(units.Milliseconds(d), 1) }

// deviations describes where the relay deviated from the configured link in one direction: datagrams
// that were sent late, if late is set, and losses that the link did not cause; nil if none.
func (f *Flow) deviations(direction Direction, late bool) (list []string) {
	p99, limit := f.Lateness.Quantile(0.99), f.LateLimit()
	switch {
	case late && p99 <= limit: // it was above the limit before: see IsLate
		list = append(list, fmt.Sprintf("%s: proxy late until p99 is below %s ms", direction, tenths(limit/2)))
	case late:
		list = append(list, f.describeLateness(direction))
	}
	for _, x := range []struct {
		n      uint64
		format string // format of the message about n datagrams
	}{
		{f.KernelDrops, "the system dropped %d datagrams before they were read"},
		{f.Unsent, "the system refused to send %d datagrams"},
		{f.OverLimit, "%d datagrams exceeded the memory limit"},
	} {
		if x.n > 0 {
			list = append(list, fmt.Sprintf("%s: "+x.format, direction, x.n))
		}
	}
	return list
}

// Deviations describes where the relay deviated from the configured links; nil if nowhere. late are the directions that
// are late: see Late.
func (t *Totals) Deviations(late [2]bool) (list []string) {
	for direction := range t.Flows {
		list = append(list, t.Flows[direction].deviations(Direction(direction), late[direction])...)
	}
	if t.Oversize > 0 {
		list = append(list, fmt.Sprintf("%d datagrams were larger than IPv4 allows and were dropped", t.Oversize))
	}
	if t.NoSocket > 0 {
		list = append(list, fmt.Sprintf("the system provided no socket for %d datagrams of new clients", t.NoSocket))
	}
	return list
}

// Remarks lists notable events that are not deviations from the configured links; nil if none.
func (t *Totals) Remarks() (list []string) {
	if n := t.Flows[Up].Unreachable; n > 0 {
		list = append(list, fmt.Sprintf("server unreachable: %d times", n))
	}
	if t.Refused > 0 {
		list = append(list, fmt.Sprintf("%d datagrams refused", t.Refused))
	}
	return list
}

// Millis formats a duration in milliseconds with two decimals.
func Millis(d time.Duration) string { return units.Fixed(units.Milliseconds(d), 2) }

// Since returns f with the counters reduced by those of earlier, a previous copy of f. Gauges such as Queued keep
// their current values.
func (f *Flow) Since(earlier *Flow) Flow {
	d := *f
	for _, counter := range []struct{ now, earlier *uint64 }{
		{&d.In, &earlier.In}, {&d.InBytes, &earlier.InBytes}, {&d.Copies, &earlier.Copies},
		{&d.Out, &earlier.Out}, {&d.OutBytes, &earlier.OutBytes}, {&d.OutWire, &earlier.OutWire}, {&d.Damaged, &earlier.Damaged},
		{&d.OverLimit, &earlier.OverLimit}, {&d.Unsent, &earlier.Unsent}, {&d.KernelDrops, &earlier.KernelDrops},
		{&d.Unreachable, &earlier.Unreachable},
	} {
		*counter.now -= *counter.earlier
	}
	for i := range d.LostBy {
		d.LostBy[i] -= earlier.LostBy[i]
	}
	d.Size, d.Lateness, d.Delay, d.LinkDelay = f.Size.Since(&earlier.Size), f.Lateness.Since(&earlier.Lateness),
		f.Delay.Since(&earlier.Delay), f.LinkDelay.Since(&earlier.LinkDelay)
	return d
}

// Since returns t with the counters reduced by those of earlier, a previous copy of t. Its field At is the time
// between the two.
func (t *Totals) Since(earlier *Totals) Totals {
	d := *t
	d.At -= earlier.At
	d.Joined -= earlier.Joined
	d.Forgotten -= earlier.Forgotten
	d.Refused -= earlier.Refused
	d.NoSocket -= earlier.NoSocket
	d.Oversize -= earlier.Oversize
	for direction := range d.Flows {
		d.Flows[direction] = t.Flows[direction].Since(&earlier.Flows[direction])
	}
	return d
}

// Kbps returns the rate of bytes in the given time, in kilobits (1000 bits) per second; 0 if
// seconds is not positive.
func Kbps(bytes uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(bytes) * 8 / 1000 / seconds
}

// FormatSecond formats d, the counters of the interval that ended at time at, as one line such as
// "     5 s  up 60/s 38 kbps 52.00 ms  down 60/s ...". The line begins with "!" and ends with the deviations from
// the configured links if there are any, in d or in the list deviations. late are the directions that are late in d: see
// Late.
func FormatSecond(at time.Duration, d *Totals, late [2]bool, deviations []string) string {
	const minSpan = 1e-9 // avoids a division by 0
	span := d.At.Seconds()
	marker, words := " ", []string{fmt.Sprintf("%6.0f s", at.Seconds())}
	for direction := range d.Flows {
		f := &d.Flows[direction]
		words = append(words, fmt.Sprintf("%s %.0f/s %.0f kbps %s ms", Direction(direction), float64(f.Out)/max(span, minSpan), Kbps(f.OutBytes, span),
			Millis(f.Delay.Quantile(0.5))))
		if losses := f.Causes(); losses != "" {
			words = append(words, "lost "+losses)
		}
		if f.Damaged > 0 {
			words = append(words, fmt.Sprintf("%d damaged", f.Damaged))
		}
		if f.LineQueue.Bytes > 0 {
			words = append(words, fmt.Sprintf("queue %d B", f.LineQueue.Bytes))
		}
	}
	p99 := max(d.Flows[Up].Lateness.Quantile(0.99), d.Flows[Down].Lateness.Quantile(0.99))
	words = append(words, fmt.Sprintf("late %s ms", Millis(p99)))
	if d.Clients != 1 {
		words = append(words, fmt.Sprintf("%d clients", d.Clients))
	}
	words = append(words, d.Remarks()...)
	deviations = append(deviations, d.Deviations(late)...)
	if len(deviations) > 0 {
		marker, words = "!", append(words, deviations...)
	}
	return marker + strings.Join(words, "  ")
}

// Causes lists the number of lost datagrams by cause, such as "3 by loss, 1 by queue"; "" if none was
// lost.
func (f *Flow) Causes() string {
	var words []string
	for cause, n := range f.LostBy {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d by %s", n, lossmodel.Cause(cause)))
		}
	}
	return strings.Join(words, ", ")
}

// Types of the JSON report about one direction. Figures without data are null.
type (
	// Figures are the counters of one direction, the settings of the link, and what was measured. The
	// counters are those of Flow; Overrun is Flow.OverLimit, Missed is Flow.KernelDrops and Gone is
	// Flow.Unreachable. Kbps is the mean rate of OutBytes in kilobits per second.
	Figures struct {
		In       uint64            `json:"in"`
		InBytes  uint64            `json:"in_bytes"`
		Copies   uint64            `json:"copies"`
		Out      uint64            `json:"out"`
		OutBytes uint64            `json:"out_bytes"`
		Damaged  uint64            `json:"damaged"`
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
		Late     timesMs        `json:"late_ms"` // time of sending minus due time
	}
	// measured are the figures of a link's traffic.
	measured struct {
		Lost        *float64 `json:"loss"`          // fraction of In + Copies that was lost
		Delay       timesMs  `json:"delay_ms"`      // time from reading to sending
		LinkDelay   *float64 `json:"link_delay_ms"` // mean delay set by the link
		WireKbpsMax float64  `json:"wire_kbps_max"` // rate with headers in the second with the most traffic
	}
	// timesMs summarizes a histogram in milliseconds.
	timesMs struct {
		Mean *float64 `json:"mean"`
		P50  *float64 `json:"p50"`
		P95  *float64 `json:"p95"`
		P99  *float64 `json:"p99"`
		Max  *float64 `json:"max"`
	}
)

// newTimesMs summarizes a histogram; all fields are nil if it is empty.
func newTimesMs(h *Histogram) (t timesMs) {
	if h.N == 0 {
		return t
	}
	ms := func(d time.Duration) *float64 { return new(units.Milliseconds(d)) }
	return timesMs{ms(h.Mean()), ms(h.Quantile(0.5)), ms(h.Quantile(0.95)), ms(h.Quantile(0.99)), ms(h.Max)}
}

// Figures returns the figures of one direction for a report. spec has the settings of its link, and
// maxWireKbps is the highest rate on the wire in any second, in kbps.
func (t *Totals) Figures(direction Direction, spec lossmodel.Spec, maxWireKbps float64) Figures {
	f := &t.Flows[direction]
	d := Figures{In: f.In, InBytes: f.InBytes, Copies: f.Copies, Out: f.Out, OutBytes: f.OutBytes, Damaged: f.Damaged, Lost: f.Lost(),
		LostBy: map[string]uint64{}, Overrun: f.OverLimit, Unsent: f.Unsent, Queued: f.Queued, Missed: f.KernelDrops, Gone: f.Unreachable,
		Kbps: Kbps(f.OutBytes, t.At.Seconds()), Set: spec.Values(), Late: newTimesMs(&f.Lateness),
		Measured: measured{Delay: newTimesMs(&f.Delay), LinkDelay: newTimesMs(&f.LinkDelay).Mean, WireKbpsMax: maxWireKbps}}
	for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
		d.LostBy[cause.String()] = f.LostBy[cause]
	}
	if total := f.In + f.Copies; total > 0 {
		d.Measured.Lost = new(float64(f.Lost()) / float64(total))
	}
	return d
}
