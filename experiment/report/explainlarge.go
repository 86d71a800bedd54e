package report

import (
	"fmt"
	"strconv"
	"time"

	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// large says why a packet is larger than those before it.
func (e *explainer) large(why inspector.Reason) string {
	u := &e.in.Usual
	text := fmt.Sprintf("%s has %s bytes, %.1f times the mean: ", e.packet(), units.Thousands(int64(e.rec.Payload)),
		figures.Ratio(float64(e.rec.Payload), u.Payload))
	switch why {
	case inspector.BecauseNoAck:
		return text + "no ack that counts has come, so it builds on the initial state"
	case inspector.BecauseSwapped:
		return text + e.swapped()
	case inspector.BecauseSeam:
		anew := "the frames began anew"
		if !e.rec.Seam {
			anew += fmt.Sprintf(" and it builds on snapshot %d, from before", e.rec.Seq-uint64(e.rec.Baseline))
		}
		return text + fmt.Sprintf("%s, and %d changed at once, usually %.0f", anew, e.rec.Changed, u.Changed)
	case inspector.BecauseOldBase:
		return text + fmt.Sprintf("it builds on snapshot %d, %d back instead of the usual %.0f, because %s",
			e.rec.Seq-uint64(e.rec.Baseline), e.rec.Baseline, u.Baseline, sinceWords(e.in.AfterBaseline))
	case inspector.BecauseChanged:
		return text + fmt.Sprintf("%d of %d changed against its baseline, usually %.0f", e.rec.Changed, e.rec.Items, u.Changed)
	}
	return text + fmt.Sprintf("what changed, %d of %d, took %.0f bits each, usually %.0f", e.rec.Changed, e.rec.Items,
		figures.Ratio(float64(e.rec.Payload)*8, float64(e.rec.Changed)), figures.Ratio(u.Payload*8, u.Changed))
}

// swapped says what took the place of what.
func (e *explainer) swapped() string {
	what := fmt.Sprintf("the encoder was swapped from %s to %s", e.in.Previous, e.rec.Encoder)
	if e.in.Previous == e.rec.Encoder {
		what = "the parameters of " + e.rec.Encoder + " were changed"
	}
	when := " with this packet"
	if e.in.Age > 0 {
		when = fmt.Sprintf(" %s before", words.Count(e.in.Age, "packet"))
	}
	if e.in.WithoutMemo {
		return what + when + ", and has no memory of snapshot " + strconv.FormatUint(e.rec.Seq-uint64(e.rec.Baseline), 10) +
			" to predict from yet"
	}
	return what + when
}

// millis writes a time in milliseconds, with decimals only below 10.
func millis(d time.Duration) string {
	if d < 0 {
		return "0 ms"
	}
	return units.Stepped(units.Milliseconds(d), 1, 9.95) + " ms"
}
