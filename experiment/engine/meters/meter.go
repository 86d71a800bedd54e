// Package meters measures a lane: the size of its packets, their outcomes and delays, the quality of
// the receiver's display, and the time of the encoder and the decoder. The lane reports the events;
// meters count them for the whole run and in samples of 100 ms.
package meters

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/container"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// Meter counts the events of one lane.
type Meter struct {
	Network  network
	Link     link
	Display  Display
	Rounding rounding
	Swaps    stretches

	Now            Sample // the current, incomplete sample; callers count events in it
	total          Sample // sum of all complete samples
	samples        samples
	sizes, ages    quantile.Histogram // payload in bytes; age of the baseline in ticks
	encode, decode codecTimes
	runsAs         string // Codec.RunsAs of the newest plugin encoder; empty if none was used
	runsAsSince    int    // number of packets encoded before the plugin's newest packet
	overBudget     budgetCounter
	sent           sentTimes
	newestAcked    uint64 // if hasAck
	hasAck         bool
}

// New returns a meter for a lane with a display rate of displayHz. It stores the newest keepSamples
// samples; 0 means all.
func New(displayHz float64, keepSamples int) *Meter {
	exact := quantile.Histogram{Precision: quantile.Exact}
	return &Meter{Display: Display{Hz: displayHz}, Network: newNetwork(), samples: samples{maxStored: keepSamples}, sizes: exact, ages: exact}
}

// CountPacket counts a packet that was sent. ageTicks is the age of its baseline in ticks, and budget its bit
// budget.
func (m *Meter) CountPacket(r *packetlog.Record, ageTicks int, budget *encoders.Budget) {
	m.Swaps.countPacket(r)
	m.Now.countEncoder(m.Swaps.newest)
	m.sizes.Add(int64(r.Payload))
	m.encode.add(r.EncodeNS)
	s := &m.Now
	s.countPacket(r)
	m.sent.add(r)
	if r.Baseline > 0 {
		m.ages.Add(int64(ageTicks))
		s.BaselineAge += int64(ageTicks)
		s.Referenced++
	}
	if r.CrossesLoop {
		s.CrossingLoop++
	}
	s.Budget.Add(budget)
}

// SetRunsAs records that a plugin encodes the next packet, and how it runs: see Codec.RunsAs.
func (m *Meter) SetRunsAs(how string) { m.runsAs, m.runsAsSince = how, m.encode.n }

// AddDecodeTime counts the time of one call of the decoder, in nanoseconds.
func (m *Meter) AddDecodeTime(ns int64) { m.decode.add(ns) }

// CountOutcome counts the outcome of one copy of the packet with record r.
func (m *Meter) CountOutcome(r *packetlog.Record) {
	m.Swaps.countOutcome(r)
	*r.Outcome.In(&m.Now.Counts)++
	if r.Repair != container.NotRepaired {
		m.Now.Repaired++
	}
	if r.Outcome == packetlog.Lost {
		m.Now.LostBy[r.Cause]++
	}
}

// CountDisplayTick counts a tick of the receiver's display. behind is the lag of the displayed time
// behind the sender.
func (m *Meter) CountDisplayTick(behind time.Duration, starved bool) {
	m.Display.Tick(behind, starved)
	m.Now.Displayed++
	if starved {
		m.Now.Starved++
	}
}

// CountAge counts the age of the displayed state on one display tick.
func (m *Meter) CountAge(age time.Duration) {
	m.Display.age.Add(age.Microseconds())
	m.Now.Age += age
	m.Now.Aged++
	m.Now.Oldest = max(m.Now.Oldest, age)
}

// CountLate counts a snapshot that arrived late. by is the time between its display time and its arrival.
func (m *Meter) CountLate(by time.Duration) {
	m.Display.MarkLate(by)
	m.Now.Late++
}

// CloseSample completes the current sample, which ends at t, and begins the next one. budgetKbps is the
// budget of the payload; 0 means none. playouts are the samples of the compared playout policies. It
// returns the stored sample.
func (m *Meter) CloseSample(t time.Duration, budgetKbps float64, playouts []PlayoutSample) *Sample {
	s := &m.Now
	s.T, s.Playouts = t, playouts
	position, angle := m.Display.Errors.takeLargest()
	if m.Display.Units == nil {
		s.PositionErrorMM, s.OrientationErrorDeg = position, angle
	} else {
		s.PositionError, s.AngleError = position/1000, angle/1000
	}
	s.close()
	m.overBudget.addSample(s.PayloadBits, budgetKbps)
	m.total.Join(s)
	done := m.samples.add(s)
	*s = Sample{}
	return done
}

// Samples returns the stored complete samples, oldest first. They are never modified.
func (m *Meter) Samples() []Sample { return m.samples.stored() }

// Total returns the counts of the whole run so far, including the current sample.
func (m *Meter) Total() *Sample {
	s := m.total
	s.Join(&m.Now)
	return &s
}

// Totals returns all figures of a run. d is its duration so far, for rates, and g contains the gauges
// of the downlink.
func (m *Meter) Totals(d time.Duration, schema *frame.Schema, g lossmodel.Gauges) figures.Totals {
	s := m.Total()
	s.Width = d
	s.InFlight = s.Sent + s.Duplicated - s.Ended()
	t := figures.Totals{
		Counts: s.Counts,
		Rates: figures.Rates{
			PayloadKbps:     figures.RatioOrZero(PayloadKbps(s)),
			WireKbps:        figures.RatioOrZero(WireKbps(s)),
			FeedbackKbps:    figures.RatioOrZero(FeedbackKbps(s)),
			BitsPerItem:     figures.RatioFigure(BitsPerItem(s)),
			OverBudgetRatio: m.overBudget.ratio()},
		PacketBytes: figures.QuantilesOf(&m.sizes, 1), BaselineAgeTicks: figures.QuantilesOf(&m.ages, 1), AgeMS: figures.QuantilesOf(&m.Display.age, 1000),
		Playout: m.Display.figures(frame.IsCubes(schema)), Network: m.Network.figures(g), Rounding: m.Rounding.Figures(schema),
	}
	if frame.IsCubes(schema) {
		changed := figures.RatioFigure(BitsPerChanged(s))
		t.BitsPerCube, t.BitsPerChangedCube = &t.BitsPerItem, &changed
	}
	return t
}

// Timing returns how long the calls of the encoder and the decoder took in this process.
func (m *Meter) Timing() figures.Timing {
	return figures.Timing{EncodeUS: figures.QuantilesOf(&m.encode.all, 1000), DecodeUS: figures.QuantilesOf(&m.decode.all, 1000), RunsAs: m.runsAs}
}

// Recent returns the figures of the last two seconds. tickHz is the tick rate of the source.
func (m *Meter) Recent(tickHz int) Recent {
	r := RecentOf(m.Samples(), tickHz)
	r.EncodeUS, r.DecodeUS = m.encode.median(), m.decode.median()
	if m.encode.n-m.runsAsSince <= len(m.encode.newest) { // a plugin made some of the times in the median
		r.RunsAs = m.runsAs
	}
	return r
}

// Shares returns the bit budget of the run: the bits of each slot in use, in the order of the slots.
func (m *Meter) Shares(schema *frame.Schema) []figures.BudgetShare {
	b := &m.Total().Budget
	total := b.Total()
	var out []figures.BudgetShare
	for k, units := range b.Units { // encoders.BitUnit units are one bit
		if units != 0 && total != 0 {
			share := figures.BudgetShare{Slot: encoders.Slot(k).Name(schema), Bits: float64(units) / encoders.BitUnit,
				Share: float64(units) / float64(total)}
			if n := encoders.Slot(k).Fields(schema); n > 1 { // Fields stays 0 for the slot of a single field
				share.Fields = n
			}
			out = append(out, share)
		}
	}
	return out
}

// budgetCounter counts the samples at whose end the payload of the last second exceeded the budget. It
// begins after the first complete second.
type budgetCounter struct {
	ring           [time.Second / SamplePeriod]int64 // payload bits of the samples of the last second
	samples        int                               // samples so far
	sum            int64                             // of ring
	budgeted, over int64                             // samples with a budget, and those of them above it
}

// addSample counts a completed sample. kbps is the budget in kbit/s; 0 means none.
func (b *budgetCounter) addSample(payloadBits int64, kbps float64) {
	oldest := &b.ring[b.samples%len(b.ring)] // leaves the last second; the new sample takes its place
	b.sum += payloadBits - *oldest
	*oldest = payloadBits
	b.samples++
	if kbps == 0 || b.samples < len(b.ring) {
		return
	}
	b.budgeted++
	if float64(b.sum)/1000 > kbps {
		b.over++
	}
}

// ratio returns the share of the samples over budget; unknown if there was no budget.
func (b *budgetCounter) ratio() figures.Figure {
	return figures.RatioFigure(float64(b.over), float64(b.budgeted))
}
