package tour

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	table "wirelab/experiment/figures"
)

// figure is a figure that shows the effect of a step's change. value returns its mean over samples,
// false if the samples do not determine it.
type figure struct {
	name, unit string
	style      look.Style
	digits     int
	value      func([]meters.Sample) (float64, bool)
}

// ratioOfSums returns a function that computes scale times the sum of numerator over samples, divided by the
// sum of denominator; false if the latter is 0.
func ratioOfSums(numerator, denominator func(*meters.Sample) float64, scale float64) func([]meters.Sample) (float64, bool) {
	return func(list []meters.Sample) (float64, bool) {
		numeratorSum, denominatorSum := 0.0, 0.0
		for i := range list {
			numeratorSum += numerator(&list[i])
			denominatorSum += denominator(&list[i])
		}
		if denominatorSum <= 0 {
			return 0, false
		}
		return scale * numeratorSum / denominatorSum, true
	}
}

// figures are the figures that the steps compare.
type figures struct{ kbps, packet, ratio, indexBits, lost, failed, age, starved, positionError figure }

// newFigures returns the figures, each as a ratio of two sums over samples. For bits per changed cube,
// samples with few changed cubes are excluded.
func newFigures() figures {
	sent := func(s *meters.Sample) float64 { return float64(s.Sent) }
	payload := func(s *meters.Sample) float64 { return float64(s.PayloadBits) }
	one := func(*meters.Sample) float64 { return 1 }
	ifEnoughChanged := func(value func(*meters.Sample) float64) func(*meters.Sample) float64 {
		return func(s *meters.Sample) float64 {
			if s.Changed < room.MinChanged*int64(s.Sent) {
				return 0 // too few changed items: the header dominates
			}
			return value(s)
		}
	}
	changed := func(s *meters.Sample) float64 { return float64(s.Changed) }
	indexBits := func(s *meters.Sample) float64 { // bits that identify the changed cubes: their indices and flags
		return float64(s.Budget.Units[encoders.SlotIndex]+s.Budget.Units[encoders.SlotFlags]) / encoders.BitUnit
	}
	lost := func(s *meters.Sample) float64 { // packets without a report count as lost
		return float64(s.Lost + s.Unknown)
	}
	failed := func(s *meters.Sample) float64 { return float64(s.Failed()) }
	age := func(s *meters.Sample) float64 { return float64(s.BaselineAge) }
	referenced := func(s *meters.Sample) float64 { return float64(s.Referenced) }
	starved := func(s *meters.Sample) float64 { return float64(s.Starved) }
	displayed := func(s *meters.Sample) float64 { return float64(s.Displayed) }
	positionError := func(s *meters.Sample) float64 { return s.PositionErrorMM }
	fromTable := func(key string, style look.Style, value func([]meters.Sample) (float64, bool)) figure {
		r := table.Find(key)
		return figure{r.Title, r.Unit, style, r.Decimals, value}
	}
	return figures{
		kbps:          fromTable("payload_kbps", look.Payload, ratioOfSums(payload, one, 1/(1000*meters.SamplePeriod.Seconds()))),
		packet:        figure{"packet size, mean", "bytes", look.Wire, 0, ratioOfSums(payload, sent, 1.0/8)},
		ratio:         fromTable("bits_per_changed_cube", look.Ratio, ratioOfSums(ifEnoughChanged(payload), ifEnoughChanged(changed), 1)),
		indexBits:     figure{"cube indices", "bits per packet", look.Budget, 0, ratioOfSums(indexBits, sent, 1)},
		lost:          fromTable("network.loss_rate", look.Lost, ratioOfSums(lost, sent, 100)),
		failed:        figure{"failed", "%", look.NoBase, 1, ratioOfSums(failed, sent, 100)},
		age:           figure{"baseline age, mean", "ticks", look.Dim, 1, ratioOfSums(age, referenced, 1)},
		starved:       fromTable("playout.starved_ratio", look.Warn, ratioOfSums(starved, displayed, 100)),
		positionError: figure{"position error of cubes, mean", "mm", look.Warn, 1, ratioOfSums(positionError, one, 1)},
	}
}

// measure returns the means before and after the change at time changed, in a scene that began at from.
// The second after each change is skipped, because the previous settings still have an effect. If the
// previous encoder continues as a shadow, both means are over the same frames.
//
// lanes[0], the active encoder, must have samples. ok is false if there are too few samples yet.
func (t figure) measure(lanes []engine.Lane, from, changed time.Duration) (before, after float64, ok bool) {
	const settle, minSamples = time.Second, 10
	samples := lanes[0].Samples
	newSamples := meters.Between(samples, changed+settle, samples[len(samples)-1].T)
	oldSamples := meters.Between(samples, from+settle, changed)
	if len(lanes) > 1 {
		oldSamples = meters.Between(lanes[1].Samples, changed+settle, samples[len(samples)-1].T)
	}
	if len(oldSamples) < minSamples || len(newSamples) < minSamples {
		return 0, 0, false
	}
	before, okBefore := t.value(oldSamples)
	after, okAfter := t.value(newSamples)
	return before, after, okBefore && okAfter
}
