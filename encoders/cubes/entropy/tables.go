package entropy

import (
	_ "embed" // the trained tables
	"fmt"
	"sync"

	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// Trained tables (see README.md) hold a byte for each context: the logit of the
// probability of a 1, in steps of stretchStep.
var (
	//go:embed static.tab.zst
	staticFile []byte
	//go:embed predictive.tab.zst
	predictiveFile []byte

	staticTable     = sync.OnceValues(func() ([]byte, error) { return train.Open(staticFile, train.MaxEmbedded) })
	predictiveTable = sync.OnceValues(func() ([]byte, error) { return train.Open(predictiveFile, train.MaxEmbedded) })
)

// stretchStep scales 127 to the largest logit.
const stretchStep = (rangecoder.MaxStretch + 126) / 127

// squashed holds the probability of each trained byte, as a uint8.
var squashed = sync.OnceValue(func() *[256]uint32 {
	t := new([256]uint32)
	for i := range t {
		t[i] = rangecoder.Squash(int32(int8(i)) * stretchStep)
	}
	return t
})

// stretchByte returns the byte of a probability.
func stretchByte(p uint32) byte {
	x := rangecoder.Stretch(p)
	if x < 0 {
		return byte(int8(-((-x + stretchStep/2) / stretchStep)))
	}
	return byte(int8((x + stretchStep/2) / stretchStep))
}

// newCounters returns n counters with the probabilities of a trained table, as if each had seen
// trust bits. An empty table gives probabilities of 1/2.
func newCounters(table []byte, n, trust int) ([]rangecoder.Counter, error) {
	list := make([]rangecoder.Counter, n)
	rangecoder.Fill(list, rangecoder.NewCounter(rangecoder.One/2, 0))
	if len(table) != 0 && len(table) != n {
		return nil, fmt.Errorf("entropy: trained tables of %d contexts, expected %d: train them again", len(table), n)
	}
	for i, b := range table {
		list[i] = rangecoder.NewCounter(squashed()[b], trust)
	}
	return list, nil
}

// decisionCounts counts decisions by context, for training.
type decisionCounts [][2]uint32

func (t decisionCounts) count(at, v int) { t[at][v&1]++ }

// table returns the trained bytes: the frequency of 1 with half a decision added to
// either side.
func (t decisionCounts) table() []byte {
	out := make([]byte, len(t))
	for i, n := range t {
		p := (uint64(n[1])*2 + 1) << 16 / ((uint64(n[0])+uint64(n[1]))*2 + 2)
		out[i] = stretchByte(uint32(min(max(p, 1), rangecoder.One-1)))
	}
	return out
}
