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

// tallies are the figures that the steps compare.
type tallies struct{ kbps, packet, ratio, naming, lost, unread, age, starved, off tally }

// newTallies makes the figures.
func newTallies() tallies {
	sent := func(s *meters.Sample) float64 { return float64(s.Sent) }
	payload := func(s *meters.Sample) float64 { return float64(s.PayloadBits) }
	one := func(*meters.Sample) float64 { return 1 }
	busy := func(of func(*meters.Sample) float64) func(*meters.Sample) float64 {
		return func(s *meters.Sample) float64 {
			if s.Changed < room.EnoughChanged*int64(s.Sent) {
				return 0 // a packet's header divided by next to nothing
			}
			return of(s)
		}
	}
	changed := func(s *meters.Sample) float64 { return float64(s.Changed) }
	naming := func(s *meters.Sample) float64 { // what it takes to name the cubes that follow
		return float64(s.Budget.Units[encoders.SlotIndex]+s.Budget.Units[encoders.SlotFlags]) / encoders.BitUnit
	}
	lost := func(s *meters.Sample) float64 {
		return float64(s.Outcomes[packetlog.Lost] + s.Outcomes[packetlog.Unknown])
	}
	unread := func(s *meters.Sample) float64 { return float64(s.Failed()) }
	age := func(s *meters.Sample) float64 { return float64(s.BaselineAge) }
	referenced := func(s *meters.Sample) float64 { return float64(s.Referenced) }
	starved := func(s *meters.Sample) float64 { return float64(s.Starved) }
	shown := func(s *meters.Sample) float64 { return float64(s.Displayed) }
	off := func(s *meters.Sample) float64 { return s.PositionErrorMM }
	return tallies{
		kbps:    tally{"payload", "kbps", look.Payload, 0, per(payload, one, 1/(1000*meters.SamplePeriod.Seconds()))},
		packet:  tally{"a packet", "bytes", look.Wire, 0, per(payload, sent, 1.0/8)},
		ratio:   tally{"per changed cube", "bits", look.Ratio, 1, per(busy(payload), busy(changed), 1)},
		naming:  tally{"to say which cubes", "bits a packet", look.Budget, 0, per(naming, sent, 1)},
		lost:    tally{"lost", "%", look.Lost, 1, per(lost, sent, 100)},
		unread:  tally{"unreadable", "%", look.NoBase, 1, per(unread, sent, 100)},
		age:     tally{"baseline", "frames old", look.Dim, 1, per(age, referenced, 1)},
		starved: tally{"the display had nothing to show", "%", look.Warn, 1, per(starved, shown, 100)},
		off:     tally{"cubes were off by", "mm", look.Warn, 0, per(off, one, 1)},
	}
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
