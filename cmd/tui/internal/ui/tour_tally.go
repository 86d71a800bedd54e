package ui

import (
	"time"

	"wirelab/experiment"
)

// tally is a figure by which a step of the tour tells what its change did: the
// mean over some samples, or no figure at all if they do not give one.
type tally struct {
	name, unit string
	ink        ink
	digits     int
	of         func([]experiment.Sample) (float64, bool)
}

// per is the quotient of two sums over samples.
func per(top, bottom func(*experiment.Sample) float64, scale float64) func([]experiment.Sample) (float64, bool) {
	return func(list []experiment.Sample) (float64, bool) {
		a, b := 0.0, 0.0
		for i := range list {
			a += top(&list[i])
			b += bottom(&list[i])
		}
		if b <= 0 {
			return 0, false
		}
		return scale * a / b, true
	}
}

func sentOf(s *experiment.Sample) float64    { return float64(s.Sent) }
func payloadOf(s *experiment.Sample) float64 { return float64(s.PayloadBits) }

// The figures that the steps tell.
func tallyKbps() tally {
	seconds := func(*experiment.Sample) float64 { return experiment.SamplePeriod.Seconds() }
	return tally{"payload", "kbps", inkPayload, 0, per(payloadOf, seconds, 1.0/1000)}
}

func tallyPacket() tally {
	return tally{"a packet", "bytes", inkWire, 0, per(payloadOf, sentOf, 1.0/8)}
}

func tallyRatio() tally {
	changed := func(s *experiment.Sample) float64 { return float64(s.Changed) }
	return tally{"per changed cube", "bits", inkRatio, 1, per(payloadOf, changed, 1)}
}

func tallyLost() tally {
	lost := func(s *experiment.Sample) float64 { return float64(s.Outcomes[experiment.Lost]) }
	return tally{"lost", "%", inkLost, 1, per(lost, sentOf, 100)}
}

func tallyUnread() tally {
	unread := func(s *experiment.Sample) float64 {
		return float64(s.Outcomes[experiment.NoBaseline] + s.Outcomes[experiment.Corrupt] + s.Outcomes[experiment.UnknownCodec])
	}
	return tally{"unreadable", "%", inkNoBase, 1, per(unread, sentOf, 100)}
}

func tallyAge() tally {
	age := func(s *experiment.Sample) float64 { return float64(s.BaselineAge) }
	referenced := func(s *experiment.Sample) float64 { return float64(s.Referenced) }
	return tally{"baseline", "frames old", inkDim, 1, per(age, referenced, 1)}
}

func tallyStarved() tally {
	starved := func(s *experiment.Sample) float64 { return float64(s.Starved) }
	shown := func(s *experiment.Sample) float64 { return float64(s.Displayed) }
	return tally{"the display had nothing to show", "%", inkWarn, 1, per(starved, shown, 100)}
}

func tallyOff() tally {
	off := func(s *experiment.Sample) float64 { return s.PositionErrorMM }
	return tally{"cubes were off by", "mm", inkWarn, 0, per(off, func(*experiment.Sample) float64 { return 1 }, 1)}
}

// told compares the means before and after a moment: over the scene, less its
// first second in which the one before rings out, and over what came since, less
// half a second in which the change takes hold.
func (t tally) told(samples []experiment.Sample, from, at time.Duration) (before, after float64, ok bool) {
	const ring, settle, enough = time.Second, time.Second / 2, 10
	was := between(samples, from+ring, at)
	is := between(samples, at+settle, samples[len(samples)-1].T)
	if len(was) < enough || len(is) < enough {
		return 0, 0, false
	}
	before, ok1 := t.of(was)
	after, ok2 := t.of(is)
	return before, after, ok1 && ok2
}

// between returns the samples whose periods lie within (from, to].
func between(samples []experiment.Sample, from, to time.Duration) []experiment.Sample {
	i, j := 0, len(samples)
	for i < j && samples[i].T-experiment.SamplePeriod < from {
		i++
	}
	for j > i && samples[j-1].T > to {
		j--
	}
	return samples[i:j]
}
