package entropy

import (
	"encoding/binary"
	"fmt"
	"slices"

	"wirelab/encoders/rangecoder"
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
