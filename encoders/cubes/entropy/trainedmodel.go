package entropy

import (
	_ "embed" // the trained tables
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// trainedModel is the trained part of predictive. predictive.tab holds its parts one
// after the other.
type trainedModel struct {
	trained []int8               // logits of probabilities, in 8 bits
	scale   []int32              // in 8 bits, units of 1/16 of a doubling
	weights []rangecoder.Weights // of the mixer, the first setSize of each in 16 bits, units of 1/1024
	shifts  []int32              // linear predictions, in 16 bits, units of 1/2048
	turns   []int32
}

// Units of the file are coarser than those in memory, by these numbers of bits.
const (
	scaleShift  = 12
	weightShift = 6
	linearShift = 3
)

// readTrainedModel reads predictive.tab.
func readTrainedModel(table []byte) (*trainedModel, error) {
	want := trainedN + scaleSize + 2*(sets*setSize+classes*(shiftFeatures+turnFeatures))
	if len(table) != want {
		return nil, fmt.Errorf("entropy: trained tables of %d bytes, expected %d: train them again", len(table), want)
	}
	k := newTrainedModel()
	for i := range k.trained {
		k.trained[i] = int8(table[i])
	}
	table = table[trainedN:]
	for i := range k.scale {
		k.scale[i] = int32(int8(table[i])) << scaleShift
	}
	table = table[scaleSize:]
	for _, part := range k.parts16() {
		for i := range part.list {
			part.list[i] = int32(int16(binary.LittleEndian.Uint16(table))) << part.shift
			table = table[2:]
		}
	}
	return k, nil
}

func newTrainedModel() *trainedModel {
	return &trainedModel{make([]int8, trainedN), make([]int32, scaleSize), make([]rangecoder.Weights, sets),
		make([]int32, classes*shiftFeatures), make([]int32, classes*turnFeatures)}
}

// part16 is a part that takes 16 bits a number.
type part16 struct {
	list  []int32
	shift uint
}

func (k *trainedModel) parts16() (list []part16) {
	for i := range k.weights {
		list = append(list, part16{k.weights[i][:setSize], weightShift})
	}
	return append(list, part16{k.shifts, linearShift}, part16{k.turns, linearShift})
}

// bytes is the inverse of readTrainedModel.
func (k *trainedModel) bytes() []byte {
	var out []byte
	for _, v := range k.trained {
		out = append(out, byte(v))
	}
	for _, v := range k.scale {
		out = append(out, byte(coarser(v, scaleShift, 1<<7)))
	}
	for _, part := range k.parts16() {
		for _, v := range part.list {
			out = binary.LittleEndian.AppendUint16(out, uint16(coarser(v, part.shift, 1<<15)))
		}
	}
	return out
}

// coarser rounds v to a unit of 1<<shift, within -limit to limit-1.
func coarser(v int32, shift uint, limit int32) int32 {
	return min(max((v+1<<(shift-1))>>shift, -limit), limit-1)
}

// quantise rounds k to the precision of its file, so that later training builds on that.
func (k *trainedModel) quantise() error {
	rounded, err := readTrainedModel(k.bytes())
	if err != nil {
		return err
	}
	copy(k.scale, rounded.scale)
	for i, part := range rounded.parts16() {
		copy(k.parts16()[i].list, part.list)
	}
	return nil
}

// body returns a traversal of predictive with the model k, whose memory it shares.
func (k *trainedModel) body(limit int, rate int32) *predictive {
	return &predictive{
		mixing: mixing{squashed: squashed(), trained: k.trained, limit: limit, rate: rate},
		scale:  scale{weights: k.scale},
		shifts: linear{shiftFeatures, k.shifts},
		turns:  linear{turnFeatures, k.turns},
	}
}

// memo returns the memo of the initial state.
func (k *trainedModel) memo(rows int) *memo {
	counters := make([]rangecoder.Counter, ownSize)
	rangecoder.Fill(counters, rangecoder.NewCounter(rangecoder.One/2, 0))
	return newMemo(rows, counters, slices.Clone(k.weights))
}

// kinds of numbers: x, y, z, and three components of an orientation.
const (
	kinds  = 6
	groups = 3 // x and y share contexts, and so do the components
)

// Contexts of mixed decisions and how many there are of each.
const (
	sizesFine   = 40
	sizesCoarse = 10
	missClasses = 10 // lengths of the last residual
	offs        = 12 // lengths of a residual within this packet
	recents     = 64
	gaps        = 16 // distances of a neighbour
	paces       = 8  // lengths of a motion, coarser
	signs       = 27 // signs of the last residual, the neighbour's and the motion
)

// Where the trained contexts of each decision begin: several tables for a decision that
// is mixed.
var (
	changedAt, changedEnd = tablesFrom(0, idleClasses*distanceClasses*8, 32*speeds, gaps*paces*4, recents*idleClasses,
		idleClasses*speeds*6*2)
	movedAt, movedEnd     = tablesFrom(changedEnd, idleClasses*speeds*missClasses, distanceClasses*offs, missClasses*heights*idleClasses)
	turnedAt, turnedEnd   = tablesFrom(movedEnd, idleClasses*speeds*2, offs*offs, missClasses*offs*2, offs*distanceClasses)
	touchedAt, touchedEnd = tablesFrom(turnedEnd, distanceClasses*idleClasses*2, offs*speeds*2, offs*distanceClasses*2)
	largestAt, largestEnd = tablesFrom(touchedEnd, margins*offs, margins*missClasses, margins*spins)
	lengthAt, secondAt    = tablesFrom(largestEnd, groups*sizesFine*lengthNodes, groups*sizesCoarse*paces*lengthNodes,
		groups*sizesCoarse*missClasses*lengthNodes, groups*offs*paces*lengthNodes)

	signAt   = secondAt + margins
	topAt    = signAt + groups*4*signs
	trainedN = topAt + groups*topNodes
)

// tablesFrom returns where tables of these sizes begin, one after the other, and where
// the last one ends.
func tablesFrom(at int, sizes ...int) (first [maxContexts]int, end int) {
	for i, n := range sizes {
		first[i] = at
		at += n
	}
	return first, at
}

// Adaptive counters, and the sets of weights.
const (
	ownChanged = 0
	ownMoved   = ownChanged + idleClasses*speeds
	ownTurned  = ownMoved + speeds
	ownTouched = ownTurned + speeds
	ownLargest = ownTouched + 2
	ownLength  = ownLargest + margins
	ownSize    = ownLength + groups*(sizesFine/2)*lengthNodes

	setChanged = 0
	setMoved   = setChanged + idleClasses
	setTurned  = setMoved + 1
	setTouched = setTurned + 1
	setLargest = setTouched + 1
	setLength  = setLargest + 1
	sets       = setLength + groups*lengthNodes
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
