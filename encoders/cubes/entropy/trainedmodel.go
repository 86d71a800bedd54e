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

// trainedModel is the pretrained model of predictive. predictive.tab holds its parts one after the
// other, in the order of the fields and without a header; numbers are little-endian.
type trainedModel struct {
	logits       []int8               // of the trained probabilities, in steps of stretchStep; 8 bits each in the file
	sizeWeights  []int32              // of sizeModel; 8 bits in units of 1/16 of a factor of two
	mixerWeights []rangecoder.Weights // weight sets, the first setSize of each; 16 bits in units of 1/1024
	shiftWeights []int32              // of the linear models; 16 bits in units of 1/2048
	turnWeights  []int32              // of the linear model of turns; 16 bits in units of 1/2048
}

// The units of numbers in the file are coarser than those in memory, by these numbers of bits.
const (
	sizeShift   = 12
	weightShift = 6
	linearShift = 3
)

// readTrainedModel returns the model in the contents of predictive.tab.
func readTrainedModel(table []byte) (*trainedModel, error) {
	// A byte for each logit and for each weight of sizeModel, two bytes for each other weight.
	expected := numTrained + numSizeWeights + 2*(numWeightSets*setSize+numLinearClasses*(numShiftFeatures+numTurnFeatures))
	if len(table) != expected {
		return nil, fmt.Errorf("entropy: trained tables of %d bytes, expected %d: train them again", len(table), expected)
	}
	k := newTrainedModel()
	for i := range k.logits {
		k.logits[i] = int8(table[i])
	}
	table = table[numTrained:]
	for i := range k.sizeWeights {
		k.sizeWeights[i] = int32(int8(table[i])) << sizeShift
	}
	table = table[numSizeWeights:]
	for _, part := range k.parts16() {
		for i := range part.list {
			part.list[i] = int32(int16(binary.LittleEndian.Uint16(table))) << part.shift
			table = table[2:]
		}
	}
	return k, nil
}

// newTrainedModel returns a model of zeros.
func newTrainedModel() *trainedModel {
	return &trainedModel{make([]int8, numTrained), make([]int32, numSizeWeights),
		make([]rangecoder.Weights, numWeightSets),
		make([]int32, numLinearClasses*numShiftFeatures), make([]int32, numLinearClasses*numTurnFeatures)}
}

// part16 is a part of a model whose numbers take 16 bits in the file.
type part16 struct {
	list  []int32 // the numbers, in the unit of memory
	shift uint    // by how many bits the unit of the file is coarser
}

// parts16 returns the parts of k with numbers of 16 bits, in the order of the file. They share the
// memory of k.
func (k *trainedModel) parts16() (list []part16) {
	for i := range k.mixerWeights {
		list = append(list, part16{k.mixerWeights[i][:setSize], weightShift})
	}
	return append(list, part16{k.shiftWeights, linearShift}, part16{k.turnWeights, linearShift})
}

// encode returns the contents of the model's file, for readTrainedModel.
func (k *trainedModel) encode() []byte {
	var out []byte
	for _, v := range k.logits {
		out = append(out, byte(v))
	}
	for _, v := range k.sizeWeights {
		out = append(out, byte(quantiseTo(v, sizeShift, 1<<7)))
	}
	for _, part := range k.parts16() {
		for _, v := range part.list {
			out = binary.LittleEndian.AppendUint16(out, uint16(quantiseTo(v, part.shift, 1<<15)))
		}
	}
	return out
}

// quantiseTo returns v in units of 1<<shift, rounded and clamped to -limit..limit-1.
func quantiseTo(v int32, shift uint, limit int32) int32 {
	return min(max((v+1<<(shift-1))>>shift, -limit), limit-1)
}

// quantise rounds the numbers of k to the precision of the file, so that the parts trained next are
// trained with the numbers that a codec will use.
func (k *trainedModel) quantise() error {
	rounded, err := readTrainedModel(k.encode())
	if err != nil {
		return err
	}
	copy(k.sizeWeights, rounded.sizeWeights) // logits have the precision of the file already
	for i, part := range rounded.parts16() {
		copy(k.parts16()[i].list, part.list)
	}
	return nil
}

// newTraversal returns a traversal of predictive that shares the numbers of k: training the traversal changes k,
// while a codec only reads them. limit and learningRate are the parameters Limit and Rate of predictive.
func (k *trainedModel) newTraversal(limit int, learningRate int32) *predictive {
	return &predictive{
		mixing:     mixing{probs: squashed(), trainedLogits: k.logits, limit: limit, rate: learningRate},
		sizeModel:  sizeModel{weights: k.sizeWeights},
		shiftModel: linear{numShiftFeatures, k.shiftWeights},
		turnModel:  linear{numTurnFeatures, k.turnWeights},
	}
}

// initialMemo returns the memo of the initial state for the given number of cubes.
func (k *trainedModel) initialMemo(rows int) *memo {
	counters := make([]rangecoder.Counter, numCounters)
	rangecoder.Fill(counters, rangecoder.NewCounter(rangecoder.One/2, 0))
	return newMemo(rows, counters, slices.Clone(k.mixerWeights))
}

const (
	numKinds  = 6 // of numbers: x, y, z, and three components of an orientation
	numGroups = 3 // of numbers that share contexts: x and y, z, and the components
)

// The numbers of classes that form the contexts of mixed decisions.
const (
	numFineSizes       = 40 // predicted sizes of a residual, in classes: four classes per power of two
	numCoarseSizes     = 10 // predicted sizes of a residual, in classes: one class per power of two
	numLastResiduals   = 10 // lengths of the cube's last residual
	numResidualLengths = 12 // lengths of a residual in this packet
	numRecents         = 64 // the last six changed flags
	numGaps            = 16 // distances of the neighbour
	numPaces           = 8  // lengths of a motion, fewer than numSpeedClasses
	numSigns           = 27 // signs of the last residual, of the neighbour's residual and of the motion
)

// The trained contexts: for each mixed decision the offsets of the tables of its contexts, and the end
// of the last table. A table has an entry for each combination of the classes of a context. The
// contexts of the second-largest component, of signs and of top bits are not mixed.
var (
	changedTables, changedEnd = layOutTables(0, numIdleClasses*numDistanceClasses*8, 32*numSpeedClasses,
		numGaps*numPaces*4, numRecents*numIdleClasses, numIdleClasses*numSpeedClasses*6*2)
	movedTables, movedEnd = layOutTables(changedEnd, numIdleClasses*numSpeedClasses*numLastResiduals,
		numDistanceClasses*numResidualLengths, numLastResiduals*numHeights*numIdleClasses)
	turnedTables, turnedEnd = layOutTables(movedEnd, numIdleClasses*numSpeedClasses*2,
		numResidualLengths*numResidualLengths, numLastResiduals*numResidualLengths*2, numResidualLengths*numDistanceClasses)
	interactingTables, interactingEnd = layOutTables(turnedEnd, numDistanceClasses*numIdleClasses*2,
		numResidualLengths*numSpeedClasses*2, numResidualLengths*numDistanceClasses*2)
	largestTables, largestEnd = layOutTables(interactingEnd, numMargins*numResidualLengths,
		numMargins*numLastResiduals, numMargins*numTurnClasses)
	lengthTables, secondOffset = layOutTables(largestEnd, numGroups*numFineSizes*lengthNodes,
		numGroups*numCoarseSizes*numPaces*lengthNodes,
		numGroups*numCoarseSizes*numLastResiduals*lengthNodes, numGroups*numResidualLengths*numPaces*lengthNodes)

	signOffset = secondOffset + numMargins
	topOffset  = signOffset + numGroups*4*numSigns
	numTrained = topOffset + numGroups*topNodes
)

// layOutTables returns the offsets of tables of the given sizes, the first at offset and each after
// the one before, and the end of the last table.
func layOutTables(offset int, sizes ...int) (offsets [maxContexts]int, end int) {
	for i, n := range sizes {
		offsets[i] = offset
		offset += n
	}
	return offsets, offset
}

// The indices of the adaptive counters and of the weight sets of each decision.
const (
	counterChanged     = 0
	counterMoved       = counterChanged + numIdleClasses*numSpeedClasses
	counterTurned      = counterMoved + numSpeedClasses
	counterInteracting = counterTurned + numSpeedClasses
	counterLargest     = counterInteracting + 2
	counterLength      = counterLargest + numMargins
	numCounters        = counterLength + numGroups*(numFineSizes/2)*lengthNodes

	setChanged     = 0
	setMoved       = setChanged + numIdleClasses
	setTurned      = setMoved + 1
	setInteracting = setTurned + 1
	setLargest     = setInteracting + 1
	setLength      = setLargest + 1
	numWeightSets  = setLength + numGroups*lengthNodes
)

// The trained tables, see README.md. A byte of logits is the logit of the probability of a 1, in
// steps of stretchStep.
var (
	//go:embed static.tab.zst
	staticFile []byte
	//go:embed predictive.tab.zst
	predictiveFile []byte

	staticTable     = sync.OnceValues(func() ([]byte, error) { return train.Open(staticFile, train.MaxEmbedded) })
	predictiveTable = sync.OnceValues(func() ([]byte, error) { return train.Open(predictiveFile, train.MaxEmbedded) })
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
