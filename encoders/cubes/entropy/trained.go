package entropy

import (
	_ "embed" // the trained table
	"fmt"
	"sync"

	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

var (
	//go:embed static.tab.zst
	staticFile []byte

	// staticTable returns the trained logit of each context, a byte each, in steps of stretchStep.
	staticTable = sync.OnceValues(func() ([]byte, error) { return train.Open(staticFile) })
)

// stretchStep is the step of a trained logit: 127 steps are the largest logit of package rangecoder.
const stretchStep = (rangecoder.MaxStretch + 126) / 127

// squashed returns the table of the probability of each trained logit, by its byte.
var squashed = sync.OnceValue(func() *[256]uint32 {
	t := new([256]uint32)
	for i := range t {
		t[i] = rangecoder.Squash(int32(int8(i)) * stretchStep)
	}
	return t
})

// stretchByte returns the logit of the probability p in steps of stretchStep, rounded, as the byte of an int8. It is
// the inverse of squashed.
func stretchByte(p uint32) byte {
	x := rangecoder.Stretch(p)
	if x < 0 {
		return byte(int8(-((-x + stretchStep/2) / stretchStep)))
	}
	return byte(int8((x + stretchStep/2) / stretchStep))
}

// newCounters returns n counters with the probabilities of a trained table, as if each had been
// updated the given number of times. An empty table gives probabilities of 1/2.
func newCounters(table []byte, n, updates int) ([]rangecoder.Counter, error) {
	list := make([]rangecoder.Counter, n)
	rangecoder.Fill(list, rangecoder.NewCounter(rangecoder.One/2, 0))
	if len(table) != 0 && len(table) != n {
		return nil, fmt.Errorf("entropy: trained tables of %d contexts, expected %d: train them again", len(table), n)
	}
	for i, b := range table {
		list[i] = rangecoder.NewCounter(squashed()[b], updates)
	}
	return list, nil
}

// decisionCounts counts the decisions of 0 and of 1 in each context, for training.
type decisionCounts [][2]uint32

// count adds a decision.
func (t decisionCounts) count(context, bit int) { t[context][bit&1]++ }

// logits returns the trained logit of each context: that of the frequency of 1, with half a decision
// of each kind added (Krichevsky and Trofimov), so that no probability is 0 or 1.
func (t decisionCounts) logits() []byte {
	out := make([]byte, len(t))
	for i, n := range t {
		p := (uint64(n[1])*2 + 1) << 16 / ((uint64(n[0])+uint64(n[1]))*2 + 2)
		out[i] = stretchByte(uint32(min(max(p, 1), rangecoder.One-1)))
	}
	return out
}
