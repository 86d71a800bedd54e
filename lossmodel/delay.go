package lossmodel

import "time"

// MaxDelay is the longest delay that any key takes.
const MaxDelay = time.Hour

// Delay is what the delay stage does: constant latency plus jitter, drawn anew
// for each packet. A draw below zero counts as zero.
type Delay struct {
	Latency      time.Duration
	Jitter       time.Duration // half the width if uniform, the standard deviation if normal
	Distribution Distribution
	// KeepOrder: a packet leaves this stage no earlier than the one sent before
	// it, whatever its jitter. The mean delay grows accordingly. Lost packets
	// keep their place, so that losses change no delay; a copy takes the jitter
	// of its datagram and follows it. The reorder stage comes later and still holds
	// packets back.
	KeepOrder bool
}

type delayStage struct {
	stream stream
	spec   Delay
	jitter time.Duration // of the present datagram
	last   time.Duration // the latest that a packet has left
}

func (s *delayStage) reshape(spec *Spec) bool {
	s.spec = spec.Delay
	return s.spec.Latency > 0 || s.spec.Jitter > 0 || s.spec.KeepOrder
}

// Apply implements Stage. Without jitter nothing is drawn.
func (s *delayStage) Apply(now time.Duration, _ int, f *Fate) {
	enters := now + f.Delay
	if s.spec.Jitter == 0 {
		s.jitter = 0
	} else if f.Copy == 0 || !s.spec.KeepOrder {
		s.jitter = s.spec.Distribution.sample(s.stream.next(f.Copy), s.spec.Jitter)
	}
	leaves := enters + max(0, s.spec.Latency+s.jitter)
	if s.spec.KeepOrder {
		leaves = max(leaves, s.last)
	}
	s.last = max(s.last, leaves)
	f.Delay = leaves - now
}

func delaySettings() []setting {
	return []setting{
		latencySetting(),
		newSetting(spanUnit, func(s *Spec) *time.Duration { return &s.Delay.Jitter }, KeyInfo{
			Key: "jitter", Stage: "delay", Ladder: spanLadder,
			Help: "how far delays stray from the latency: half the width if uniform, the standard deviation if normal",
		}),
		newSetting(distributionUnit(), func(s *Spec) *Distribution { return &s.Delay.Distribution }, KeyInfo{
			Key: "distribution", Stage: "delay",
			Help: "of the jitter; drawn anew for each packet, so packets may overtake each other",
		}),
		newSetting(switchUnit, func(s *Spec) *bool { return &s.Delay.KeepOrder }, KeyInfo{
			Key: "keep_order", Stage: "delay",
			Help: "jitter makes packets wait for those before them instead of overtaking them; the mean delay grows",
		}),
	}
}

// latencySetting also takes latency and jitter in one text.
func latencySetting() setting {
	s := newSetting(spanUnit, func(s *Spec) *time.Duration { return &s.Delay.Latency }, KeyInfo{
		Key: "latency", Stage: "delay", Ladder: spanLadder,
		Help: `one-way delay; "50ms±10ms", "50ms+-10ms" and "50ms 10ms" set the jitter too`,
	})
	single := s.set
	s.set = func(spec *Spec, value any) error {
		text, ok := value.(string)
		if !ok {
			return single(spec, value)
		}
		latency, jitter, both := splitJitter(text)
		if !both {
			return single(spec, value)
		}
		a, okA := spanUnit.parse(latency)
		b, okB := spanUnit.parse(jitter)
		if !okA || !okB || !spanUnit.in(a) || !spanUnit.in(b) {
			return &KeyError{Key: "latency", Value: show(value), Expected: spanUnit.expected + `, or two of them as in "50ms±10ms"`}
		}
		spec.Delay.Latency, spec.Delay.Jitter = a, b
		return nil
	}
	return s
}
