package lossmodel

import "time"

// MaxDelay is the longest delay that any key takes.
const MaxDelay = time.Hour

// Delay is what the delay stage does: constant latency plus jitter, plus what the
// other parts add. A sum below zero counts as zero.
type Delay struct {
	Latency      time.Duration
	Jitter       time.Duration // the unit of the distribution: half the width if uniform, the standard deviation if normal
	Distribution Distribution
	Shape        float64 // of Gamma: 0.5 to 16 in steps of 0.5; 0 stands for DefaultShape
	Correlation  float64 // of a packet's jitter with that of the one before it, from 0 to below 1; exact
	Table        Table   // of Tabled
	// KeepOrder: a packet leaves this stage no earlier than the one sent before
	// it, whatever its jitter. The mean delay grows accordingly: see
	// Gauges.OrderCost. Lost packets keep their place, so that losses change no
	// delay; a copy takes the jitter of its datagram and follows it. The reorder
	// stage comes later and still holds packets back.
	KeepOrder bool
	// Spike: for the last Length of every stretch of Every, packets sent take
	// Height longer, as at the handover of a satellite. With KeepOrder those
	// sent just after it wait for those sent in it.
	SpikeEvery, SpikeHeight, SpikeLength time.Duration
	// Burst is added while the loss model is in its bad state, for the packets that
	// survive it: a burst of losses is also slow.
	Burst time.Duration
	// Trace: what packets took in a capture is added.
	Trace File
}

type delayStage struct {
	stream  stream
	files   *library
	spec    Delay
	process jitterProcess
	trace   cursor
	jitter  time.Duration // of the present datagram
	last    time.Duration // the latest that a packet has left
	waited  time.Duration // for order, by all datagrams that were not lost
	passed  uint64        // how many those were
}

func (s *delayStage) reshape(spec *Spec) bool {
	s.spec = spec.Delay
	s.process.reshape(&s.spec, s.files)
	if f := s.spec.Trace; f.Path != "" {
		s.trace.set(s.files.get(f, asDelays).replay, f.ByTime)
	}
	d := &s.spec
	return d.Latency > 0 || d.Jitter > 0 || d.KeepOrder || d.Burst > 0 || d.SpikeEvery > 0 || d.Trace.Path != ""
}

// Apply implements Stage. Without jitter nothing is drawn.
func (s *delayStage) Apply(now time.Duration, _ int, f *Fate) {
	enters := now + f.Delay
	if s.spec.Jitter == 0 {
		s.jitter = 0
	} else if f.Copy == 0 || !s.spec.KeepOrder {
		s.jitter = s.process.draw(s.stream.next(f.Copy), f.Copy)
	}
	leaves := enters + max(0, s.spec.Latency+s.jitter+s.more(now, f))
	if s.spec.KeepOrder {
		leaves = s.inOrder(leaves, f)
	}
	s.last = max(s.last, leaves)
	f.Delay = leaves - now
}

// more returns what neither latency nor jitter accounts for.
func (s *delayStage) more(now time.Duration, f *Fate) (d time.Duration) {
	if every := s.spec.SpikeEvery; every > 0 && now%every >= every-s.spec.SpikeLength {
		d += s.spec.SpikeHeight
	}
	if f.Bad {
		d += s.spec.Burst
	}
	if s.spec.Trace.Path != "" {
		d += s.trace.play(now, f.Copy).took
	}
	return d
}

// inOrder holds a packet back until the one before it has left, and notes the
// cost.
func (s *delayStage) inOrder(leaves time.Duration, f *Fate) time.Duration {
	wait := max(0, s.last-leaves)
	if f.Copy == 0 && f.Lost == None {
		s.waited += wait
		s.passed++
	}
	return leaves + wait
}
