package nn

import (
	"encoding/binary"
	"fmt"
)

// A file of a net, all little-endian: the magic; a byte with the number of
// layers; the widths, inputs first, as uint16; then for each layer, for each
// output, the weights' binary places (a byte), the bias (int32, with ten places
// more) and the weights (int16).
const magic = "wnn1"

// Append appends the net's file to dst.
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

// Read reads a net from a file that Append wrote. It takes any bytes, and refuses those that are
// not a net or a net that could overflow. Its memory is at most proportional to the file.
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
		return nil, fmt.Errorf("%w: %d bytes of weights, expected %d for widths %d", errNet, len(body), want, shape)
	}
	n := &Net{layers: make([]layer, len(shape)-1)}
	for i, in := range shape[:len(shape)-1] {
		rows := make([]row, shape[i+1])
		for k := range rows {
			rows[k] = readRow(body[:rowBytes(in)])
			body = body[rowBytes(in):]
		}
		if n.layers[i], err = pack(rows, i, len(n.layers)); err != nil {
			return nil, err
		}
	}
	n.lanes = newLanes(n.layers)
	return n, nil
}

func rowBytes(in int) int { return 5 + 2*in }

// readShape reads the widths and returns them with what follows.
func readShape(file []byte) (shape []int, body []byte, err error) {
	if len(file) < len(magic)+1 || string(file[:len(magic)]) != magic {
		return nil, nil, fmt.Errorf("%w: %d bytes that do not begin with %q", errNet, len(file), magic)
	}
	layers, body := int(file[len(magic)]), file[len(magic)+1:]
	if len(body) < 2*(layers+1) {
		return nil, nil, fmt.Errorf("%w: it ends within its widths", errNet)
	}
	for range layers + 1 {
		shape = append(shape, int(binary.LittleEndian.Uint16(body)))
		body = body[2:]
	}
	return shape, body, checkShape(shape)
}

func readRow(b []byte) row {
	r := row{shift: b[0], bias: int32(binary.LittleEndian.Uint32(b[1:])), weight: make([]int16, (len(b)-5)/2)}
	for i := range r.weight {
		r.weight[i] = int16(binary.LittleEndian.Uint16(b[5+2*i:]))
	}
	return r
}
