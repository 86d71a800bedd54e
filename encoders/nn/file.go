package nn

import (
	"encoding/binary"
	"fmt"
	"math"
)

// magic begins the file of a net. The format is little-endian: the magic; the number of layers (one
// byte); the widths, inputs first (uint16 each); then for each layer and each output the number of
// fractional bits of the weights (one byte), the bias (int32, with ten more fractional bits) and
// the weights (int16 each).
const magic = "wnn1"

// Append appends the net's file to dst: magic, the number of layers (8 bits), the number of inputs and the number
// of outputs of each layer (16 bits each), and for each output of each layer the fractional bits of its weights
// (8 bits), its bias (32 bits) and its weights (16 bits each).
func (n *Net) Append(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, byte(len(n.layers)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(n.In()))
	for i := range n.layers {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n.layers[i].out))
	}
	for i := range n.layers {
		_, outBits := limits(i, len(n.layers))
		for _, r := range n.layers[i].rows(outBits) {
			dst = append(dst, r.shift)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(r.bias))
			for _, w := range r.weight {
				dst = binary.LittleEndian.AppendUint16(dst, uint16(w))
			}
		}
	}
	return dst
}

// Read reads a net from a file that Append wrote. file may hold any bytes; Read refuses those that
// are not a net, and nets that could overflow. It allocates memory proportional to the size of the
// file.
func Read(file []byte) (*Net, error) {
	shape, body, err := readShape(file)
	if err != nil {
		return nil, err
	}
	want := 0
	for i, in := range shape[:len(shape)-1] {
		want += shape[i+1] * rowBytes(in)
	}
	if len(body) != want {
		return nil, fmt.Errorf("%w: %d bytes of weights, expected %d for widths %d", errInvalidNet, len(body), want, shape)
	}
	n := &Net{layers: make([]layer, len(shape)-1)}
	for i, in := range shape[:len(shape)-1] {
		rows := make([]row, shape[i+1])
		for k := range rows {
			rows[k] = readRow(body[:rowBytes(in)])
			body = body[rowBytes(in):]
		}
		if n.layers[i], err = packLayer(rows, i, len(n.layers)); err != nil {
			return nil, err
		}
	}
	n.vectors = newVectorNet(n.layers)
	return n, nil
}

// rowHeader is the number of bytes of a row before its weights: the fractional bits and the bias.
const rowHeader = 1 + 4

// rowBytes returns the size of a row with in inputs in a file.
func rowBytes(in int) int { return rowHeader + 2*in }

// readShape reads the start of a net's file: magic, the number of layers (8 bits), the number of inputs and the
// number of outputs of each layer (16 bits each). It returns the latter two as shape, and the rest of the file.
func readShape(file []byte) (shape []int, body []byte, err error) {
	if len(file) < len(magic)+1 || string(file[:len(magic)]) != magic {
		return nil, nil, fmt.Errorf("%w: %d bytes, expected to begin with %q", errInvalidNet, len(file), magic)
	}
	layers, body := int(file[len(magic)]), file[len(magic)+1:]
	if len(body) < 2*(layers+1) {
		return nil, nil, fmt.Errorf("%w: file ends within the list of layer widths", errInvalidNet)
	}
	for range layers + 1 {
		shape = append(shape, int(binary.LittleEndian.Uint16(body)))
		body = body[2:]
	}
	return shape, body, checkShape(shape)
}

// readRow decodes one row of a layer: the number of fractional bits (one byte), the bias (int32) and the weights
// (int16), little-endian.
func readRow(b []byte) row {
	r := row{shift: b[0], bias: int32(binary.LittleEndian.Uint32(b[1:])), weight: make([]int16, (len(b)-rowHeader)/2)}
	for i := range r.weight {
		r.weight[i] = int16(binary.LittleEndian.Uint16(b[rowHeader+2*i:]))
	}
	return r
}

// Dense is a trained layer: output k is Bias[k] plus the sum over i of Weight[k*In+i] times input
// i, as real numbers. Values of hidden layers are limited to +-HiddenMax and passed through a leaky
// ReLU of slope Slope.
type Dense struct {
	In, Out int       // numbers of inputs and outputs
	Weight  []float32 // of input i to output k at k*In+i
	Bias    []float32 // of each output
}

// Quantise returns the net of trained layers. Every row of weights gets as many fractional bits as
// int16 and the bound of its sum allow. Quantise fails if a weight is not finite, or if a row is
// too large even with minShift fractional bits.
func Quantise(layers []Dense) (*Net, error) {
	shape := make([]int, 0, maxLayers+1)
	for i := range layers {
		d := &layers[i]
		if i > 0 && d.In != layers[i-1].Out || len(d.Weight) != d.In*d.Out || len(d.Bias) != d.Out {
			return nil, fmt.Errorf("%w: layer %d has %d weights and %d biases for %d inputs and %d outputs", errInvalidNet, i,
				len(d.Weight), len(d.Bias), d.In, d.Out)
		}
		if i == 0 {
			shape = append(shape, d.In)
		}
		shape = append(shape, d.Out)
	}
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	n := &Net{layers: make([]layer, len(layers))}
	for i := range layers {
		rows, err := quantiseLayer(&layers[i], i, len(layers))
		if err != nil {
			return nil, err
		}
		if n.layers[i], err = packLayer(rows, i, len(layers)); err != nil {
			return nil, err
		}
	}
	n.vectors = newVectorNet(n.layers)
	return n, nil
}

// quantiseLayer returns the rows of layer i of n layers, each with the largest number of fractional
// bits that fits.
func quantiseLayer(d *Dense, i, n int) ([]row, error) {
	inMax, outBits := limits(i, n)
	rows := make([]row, d.Out)
	for k := range rows {
		weight := d.Weight[k*d.In : (k+1)*d.In]
		shift := maxShift
		for shift >= minShift && !rows[k].quantise(weight, d.Bias[k], uint8(shift), inMax, outBits) {
			shift--
		}
		if shift < minShift {
			return nil, fmt.Errorf("%w: layer %d, output %d: weights are not finite, or too large even with %d fractional bits",
				errInvalidNet, i, k, minShift)
		}
	}
	return rows, nil
}

// quantise sets r to the weights rounded to shift fractional bits, and to the bias. It returns false if the
// bias does not fit into an int32, a weight into an int16, or the sum of the row into an int32. For inMax, the
// largest input, and outBits, the fractional bits of the output, see limits.
func (r *row) quantise(weight []float32, bias float32, shift uint8, inMax int64, outBits int) bool {
	scale := float64(int64(1) << shift)
	b := math.RoundToEven(float64(bias) * scale * (1 << InputBits))
	if !(math.Abs(b) < math.MaxInt32) { // also if b is NaN
		return false
	}
	*r = row{shift: shift, bias: int32(b), weight: make([]int16, len(weight))}
	for i, w := range weight {
		q := math.RoundToEven(float64(w) * scale)
		if !(math.Abs(q) <= math.MaxInt16) {
			return false
		}
		r.weight[i] = int16(q)
	}
	return r.maxSum(inMax, outBits) <= math.MaxInt32
}

// checkShape returns an error if a width in shape is out of bounds. shape is the number of inputs,
// followed by the number of outputs of each layer.
func checkShape(shape []int) error {
	if len(shape) < 2 || len(shape) > maxLayers+1 {
		return fmt.Errorf("%w: %d layers, expected 1 to %d", errInvalidNet, len(shape)-1, maxLayers)
	}
	for i, n := range shape {
		if n < 1 || n > maxWidth {
			return fmt.Errorf("%w: width %d at layer %d, expected 1 to %d", errInvalidNet, n, i, maxWidth)
		}
	}
	return nil
}
