package tour

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// tally is a figure by which a step of the tour tells what its change did: the
// mean over some samples, or no figure at all if they do not give one.
type tally struct {
	name, unit string
	ink        look.Ink
	digits     int
	of         func([]meters.Sample) (float64, bool)
}

// per is the quotient of two sums over samples.
func per(top, bottom func(*meters.Sample) float64, scale float64) func([]meters.Sample) (float64, bool) {
	return func(list []meters.Sample) (float64, bool) {
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

func sentOf(s *meters.Sample) float64 { return float64(s.Sent) }

func payloadOf(s *meters.Sample) float64 { return float64(s.PayloadBits) }

// The figures that the steps tell.
func tallyKbps() tally {
	seconds := func(*meters.Sample) float64 { return meters.SamplePeriod.Seconds() }
	return tally{"payload", "kbps", look.Payload, 0, per(payloadOf, seconds, 1.0/1000)}
}

func tallyPacket() tally {
	return tally{"a packet", "bytes", look.Wire, 0, per(payloadOf, sentOf, 1.0/8)}
}

func tallyRatio() tally {
	busy := func(of func(*meters.Sample) float64) func(*meters.Sample) float64 {
		return func(s *meters.Sample) float64 {
			if s.Changed < room.EnoughChanged*int64(s.Sent) {
				return 0 // a packet's header divided by next to nothing
			}
			return of(s)
		}
	}
	changed := func(s *meters.Sample) float64 { return float64(s.Changed) }
	return tally{"per changed cube", "bits", look.Ratio, 1, per(busy(payloadOf), busy(changed), 1)}
}

// tallyNaming is what it takes to say which cubes follow.
func tallyNaming() tally {
	named := func(s *meters.Sample) float64 {
		return float64(s.Budget.Units[encoders.SlotIndex]+s.Budget.Units[encoders.SlotFlags]) / encoders.BitUnit
	}
	return tally{"to say which cubes", "bits a packet", look.Budget, 0, per(named, sentOf, 1)}
}

func tallyLost() tally {
	lost := func(s *meters.Sample) float64 {
		return float64(s.Outcomes[packetlog.Lost] + s.Outcomes[packetlog.Unknown])
	}
	return tally{"lost", "%", look.Lost, 1, per(lost, sentOf, 100)}
}

func tallyUnread() tally {
	unread := func(s *meters.Sample) float64 { return float64(s.Failed()) }
	return tally{"unreadable", "%", look.NoBase, 1, per(unread, sentOf, 100)}
}

func tallyAge() tally {
	age := func(s *meters.Sample) float64 { return float64(s.BaselineAge) }
	referenced := func(s *meters.Sample) float64 { return float64(s.Referenced) }
	return tally{"baseline", "frames old", look.Dim, 1, per(age, referenced, 1)}
}

func tallyStarved() tally {
	starved := func(s *meters.Sample) float64 { return float64(s.Starved) }
	shown := func(s *meters.Sample) float64 { return float64(s.Displayed) }
	return tally{"the display had nothing to show", "%", look.Warn, 1, per(starved, shown, 100)}
}

func tallyOff() tally {
	off := func(s *meters.Sample) float64 { return s.PositionErrorMM }
	return tally{"cubes were off by", "mm", look.Warn, 0, per(off, func(*meters.Sample) float64 { return 1 }, 1)}
}

// compare returns the means before and after a moment. The second after each
// change is left out, because the settings before it still have an effect. If the
// former encoder runs on as a shadow, both means are over the same frames.
func (t tally) compare(lanes []engine.Lane, from, at time.Duration) (before, after float64, ok bool) {
	const ring, enough = time.Second, 10
	samples := lanes[0].Samples
	is := meters.Between(samples, at+ring, samples[len(samples)-1].T)
	was := meters.Between(samples, from+ring, at)
	if len(lanes) > 1 {
		was = meters.Between(lanes[1].Samples, at+ring, samples[len(samples)-1].T)
	}
	if len(was) < enough || len(is) < enough {
		return 0, 0, false
	}
	before, ok1 := t.of(was)
	after, ok2 := t.of(is)
	return before, after, ok1 && ok2
}
