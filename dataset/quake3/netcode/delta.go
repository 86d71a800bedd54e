package netcode

import "math"

// A float that is an integer from -4096 to 4095 is sent in 13 bits, plus smallIntBias so that it is not
// negative.
const (
	smallIntBits = 13
	smallIntBias = 1 << (smallIntBits - 1)
)

// State decodes the delta of an entity. row contains the baseline and is updated in place. The delta is
// a flag that anything changed, the number of fields up to the last changed one (8 bits), and for
// each of these a flag whether it changed, and if so a flag whether it is not 0, and if so its value.
func (r *Reader) State(fields []Field, row []int32) {
	if !r.Flag() {
		return // the entity is unchanged
	}
	for i, n := 0, r.readCount(fields); i < n; i++ {
		if !r.Flag() {
			continue
		}
		row[i] = 0
		if r.Flag() {
			row[i] = r.readValue(fields[i].Bits)
		}
	}
}

// readCount reads the number of fields that follow (8 bits). A number above len(fields) is an error.
func (r *Reader) readCount(fields []Field) int {
	n := int(r.Bits(8))
	if n > len(fields) {
		r.Fail(errFields)
		return 0
	}
	return n
}

// readValue reads the value of a field with the given Field.Bits. A float is a flag, and then
// either all 32 bits or a small integer.
func (r *Reader) readValue(bits int) int32 {
	switch {
	case bits != 0:
		return r.Signed(bits)
	case r.Flag():
		return int32(r.Bits(32))
	}
	return int32(math.Float32bits(float32(int(r.Bits(smallIntBits)) - smallIntBias)))
}

// Player decodes the delta of the player. row contains the baseline and is updated in place. The fields
// are as in State but without the flags for any change and for 0. Then follow a flag whether any array
// changed and, for each array, a flag, a mask of the changed elements (16 bits), and their values.
func (r *Reader) Player(row []int32) {
	for i, n := 0, r.readCount(playerFields[:]); i < n; i++ {
		if r.Flag() {
			row[i] = r.readValue(playerFields[i].Bits)
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

// State encodes the difference of row to base as Reader.State decodes it. The number of bits spent on
// field i is added to spent[i].
func (w *Writer) State(fields []Field, base, row []int32, spent []int) {
	n := changedPrefix(base[:len(fields)], row)
	if !w.Flag(n > 0) {
		return
	}
	w.Bits(uint32(n), 8)
	for i := range n {
		at := w.Len()
		if w.Flag(row[i] != base[i]) && w.Flag(row[i] != 0) {
			w.writeValue(fields[i].Bits, row[i])
		}
		w.spend(spent, i, at)
	}
}

// writeValue writes the value of a field as Reader.readValue reads it. fieldBits is Field.Bits: 0 means a float, a
// negative number a signed integer. A float that is a small whole number is written as such, after a flag.
func (w *Writer) writeValue(fieldBits int, v int32) {
	if fieldBits != 0 {
		w.Bits(uint32(v), max(fieldBits, -fieldBits))
		return
	}
	f := math.Float32frombits(uint32(v))
	integer := int32(f)
	if w.Flag(!(f >= -smallIntBias && f < smallIntBias && int32(math.Float32bits(float32(integer))) == v)) {
		w.Bits(uint32(v), 32)
	} else {
		w.Bits(uint32(integer+smallIntBias), smallIntBits)
	}
}

// changedPrefix returns the number of fields up to and including the last one that differs; 0 if
// none does.
func changedPrefix(base, row []int32) int {
	n := len(base)
	for n > 0 && base[n-1] == row[n-1] {
		n--
	}
	return n
}

// Player encodes the difference of row to base as Reader.Player decodes it. The number of bits spent on
// value i is added to spent[i].
func (w *Writer) Player(base, row []int32, spent []int) {
	const size = len(playerFields)
	n := changedPrefix(base[:size], row)
	w.Bits(uint32(n), 8)
	for i := range n {
		at := w.Len()
		if w.Flag(row[i] != base[i]) {
			w.writeValue(playerFields[i].Bits, row[i])
		}
		w.spend(spent, i, at)
	}
	if !w.Flag(changedPrefix(base[size:], row[size:]) > 0) {
		return
	}
	for a, bits := range arrayBits {
		from := size + a*arraySize
		w.writeArray(bits, base[from:from+arraySize], row[from:], spent, from)
	}
}

// writeArray writes the delta of one of the player's arrays. bits is the Field.Bits of its elements.
// The number of bits spent on element i is added to spent[first+i].
func (w *Writer) writeArray(fieldBits int, base, row []int32, spent []int, first int) {
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
			w.Bits(uint32(row[i]), max(fieldBits, -fieldBits))
			w.spend(spent, first+i, at)
		}
	}
}
