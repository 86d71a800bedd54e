package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// meter counts what happens at both ends of a lane, for the whole run and for the
// current sample.
type meter struct {
	sent, duplicated   int64
	outcomes           [NumOutcomes]int64 // InFlight is not counted; totals derives it
	lostBy             [figures.MaxCauses]int64
	reordered          int64
	encodeFailed       int64
	undetected         int64 // frames decoded that differ from the truth
	decodeRefused      int64 // undamaged packets that the decoder rejected
	encodeLast         recentTimes
	decodeLast         recentTimes
	playout            playoutMeter
	payload, wire, up  int64 // bits
	items, changed     int64
	sizes, ages        counts
	encodeNS, decodeNS spread
	budget             encoders.Budget
	net                netMeter
	asked              askedMeter
	rounding           roundingMeter
	budgetLine         budgetMeter
	sample             Sample
	samples            samples
}

// packet counts one packet sent.
func (m *meter) packet(p *endpoint.Packet, x *made, wire int, ageTicks int, b *encoders.Budget) {
	m.sent++
	m.payload += int64(p.Payload) * 8
	m.wire += int64(wire) * 8
	m.items += int64(x.items)
	m.changed += int64(x.changed)
	m.sizes.add(p.Payload)
	if p.Baseline > 0 {
		m.ages.add(ageTicks)
		m.sample.BaselineAge += int64(ageTicks)
		m.sample.Referenced++
	}
	m.encodeNS.add(x.ns)
	m.encodeLast.add(x.ns)
	m.budget.Add(b)

	s := &m.sample
	s.Sent++
	if x.across {
		s.Across++
	}
	s.PayloadBits += int64(p.Payload) * 8
	s.WireBits += int64(wire) * 8
	s.Items += int64(x.items)
	s.Changed += int64(x.changed)
	s.Budget.Add(b)
}

// decoded counts the time that a decoder took.
func (m *meter) decoded(ns int64) {
	m.decodeNS.add(ns)
	m.decodeLast.add(ns)
}

// end counts the outcome of one copy of a packet.
func (m *meter) end(o Outcome, cause lossmodel.Cause) {
	m.outcomes[o]++
	m.sample.Outcomes[o]++
	if o == Lost {
		m.lostBy[cause]++
		m.sample.LostBy[cause]++
	}
}

// feedback counts a datagram of the uplink.
func (m *meter) feedback(wire int) {
	m.up += int64(wire) * 8
	m.sample.FeedbackBits += int64(wire) * 8
}

// display counts a tick of the receiver's display. behind is the display's lag behind
// the sender.
func (m *meter) display(behind time.Duration, starved bool) {
	m.playout.display(behind, starved)
	m.sample.Displayed++
	if starved {
		m.sample.Starved++
	}
}

// aged counts a tick of the display on which a state of an age was shown.
func (m *meter) aged(age time.Duration) {
	m.playout.age.add(age.Microseconds())
	m.sample.Age += age
	m.sample.Aged++
	m.sample.Oldest = max(m.sample.Oldest, age)
}

// late counts a snapshot that arrived after its display time.
func (m *meter) late(by time.Duration) {
	m.playout.late.add(by.Microseconds())
	m.sample.Late++
}

// close completes the sample that ends at t and returns it. The next one begins.
func (m *meter) close(t time.Duration, budgetKbps float64) *Sample {
	m.sample.T = t
	m.budgetLine.close(m.sample.PayloadBits, budgetKbps)
	off := &m.playout.off
	m.sample.PositionErrorMM, m.sample.OrientationErrorDeg = float64(off.worst)/1000, float64(off.worstAngle)/1000
	off.worst, off.worstAngle = 0, 0
	s := m.samples.add(m.sample)
	m.sample = Sample{}
	return s
}

// samples keeps the last `keep` samples, or all if keep is 0. An appended sample is
// never modified, so a reader may hold a slice of them while more are added.
type samples struct {
	keep int
	all  []Sample
}

func (s *samples) add(x Sample) *Sample {
	if room := 2*s.keep + 16; s.keep > 0 && len(s.all) == cap(s.all) && len(s.all) >= s.keep {
		s.all = append(make([]Sample, 0, room), s.all[len(s.all)-s.keep:]...)
	}
	s.all = append(s.all, x)
	return &s.all[len(s.all)-1]
}

// view returns the samples kept, oldest first.
func (s *samples) view() []Sample {
	all := s.all
	if s.keep > 0 && len(all) > s.keep {
		all = all[len(all)-s.keep:]
	}
	return all[:len(all):len(all)]
}

// Between returns the samples whose periods lie within (from, to].
func Between(samples []Sample, from, to time.Duration) []Sample {
	i, j := 0, len(samples)
	for i < j && samples[i].T-SamplePeriod < from {
		i++
	}
	for j > i && samples[j-1].T > to {
		j--
	}
	return samples[i:j]
}

// totals returns all figures up to now.
func (m *meter) totals(now time.Duration, schema *frame.Schema, g lossmodel.Gauges) figures.Totals {
	secs := now.Seconds()
	var ended int64
	for _, n := range m.outcomes {
		ended += n
	}
	t := figures.Totals{
		Sent: m.sent, Duplicated: m.duplicated,
		Decoded: m.outcomes[Decoded], Stale: m.outcomes[Stale], Duplicate: m.outcomes[Duplicate],
		Lost: m.outcomes[Lost], LostBy: figures.LostBy(&m.lostBy),
		Failures: figures.Failures{NoBaseline: m.outcomes[NoBaseline], Corrupt: m.outcomes[Corrupt],
			UnknownCodec: m.outcomes[UnknownCodec]},
		Tainted: m.outcomes[Tainted], InFlight: m.sent + m.duplicated - ended, Wrong: m.outcomes[Wrong], Undetected: m.undetected,
		Unknown:   m.outcomes[Unknown],
		Reordered: m.reordered, EncodeFailed: m.encodeFailed, DecodeRefused: m.decodeRefused,
		PayloadKbps: figures.Ratio(float64(m.payload)/1000, secs), WireKbps: figures.Ratio(float64(m.wire)/1000, secs),
		FeedbackKbps: figures.Ratio(float64(m.up)/1000, secs),
		BitsPerItem:  figures.RatioOf(float64(m.payload), float64(m.items)),
		PacketBytes:  m.sizes.quantiles(), BaselineAgeTicks: m.ages.quantiles(),
		OverBudgetRatio: m.budgetLine.ratio(),
		AgeMS:           m.playout.age.thousandths(),
		Playout:         m.playout.totals(frame.IsCubes(schema)),
		Network:         m.net.network(g), Rounding: m.rounding.rounding(schema),
	}
	if frame.IsCubes(schema) {
		changed := figures.RatioOf(float64(m.payload), float64(m.changed))
		t.BitsPerCube, t.BitsPerChangedCube = &t.BitsPerItem, &changed
	}
	return t
}

// shares lists how many bits of the payload each slot took, in the order of the
// slots.
func (m *meter) shares(schema *frame.Schema) []figures.BudgetShare {
	total := m.budget.Total()
	var out []figures.BudgetShare
	for k, u := range m.budget.Units {
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

// budgetMeter counts the samples in which the payload of the last second exceeded the
// budget. It begins after the first whole second.
type budgetMeter struct {
	ring           [time.Second / SamplePeriod]int64 // payload bits of the newest samples
	samples        int
	sum            int64
	budgeted, over int64 // samples with a budget set, and those of them that exceeded it
}

// close counts a completed sample under the present budget; 0: none.
func (b *budgetMeter) close(payloadBits int64, kbps float64) {
	at := b.samples % len(b.ring)
	b.sum += payloadBits - b.ring[at]
	b.ring[at] = payloadBits
	if b.samples++; kbps == 0 || b.samples < len(b.ring) {
		return
	}
	b.budgeted++
	if float64(b.sum)/1000 > kbps {
		b.over++
	}
}

// ratio returns the share of the time over budget; nil if there was no budget.
func (b *budgetMeter) ratio() figures.Figure {
	return figures.RatioOf(float64(b.over), float64(b.budgeted))
}
