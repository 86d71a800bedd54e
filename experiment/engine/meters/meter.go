// Package meters measures a lane: what its packets cost, what the network did to them, how
// good the receiver's display is, and how long the codec took. It counts events that the
// lane reports, for the whole run and in samples of 100 ms, and takes no decisions.
package meters

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// Meter counts what happens at both ends of a lane.
type Meter struct {
	Duplicated    int64 // copies made by the link
	Reordered     int64 // packets decoded after a newer one
	EncodeFailed  int64 // frames that the encoder refused
	Undetected    int64 // frames decoded that differ from the truth
	DecodeRefused int64 // undamaged packets that the decoder rejected

	Network  network
	Link     link
	Display  Display
	Rounding rounding

	total   Sample // the sum of all complete samples
	sample  Sample // the current one
	samples samples

	sizes, ages    quantile.Counts // payload in bytes; age of the baseline in ticks
	encode, decode codecTimes
	runsAs         string // how the newest encoder from outside ran; empty if none did
	runsAsSince    int    // packets encoded before its newest one
	overBudget     budgetCounter
}

// New returns a meter for a display that runs at displayHz. It keeps the newest keepSamples
// samples; 0 means all.
func New(displayHz float64, keepSamples int) *Meter {
	return &Meter{Display: Display{Hz: displayHz}, samples: samples{maxStored: keepSamples}}
}

// CountPacket counts a packet that was sent. Its baseline is ageTicks old; b holds its bits.
func (m *Meter) CountPacket(r *packetlog.Record, ageTicks int, b *encoders.Budget) {
	m.sizes.Add(int64(r.Payload))
	m.encode.add(r.EncodeNS)
	s := &m.sample
	s.Sent++
	s.PayloadBits += int64(r.Payload) * 8
	s.WireBits += int64(r.Wire) * 8
	s.Items += int64(r.Items)
	s.Changed += int64(r.Changed)
	if r.Baseline > 0 {
		m.ages.Add(int64(ageTicks))
		s.BaselineAge += int64(ageTicks)
		s.Referenced++
	}
	if r.Across {
		s.Across++
	}
	s.Budget.Add(b)
}

// SetRunsAs notes that the encoder of the next packet is from outside, and how it runs.
func (m *Meter) SetRunsAs(how string) { m.runsAs, m.runsAsSince = how, m.encode.n }

// AddDecodeTime counts the time that a decoder took.
func (m *Meter) AddDecodeTime(ns int64) { m.decode.add(ns) }

// CountOutcome counts the outcome of one copy of a packet; cause is the stage that lost it.
func (m *Meter) CountOutcome(o packetlog.Outcome, cause lossmodel.Cause) {
	m.sample.Outcomes[o]++
	if o == packetlog.Lost {
		m.sample.LostBy[cause]++
	}
}

// CountFeedback counts a datagram of the uplink, of that many bytes on the wire.
func (m *Meter) CountFeedback(wire int) { m.sample.FeedbackBits += int64(wire) * 8 }

// CountDisplayTick counts a tick of the receiver's display. behind is the display's lag behind the sender.
func (m *Meter) CountDisplayTick(behind time.Duration, starved bool) {
	m.Display.Tick(behind, starved)
	m.sample.Displayed++
	if starved {
		m.sample.Starved++
	}
}

// CountAge counts a tick of the display on which a state of that age was shown.
func (m *Meter) CountAge(age time.Duration) {
	m.Display.age.add(age.Microseconds())
	m.sample.Age += age
	m.sample.Aged++
	m.sample.Oldest = max(m.sample.Oldest, age)
}

// CountLate counts a snapshot that arrived after its display time.
func (m *Meter) CountLate(by time.Duration) {
	m.Display.MarkLate(by)
	m.sample.Late++
}

// CloseSample completes the sample that ends at t, under the present budget; 0 means none. The
// next sample begins.
func (m *Meter) CloseSample(t time.Duration, budgetKbps float64) *Sample {
	s := &m.sample
	s.T = t
	s.PositionErrorMM, s.OrientationErrorDeg = m.Display.Errors.takeLargest()
	m.overBudget.addSample(s.PayloadBits, budgetKbps)
	m.total.add(s)
	done := m.samples.add(s)
	*s = Sample{}
	return done
}

// Samples returns the complete samples that are kept, oldest first. They are never modified.
func (m *Meter) Samples() []Sample { return m.samples.stored() }

// runTotal returns the counts of the whole run until now.
func (m *Meter) runTotal() *Sample {
	s := m.total
	s.add(&m.sample)
	return &s
}

// Items returns how many items the frames sent had.
func (m *Meter) Items() int64 { return m.total.Items + m.sample.Items }

// Bytes returns how many bytes were sent: payload, on the wire, and on the uplink's wire.
func (m *Meter) Bytes() (payload, wire, feedback int64) {
	s := m.runTotal()
	return s.PayloadBits / 8, s.WireBits / 8, s.FeedbackBits / 8
}

// Totals returns all figures of a run that has taken d. g are the gauges of the downlink.
func (m *Meter) Totals(d time.Duration, schema *frame.Schema, g lossmodel.Gauges) figures.Totals {
	s, secs := m.runTotal(), d.Seconds()
	ended := int64(0)
	for _, n := range s.Outcomes {
		ended += int64(n)
	}
	of := func(o packetlog.Outcome) int64 { return int64(s.Outcomes[o]) }
	t := figures.Totals{
		Counts: figures.Counts{
			Sent: int64(s.Sent), Duplicated: m.Duplicated, Reordered: m.Reordered,
			Decoded: of(packetlog.Decoded), Stale: of(packetlog.Stale), Duplicate: of(packetlog.Duplicate),
			Lost: of(packetlog.Lost), LostBy: figures.LostBy(&s.LostBy),
			Failures: figures.Failures{NoBaseline: of(packetlog.NoBaseline), Corrupt: of(packetlog.Corrupt),
				UnknownCodec: of(packetlog.UnknownCodec)},
			Tainted: of(packetlog.Tainted), InFlight: int64(s.Sent) + m.Duplicated - ended, Wrong: of(packetlog.Wrong),
			Unknown: of(packetlog.Unknown), Undetected: m.Undetected,
			EncodeFailed: m.EncodeFailed, DecodeRefused: m.DecodeRefused},
		Rates: figures.Rates{
			PayloadKbps:     figures.Ratio(float64(s.PayloadBits)/1000, secs),
			WireKbps:        figures.Ratio(float64(s.WireBits)/1000, secs),
			FeedbackKbps:    figures.Ratio(float64(s.FeedbackBits)/1000, secs),
			BitsPerItem:     figures.RatioOf(float64(s.PayloadBits), float64(s.Items)),
			OverBudgetRatio: m.overBudget.ratio()},
		PacketBytes: quantilesOf(&m.sizes), BaselineAgeTicks: quantilesOf(&m.ages), AgeMS: m.Display.age.thousandths(),
		Playout: m.Display.figures(frame.IsCubes(schema)), Network: m.Network.figures(g), Rounding: m.Rounding.Figures(schema),
	}
	if frame.IsCubes(schema) {
		changed := figures.RatioOf(float64(s.PayloadBits), float64(s.Changed))
		t.BitsPerCube, t.BitsPerChangedCube = &t.BitsPerItem, &changed
	}
	return t
}

// Timing returns how long the codec's work took in this process.
func (m *Meter) Timing() figures.Timing {
	return figures.Timing{EncodeUS: m.encode.all.thousandths(), DecodeUS: m.decode.all.thousandths(), RunsAs: m.runsAs}
}

// Recent sums up the last two seconds, of a source of tickHz ticks a second.
func (m *Meter) Recent(tickHz int) Recent {
	r := RecentOf(m.Samples(), tickHz)
	r.EncodeUS, r.DecodeUS = m.encode.median(), m.decode.median()
	if m.encode.n-m.runsAsSince <= len(m.encode.newest) {
		r.RunsAs = m.runsAs
	}
	return r
}

// Shares lists how many bits of the payload each slot took, in the order of the slots.
func (m *Meter) Shares(schema *frame.Schema) []figures.BudgetShare {
	b := &m.runTotal().Budget
	total := b.Total()
	var out []figures.BudgetShare
	for k, u := range b.Units {
		if u != 0 && total != 0 {
			share := figures.BudgetShare{Slot: encoders.Slot(k).Name(schema), Bits: float64(u) / encoders.BitUnit,
				Share: float64(u) / float64(total)}
			if n := encoders.Slot(k).Fields(schema); n > 1 {
				share.Fields = n
			}
			out = append(out, share)
		}
	}
	return out
}

// budgetCounter counts the samples in which the payload of the last second exceeded the
// budget. It begins after the first whole second.
type budgetCounter struct {
	ring           [time.Second / SamplePeriod]int64 // payload bits of the newest samples
	samples        int
	sum            int64 // of ring
	budgeted, over int64 // samples with a budget set, and those of them that exceeded it
}

// addSample counts a completed sample under a budget; 0 means none.
func (b *budgetCounter) addSample(payloadBits int64, kbps float64) {
	oldest := &b.ring[b.samples%len(b.ring)]
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

// ratio returns the share of the time over budget; none if there was no budget.
func (b *budgetCounter) ratio() figures.Figure {
	return figures.RatioOf(float64(b.over), float64(b.budgeted))
}
