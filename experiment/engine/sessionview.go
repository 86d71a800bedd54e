package engine

import (
	"math"
	"slices"
	"time"

	"wirelab/dataset"
	"wirelab/experiment/figures"
)

// View returns a snapshot of the session, with at most the given number of packets of
// each lane. The runner adds its own state.
func (s *Session) View(packets int) *Snapshot {
	snap := &Snapshot{
		Now: s.Now(), Config: s.config.Clone(), Item: s.schema.Item, Schema: s.schema,
		Marks: s.marks[:len(s.marks):len(s.marks)], Log: s.Log(),
		World: s.picture(), Both: s.display(), Effects: s.effects[:len(s.effects):len(s.effects)], Before: s.prior, Remarks: s.remarks(),
	}
	if s.trial != nil {
		snap.Trying = s.trial.at
	}
	differs := s.differences()
	for i, l := range s.lanes {
		snap.Lanes = append(snap.Lanes, l.view(s.Now(), packets))
		snap.Lanes[i].Differs = differs[i]
	}
	return snap
}

// Opened returns a packet of the first lane with its Inside. Its Gone is set if the
// packet is no longer kept.
func (s *Session) Opened(id PacketID) *Opened { return s.lanes[0].opened(id) }

// Tell tells an observer of the samples and packets kept of the first lane, oldest first.
func (s *Session) Tell(o Observer) {
	l := s.lanes[0]
	samples := l.meter.samples.view()
	for i := range samples {
		o.Sample(&samples[i])
	}
	asks, _ := o.(TroubleObserver)
	for n := l.records.oldest(); n < l.records.n; n++ {
		r := *l.records.at(n)
		if asks != nil && l.watch != nil {
			l.tellTrouble(asks, &r, l.watch.at(n))
		}
		o.Packet(&r)
	}
}

// Packets returns a copy of the packets kept of the first lane, oldest first.
func (s *Session) Packets() []PacketRecord {
	records := &s.lanes[0].records
	return records.last(nil, len(records.ring))
}

// view makes one lane's part of a snapshot.
func (l *lane) view(now time.Duration, packets int) Lane {
	samples := l.meter.samples.view()
	v := Lane{
		Encoder: l.snd.Encoding().Codec.Name, Params: l.snd.Encoding().Params, Began: l.began, Epoch: l.snd.Epoch(),
		Samples: samples, Packets: l.records.last(make([]PacketRecord, 0, packets), packets),
		Totals: l.totals(now),
		Timing: l.timing(),
		Recent: l.recent(samples), Blocks: l.delivery.states(),
		Err: l.lastErr, Troubles: l.troubles(),
	}
	if l.watch != nil {
		v.Asked = slices.Clone(l.meter.asked.parts)
	}
	return v
}

// recent sums up the last two seconds.
func (l *lane) recent(all []Sample) Recent {
	r := RecentOf(all, l.cadence.TickHz)
	times := &l.meter.encodeLast
	r.EncodeUS, r.DecodeUS = times.median(), l.meter.decodeLast.median()
	if times.n-l.ranAt <= len(times.ns) {
		r.RunsAs = l.runsAs
	}
	return r
}

// RecentOf sums up the last two seconds of samples, oldest first, of a source of
// tickHz ticks a second. Samples hold no codec times, so EncodeUS and DecodeUS stay
// 0.
func RecentOf(all []Sample, tickHz int) Recent {
	last := Tail(all, 2*time.Second)
	if len(last) == 0 { // it was not there: that is not nothing
		none := math.NaN()
		return Recent{PayloadKbps: none, WireKbps: none, FeedbackKbps: none, PayloadP95Kbps: none, BitsPerItem: none, BitsPerChanged: none}
	}
	var s Sample
	for i := range last {
		x := &last[i]
		s.Sent += x.Sent
		s.PayloadBits += x.PayloadBits
		s.WireBits += x.WireBits
		s.FeedbackBits += x.FeedbackBits
		s.Items += x.Items
		s.Changed += x.Changed
		s.BaselineAge += x.BaselineAge
		s.Referenced += x.Referenced
		s.Budget.Add(&x.Budget)
		s.Displayed += x.Displayed
		s.Starved += x.Starved
		s.Age += x.Age
		s.Aged += x.Aged
		s.PositionErrorMM = max(s.PositionErrorMM, x.PositionErrorMM)
	}
	secs := float64(len(last)) * SamplePeriod.Seconds()
	return Recent{
		PayloadKbps: figures.Ratio(float64(s.PayloadBits)/1000, secs), WireKbps: figures.Ratio(float64(s.WireBits)/1000, secs),
		FeedbackKbps: figures.Ratio(float64(s.FeedbackBits)/1000, secs), PayloadP95Kbps: p95Kbps(Tail(all, time.Minute)),
		BitsPerItem:      figures.Ratio(float64(s.PayloadBits), float64(s.Items)),
		BitsPerChanged:   figures.Ratio(float64(s.PayloadBits), float64(s.Changed)),
		ChangedPerFrame:  figures.Ratio(float64(s.Changed), float64(s.Sent)),
		BaselineAgeTicks: figures.Ratio(float64(s.BaselineAge), float64(s.Referenced)),
		BaselineAgeMS:    figures.Ratio(float64(s.BaselineAge)*1000, float64(s.Referenced)*float64(tickHz)),
		StarvedRatio:     figures.Ratio(float64(s.Starved), float64(s.Displayed)), PositionErrorMM: s.PositionErrorMM,
		AgeMS: figures.Ratio(s.Age.Seconds()*1000, float64(s.Aged)), Aged: s.Aged,
		Budget: s.Budget,
	}
}

// Tail returns the samples of the last d.
func Tail(all []Sample, d time.Duration) []Sample {
	return all[max(0, len(all)-int(d/SamplePeriod)):]
}

// p95Kbps returns the 95th percentile of the samples' payload rates.
func p95Kbps(all []Sample) float64 {
	if len(all) == 0 {
		return 0
	}
	bits := make([]int64, len(all))
	for i := range all {
		bits[i] = all[i].PayloadBits
	}
	slices.Sort(bits)
	return float64(bits[(len(bits)*95+99)/100-1]) / 1000 / SamplePeriod.Seconds()
}

// Progress returns how much of the session is done and how much there is: in seconds,
// or in bytes where a file is delivered.
func (s *Session) Progress() (done, total float64) {
	if s.delivers {
		return s.delivered()
	}
	return s.Now().Seconds(), s.expected().Seconds()
}

// expected returns when the session will end; 0 if that is not known.
func (s *Session) expected() time.Duration {
	if s.end < never {
		return s.end
	}
	if src, ok := s.source.(dataset.Sized); ok {
		return s.cadence.TickTime(uint64(src.Frames()))
	}
	return 0
}

// Planned returns how long the session is to be, 0 if only the data knows. Ask at the
// beginning: what was broken off has ended.
func (s *Session) Planned() time.Duration {
	if s.delivers || s.opt.Endless {
		return 0
	}
	return s.expected()
}

// Interrupt ends the session right after the present instant.
func (s *Session) Interrupt() {
	s.interrupted = true
	s.finish(s.now + 1)
}
