package netcode

import "math"

// Small integers take 13 bits in a float, biased so that they are not negative.
const (
	wholeBits = 13
	wholeBias = 1 << (wholeBits - 1)
)

// State reads the fields of an entity that change: row holds its base, and becomes its state.
func (r *Reader) State(fields []Field, row []int32) {
	if !r.Flag() {
		return // unchanged
	}
	for i, n := 0, r.count(fields); i < n; i++ {
		if !r.Flag() {
			continue
		}
		row[i] = 0
		if r.Flag() {
			row[i] = r.value(fields[i].Bits)
		}
	}
}

// count reads how many fields follow.
func (r *Reader) count(fields []Field) int {
	n := int(r.Bits(8))
	if n > len(fields) {
		r.Fail(errFields)
		return 0
	}
	return n
}

// value reads the new value of a field.
func (r *Reader) value(bits int) int32 {
	switch {
	case bits != 0:
		return r.Signed(bits)
	case r.Flag():
		return int32(r.Bits(32))
	}
	return int32(math.Float32bits(float32(int(r.Bits(wholeBits)) - wholeBias)))
}

// Player reads what changes in the state of the player: row holds its base, and becomes its state.
func (r *Reader) Player(row []int32) {
	for i, n := 0, r.count(playerFields[:]); i < n; i++ {
		if r.Flag() {
			row[i] = r.value(playerFields[i].Bits)
		}
	}
	if !r.Flag() {
		return
	}
	for a, bits := range arrayBits {
		if !r.Flag() {
			continue
		}
		values := row[len(playerFields)+a*arraySize:]
		for i, mask := 0, r.Bits(arraySize); mask != 0; i, mask = i+1, mask>>1 {
			if mask&1 != 0 {
				values[i] = r.Signed(bits)
			}
		}
	}
}

// State writes what changes in the fields of an entity. Bits are added to spent, by field.
func (w *Writer) State(fields []Field, base, row []int32, spent []int) {
	n := changed(base[:len(fields)], row)
	if !w.Flag(n > 0) {
		return
	}
	w.Bits(uint32(n), 8)
	for i := range n {
		at := w.Len()
		if w.Flag(row[i] != base[i]) && w.Flag(row[i] != 0) {
			w.value(fields[i].Bits, row[i])
		}
		spent[i] += w.Len() - at
	}
}

// value writes the new value of a field.
func (w *Writer) value(bits int, v int32) {
	if bits != 0 {
		w.Bits(uint32(v), max(bits, -bits))
		return
	}
	f := math.Float32frombits(uint32(v))
	whole := int32(f)
	if w.Flag(!(f >= -wholeBias && f < wholeBias && int32(math.Float32bits(float32(whole))) == v)) {
		w.Bits(uint32(v), 32)
	} else {
		w.Bits(uint32(whole+wholeBias), wholeBits)
	}
}

// changed returns the number of fields up to the last one that differs.
func changed(base, row []int32) int {
	n := len(base)
	for n > 0 && base[n-1] == row[n-1] {
		n--
	}
	return n
}

// Player writes what changes in the state of the player. Bits are added to spent, by value.
func (w *Writer) Player(base, row []int32, spent []int) {
	const size = len(playerFields)
	n := changed(base[:size], row)
	w.Bits(uint32(n), 8)
	for i := range n {
		at := w.Len()
		if w.Flag(row[i] != base[i]) {
			w.value(playerFields[i].Bits, row[i])
		}
		spent[i] += w.Len() - at
	}
	if !w.Flag(changed(base[size:], row[size:]) > 0) {
		return
	}
	for a, bits := range arrayBits {
		from := size + a*arraySize
		w.array(bits, base[from:from+arraySize], row[from:], spent[from:])
	}
}

// array writes what changes in one of the player's arrays.
func (w *Writer) array(bits int, base, row []int32, spent []int) {
	mask := uint32(0)
	for i, v := range base {
		if row[i] != v {
			mask |= 1 << i
		}
	}
	if !w.Flag(mask != 0) {
		return
	}
	w.Bits(mask, arraySize)
	for i, v := range base {
		if row[i] != v {
			at := w.Len()
			w.Bits(uint32(row[i]), max(bits, -bits))
			spent[i] += w.Len() - at
		}
	}
}
