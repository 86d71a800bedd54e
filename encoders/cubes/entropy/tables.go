package entropy

import (
	_ "embed" // the trained tables
	"fmt"

	"wirelab/encoders/rangecoder"
)

// Tables that were trained (see README.md), a byte for each context: the stretch
// of the probability of a 1, in steps of stretchStep.
var (
	//go:embed static.tab
	staticTable []byte
	//go:embed predictive.tab
	predictiveTable []byte
)

// stretchStep makes 127 of them what a probability can be stretched to.
const stretchStep = (rangecoder.MaxStretch + 126) / 127

// squashed holds the probability that each byte, as a uint8, stands for.
var squashed = func() (t [256]uint32) {
	for i := range t {
		t[i] = rangecoder.Squash(int32(int8(i)) * stretchStep)
	}
	return t
}()

// stretchByte returns the byte of a probability.
func stretchByte(p uint32) byte {
	x := rangecoder.Stretch(p)
	if x < 0 {
		return byte(int8(-((-x + stretchStep/2) / stretchStep)))
	}
	return byte(int8((x + stretchStep/2) / stretchStep))
}

// appendCounters appends the counters of a trained table of n contexts, as if
// each had seen trust bits. An empty table knows nothing.
func appendCounters(list []counter, table []byte, n, trust int) ([]counter, error) {
	if len(table) != 0 && len(table) != n {
		return nil, fmt.Errorf("entropy: trained tables of %d contexts, expected %d: train them again", len(table), n)
	}
	for range n - len(table) {
		list = append(list, rangecoder.NewCounter(rangecoder.One/2, 0))
	}
	for _, b := range table {
		list = append(list, rangecoder.NewCounter(squashed[b], trust))
	}
	return list, nil
}

// tally counts decisions by context, for training.
type decisionCounts [][2]uint32

func (t decisionCounts) count(at, v int) { t[at][v&1]++ }

// table returns the trained bytes: probabilities as of one who has seen what was
// counted and, before it, half a decision either way.
func (t decisionCounts) table() []byte {
	out := make([]byte, len(t))
	for i, n := range t {
		p := (uint64(n[1])*2 + 1) << 16 / ((uint64(n[0])+uint64(n[1]))*2 + 2)
		out[i] = stretchByte(uint32(min(max(p, 1), rangecoder.One-1)))
	}
	return out
}
