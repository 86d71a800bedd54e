package datagram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unsafe"

	"wirelab/encoders/rangecoder"
	"wirelab/internal/boundedio"
)

// A model file consists of magic, a byte with the version, the model as codeModel writes it, and a
// CRC-32 (IEEE) of everything before. Integers are little-endian.
const (
	magic   = "datagram model"
	version = 3
	maxFile = 16 << 20 // bytes
)

// Errors of model files.
var (
	errNotModel     = errors.New("not a datagram model file")
	errVersion      = errors.New("the model is of another version of this program")
	errDamaged      = errors.New("the model is damaged")
	errOtherEncoder = errors.New("the model was trained for the other of the encoders datagram and datagram-acked")
)

// load reads a model from a file. Its errors wrap errNotModel, errVersion, errDamaged or that of the operating
// system.
func load(path string) (*model, error) {
	data, err := boundedio.ReadFile(path, maxFile)
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, fmt.Errorf("%s: %w", path, errNotModel)
	case errors.As(err, new(*boundedio.SizeError)):
		return nil, fmt.Errorf("%w: %w", err, errNotModel)
	case err != nil:
		return nil, err
	}
	m, err := parseModel(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// crcSize is the size of the checksum at the end of a model file, in bytes.
const crcSize = 4

// parseModel parses a model file. Any bytes may be passed: a model without an error is safe to use.
func parseModel(data []byte) (*model, error) {
	if len(data) < len(magic)+1+crcSize || string(data[:len(magic)]) != magic {
		return nil, errNotModel
	}
	if v := data[len(magic)]; v != version {
		return nil, fmt.Errorf("%w: version %d, expected %d", errVersion, v, version)
	}
	body := data[:len(data)-crcSize]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	f := modelFile{data: body[len(magic)+1:], reading: true}
	m := &model{}
	f.codeModel(m)
	if len(f.data) > 0 {
		f.fail(fmt.Sprintf("%d bytes after its end", len(f.data)))
	}
	if f.err != nil {
		return nil, f.err
	}
	m.buildTables()
	return m, nil
}

// Bytes returns the model file.
func (m *model) Bytes() []byte {
	f := modelFile{data: append([]byte(magic), version)}
	f.codeModel(m)
	return binary.LittleEndian.AppendUint32(f.data, crc32.ChecksumIEEE(f.data))
}

// buildTables computes the parts of the model that are not in the file.
func (m *model) buildTables() {
	m.buildIndex()
	for i := range m.fields {
		m.fields[i].buildMass()
	}
	m.lengths.buildIndex()
}

// A modelFile writes or reads a model. One traversal serves both, so that they agree: each code method
// writes its argument, or reads it and checks its range.
type modelFile struct {
	data    []byte // written so far, or still to be read
	reading bool   // the model is read from data; otherwise it is written
	err     error  // sticky: the first damage found while reading
}

// fail records that the file is damaged and discards the rest of it.
func (f *modelFile) fail(problem string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: %s", errDamaged, problem)
	}
	f.data = nil
}

// codeBytes codes b unchanged. If the file is too short, b becomes zero.
func (f *modelFile) codeBytes(b []byte) {
	switch {
	case !f.reading:
		f.data = append(f.data, b...)
	case len(f.data) < len(b):
		f.fail("the file ends early")
		clear(b)
	default:
		f.data = f.data[copy(b, f.data):]
	}
}

// codeSparse codes bytes of which many are equal: the most frequent byte, then for each eight bytes a
// mask of those that differ from it, followed by these. While reading, b is overwritten.
func (f *modelFile) codeSparse(b []byte) {
	var count [256]int
	mostFrequent := [1]byte{}
	for _, v := range b {
		count[v]++
		if count[v] > count[mostFrequent[0]] {
			mostFrequent[0] = v
		}
	}
	f.codeBytes(mostFrequent[:])
	for eight := range slices.Chunk(b, 8) {
		var differs [1]byte
		for i, v := range eight {
			if v != mostFrequent[0] {
				differs[0] |= 1 << i
			}
		}
		f.codeBytes(differs[:])
		for i := range eight {
			if differs[0]>>i&1 != 0 {
				f.codeBytes(eight[i : i+1])
			} else {
				eight[i] = mostFrequent[0]
			}
		}
	}
}

// codeNumber codes v in size bytes and returns it, sign-extended if low is negative. A number that was
// read must be from low to high; otherwise the file is damaged, and the error contains name, the name of the
// number.
func (f *modelFile) codeNumber(v int64, size int, low, high int64, name string) int64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	f.codeBytes(b[:size])
	if !f.reading {
		return v
	}
	v = int64(binary.LittleEndian.Uint64(b[:]))
	if low < 0 {
		unused := 64 - 8*size
		v = v << unused >> unused
	}
	if v < low || v > high {
		f.fail(fmt.Sprintf("%s is %d, expected %d to %d", name, v, low, high))
		return max(low, 0)
	}
	return v
}

// codeInteger codes *v in the size of its type. A value that was read must be from low to high; name is its name
// for the error, "" if every value of the type is valid.
func codeInteger[T uint8 | int8 | uint16 | int16 | uint32](f *modelFile, v *T, low, high int64, name string) {
	*v = T(f.codeNumber(int64(*v), int(unsafe.Sizeof(*v)), low, high, name))
}

// codeInt16s codes a list of numbers without a restriction of their range.
func codeInt16s(f *modelFile, list []int16) {
	for i := range list {
		codeInteger(f, &list[i], -1<<15, 1<<15-1, "")
	}
}

// codeFlag codes *v as a byte of 0 or 1 and returns it.
func (f *modelFile) codeFlag(v *bool) bool {
	*v = f.codeNumber(int64(rangecoder.Flag(*v)), 1, 0, 1, "flag") == 1
	return *v
}

// codeLength codes the length of a slice in the given number of bytes. A reader allocates the slice.
func codeLength[T any](f *modelFile, s *[]T, bytes int, low, high int64, name string) {
	n := f.codeNumber(int64(len(*s)), bytes, low, high, name)
	if f.reading {
		*s = make([]T, n)
	}
}

// codeModel codes the whole model: kinds with the models of their units, fields, weights, slots, lengths.
func (f *modelFile) codeModel(m *model) {
	f.codeFlag(&m.acked)
	codeLength(f, &m.kinds, 1, 1, maxKinds, "number of kinds") // in one byte; at least 1
	if f.reading {
		m.units = make([]unitModel, len(m.kinds)*unitsPerKind)
	}
	codeLength(f, &m.fields, 2, 0, maxKinds*unitsPerKind, "number of fields") // in two bytes; 0 or more
	for i := range m.kinds {
		f.codeKind(&m.kinds[i], len(m.kinds))
		for j := range unitsPerKind {
			f.codeUnitModel(m, &m.units[i*unitsPerKind+j])
		}
	}
	for i := range m.fields {
		f.codeField(&m.fields[i])
	}
	for i := range m.foundWeights {
		codeInt16s(f, m.foundWeights[i][:])
	}
	f.codeSlots(m)
	f.codeLengths(&m.lengths)
}

// codeKind codes a message kind. kinds is the number of kinds. Numbers of which every value is valid have no name
// for errors.
func (f *modelFile) codeKind(k *messageKind, kinds int) {
	f.codeFlag(&k.anchored)
	codeInteger(f, &k.anchor, 0, 1<<32-1, "")
	codeInteger(f, &k.keyUnit, -1, unitsPerKind-1, "key unit")
	codeInteger(f, &k.size, 0, 255, "")
	codeInteger(f, &k.next, 0, int64(kinds-1), "next kind")
	codeInteger(f, &k.clockByte, -1, unitsPerKind-1, "clock position")
	codeInteger(f, &k.clockFormat, 0, nClockFormats-1, "clock format")
	codeLength(f, &k.groups, 1, 0, unitsPerKind, "number of groups")
	for i := range k.groups {
		g := &k.groups[i]
		codeInteger(f, &g.offset, 0, unitsPerKind+maxSpan-1, "group offset")
		codeInteger(f, &g.span, 1, maxSpan, "group span")
		codeLength(f, &g.units, 1, int64(g.span), 8*maxSpan-1, "number of units in a group")
		f.codeGroupUnits(g)
	}
}

// codeGroupUnits codes the units of a group. In a file that is read, each bit of the group must be in
// exactly one of them.
func (f *modelFile) codeGroupUnits(g *group) {
	var seen [8 * maxSpan]bool
	bits := 0
	for i := range g.units {
		u := &g.units[i]
		codeInteger(f, &u.bits, 1, 8, "unit size")
		for j := range u.bitIndex[:u.bits] {
			codeInteger(f, &u.bitIndex[j], 0, 8*int64(g.span)-1, "bit index of a unit")
			if seen[u.bitIndex[j]] {
				f.fail("a bit of a group belongs to two units, expected one")
			}
			seen[u.bitIndex[j]] = true
		}
		bits += int(u.bits)
	}
	if f.err == nil && bits != 8*int(g.span) {
		f.fail("a bit of a group belongs to no unit, expected one")
	}
}

// codeUnitModel codes the model of a unit. The file has only the flag seen for a unit that did not occur in
// training; codecs code the bits of such a unit directly, as if it were random. Numbers of which every value is
// valid have no name for errors.
func (f *modelFile) codeUnitModel(m *model, unit *unitModel) {
	if !f.codeFlag(&unit.seen) {
		unit.random, unit.field = f.reading || unit.random, -1 // a reader makes the unit random
		return
	}
	f.codeFlag(&unit.random)
	f.codeFlag(&unit.lowRandom)
	f.codeFlag(&unit.usuallyRef)
	f.codeFlag(&unit.usuallyZero)
	codeInteger(f, &unit.zeroLogit, -128, 127, "")
	codeInteger(f, &unit.field, -1, int64(len(m.fields)-1), "field index")
	codeInteger(f, &unit.fieldUnit, 0, 3, "unit index in a field")
	if unit.random {
		return
	}
	for i := range unit.recipes {
		r := &unit.recipes[i]
		codeInteger(f, &r.n, 0, maxParts, "number of sources in a context")
		for j := range r.parts[:r.n] {
			codeInteger(f, &r.parts[j].source, 0, int64(nSources-1), "source in a context")
			codeInteger(f, &r.parts[j].mask, 0, 255, "")
		}
	}
	for i := range unit.agreeLogits {
		f.codeSparse(unit.agreeLogits[i][:])
	}
	for i := range unit.weights {
		codeInt16s(f, unit.weights[i][:])
	}
}

// codeField codes a field, except for massBelow, which buildMass computes from bucketCost.
func (f *modelFile) codeField(fld *field) {
	codeInteger(f, &fld.bits, 1, 32, "size of a field")
	codeInteger(f, &fld.nUnits, int64(fld.bits+7)/8, int64(fld.bits+7)/8, "number of units of a field")
	for i := range fld.predictors {
		f.codePredictor(&fld.predictors[i])
	}
	for predictorIndex := range fld.predictorCount() {
		for class := range fld.bucketCost[predictorIndex] {
			for side := range fld.bucketCost[predictorIndex][class] {
				n := fld.clearUnusedBuckets(&fld.bucketCost[predictorIndex][class][side])
				f.codeSparse(fld.bucketCost[predictorIndex][class][side][:n])
			}
		}
	}
}

// codePredictor codes a predictor. Methods before predictRate have no parameters. A number without a name for
// errors may have any value that its bytes can hold.
func (f *modelFile) codePredictor(p *predictor) {
	codeInteger(f, &p.method, 0, nMethods-1, "prediction method")
	if p.method < predictRate {
		return
	}
	codeInteger(f, &p.rate.first, 0, unitsPerKind-1, "position of a rate")
	codeInteger(f, &p.rate.bits, 0, 24, "size of a rate")
	codeInteger(f, &p.gain.numerator, -1<<15, 1<<15-1, "")
	codeInteger(f, &p.gain.shift, 0, 62, "gain")
}

// codeSlots codes the table of slots: a byte with hashShift, which determines the size of the table; then
// for each slot in use a byte with the number of empty slots before it, and the slot. A byte of 255 means
// 255 empty slots; a byte with the number of further ones follows.
func (f *modelFile) codeSlots(m *model) {
	if !f.reading {
		f.codeNumber(int64(m.hashShift), 1, 0, 0, "") // only a reader needs the bounds and the name
		f.writeSlots(m.slots)
		return
	}
	m.hashShift = uint(f.codeNumber(0, 1, 32-20, maxShift, "table size")) // at most 2^20 slots
	m.slots = make([]slot, 1<<(32-m.hashShift))
	for i := 0; i < len(m.slots) && f.err == nil; {
		var skip [1]byte
		f.codeBytes(skip[:])
		i += int(skip[0])
		if skip[0] < 255 && i < len(m.slots) {
			f.codeBytes(m.slots[i][:])
			i++
		}
	}
}

// writeSlots appends the slots as codeSlots reads them: for each slot in use a byte with the number of empty slots
// before it, and the slot. A byte of 255 means 255 empty slots; a byte with the number of further ones follows.
func (f *modelFile) writeSlots(slots []slot) {
	empty := byte(0)
	for i := range slots {
		if slots[i] != emptySlot {
			f.data = append(append(f.data, empty), slots[i][:]...)
			empty = 0
			continue
		}
		empty++
		if empty == 255 {
			f.data = append(f.data, empty)
			empty = 0
		}
	}
	if empty > 0 {
		f.data = append(f.data, empty)
	}
}

// codeLengths codes the model of lengths. No packet has size 0: its probabilities are those for packet
// sizes that did not occur in training, and for these only a flag of 0 is stored.
func (f *modelFile) codeLengths(l *lengths) {
	for i := range l.common {
		codeInteger(f, &l.common[i], 0, maxBytes, "common length")
	}
	probabilities := func(list []uint16) {
		for i := range list {
			codeInteger(f, &list[i], 1, 1<<16-1, "probability")
		}
	}
	for size := range l.commonProb {
		hasOwn := size == 0 || l.commonProb[size] != l.commonProb[0]
		if f.codeFlag(&hasOwn) {
			probabilities(l.commonProb[size][:])
		} else {
			l.commonProb[size] = l.commonProb[0]
		}
	}
	probabilities(l.offsetProb[:])
}
