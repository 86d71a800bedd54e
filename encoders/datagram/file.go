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

// The file of a model: these bytes, a version, the model, and a CRC-32 of all before it.
const (
	magic   = "datagram model"
	version = 2
	maxFile = 16 << 20 // bytes
)

// Errors of model files.
var (
	errNoModel = errors.New("not the file of a datagram model")
	errVersion = errors.New("the model is of another version of this program")
	errDamaged = errors.New("the model is damaged")
	errOther   = errors.New("the model is for the other of datagram and datagram-acked")
)

// load reads a model from a file. Its errors wrap those above, or are the system's.
func load(path string) (*model, error) {
	data, err := boundedio.ReadFile(path, maxFile)
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, fmt.Errorf("%s: %w", path, errNoModel)
	case errors.As(err, new(*boundedio.SizeError)):
		return nil, fmt.Errorf("%w: %w", err, errNoModel)
	case err != nil:
		return nil, err
	}
	m, err := parseModel(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// parseModel reads the bytes of a file. It takes any bytes.
func parseModel(data []byte) (*model, error) {
	if len(data) < len(magic)+5 || string(data[:len(magic)]) != magic {
		return nil, errNoModel
	}
	if v := data[len(magic)]; v != version {
		return nil, fmt.Errorf("%w: version %d, expected %d", errVersion, v, version)
	}
	body := data[:len(data)-4]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, fmt.Errorf("%w: its checksum does not hold", errDamaged)
	}
	f := filer{data: body[len(magic)+1:], reading: true}
	m := &model{}
	f.model(m)
	if len(f.data) > 0 {
		f.refuse("bytes behind its end")
	}
	if f.err != nil {
		return nil, f.err
	}
	m.prepare()
	return m, nil
}

// Bytes returns the file of the model.
func (m *model) Bytes() []byte {
	f := filer{data: append([]byte(magic), version)}
	f.model(m)
	return binary.LittleEndian.AppendUint32(f.data, crc32.ChecksumIEEE(f.data))
}

// prepare computes what is not in the file.
func (m *model) prepare() {
	m.index()
	for i := range m.fields {
		m.fields[i].fill()
	}
	m.length.fill()
}

// filer writes a model, or reads one: one traversal, so that both agree.
type filer struct {
	data    []byte
	reading bool
	err     error
}

// refuse records that the file is damaged.
func (f *filer) refuse(what string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: %s", errDamaged, what)
	}
	f.data = nil
}

// bytes codes bytes.
func (f *filer) bytes(b []byte) {
	switch {
	case !f.reading:
		f.data = append(f.data, b...)
	case len(f.data) < len(b):
		f.refuse("it ends early")
		clear(b)
	default:
		f.data = f.data[copy(b, f.data):]
	}
}

// sparse codes bytes of which many are equal: the most frequent, and for each eight which differ,
// and those.
func (f *filer) sparse(b []byte) {
	var count [256]int
	usual := [1]byte{}
	for _, v := range b {
		count[v]++
		if count[v] > count[usual[0]] {
			usual[0] = v
		}
	}
	f.bytes(usual[:])
	for eight := range slices.Chunk(b, 8) {
		var others [1]byte
		for i, v := range eight {
			if v != usual[0] {
				others[0] |= 1 << i
			}
		}
		f.bytes(others[:])
		for i := range eight {
			if others[0]>>i&1 != 0 {
				f.bytes(eight[i : i+1])
			} else {
				eight[i] = usual[0]
			}
		}
	}
}

// number codes a number in some bytes, which a reader refuses unless it is in low..high.
func (f *filer) number(v int64, bytes int, low, high int64, what string) int64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	f.bytes(b[:bytes])
	if !f.reading {
		return v
	}
	v = int64(binary.LittleEndian.Uint64(b[:]))
	if low < 0 {
		free := 64 - 8*bytes
		v = v << free >> free
	}
	if v < low || v > high {
		f.refuse(what)
		return max(low, 0)
	}
	return v
}

// integer codes v in its own size.
func integer[T uint8 | int8 | uint16 | int16 | uint32](f *filer, v *T, low, high int64, what string) {
	*v = T(f.number(int64(*v), int(unsafe.Sizeof(*v)), low, high, what))
}

// any16 codes any numbers of 16 bits.
func any16(f *filer, list []int16) {
	for i := range list {
		integer(f, &list[i], -1<<15, 1<<15-1, "")
	}
}

// flag codes a flag and returns it.
func (f *filer) flag(v *bool) bool {
	*v = f.number(int64(rangecoder.Flag(*v)), 1, 0, 1, "a flag") == 1
	return *v
}

// size codes the length of a slice; a reader makes one of that length.
func size[T any](f *filer, s *[]T, bytes int, low, high int64, what string) {
	n := f.number(int64(len(*s)), bytes, low, high, what)
	if f.reading {
		*s = make([]T, n)
	}
}

func (f *filer) model(m *model) {
	f.flag(&m.acked)
	size(f, &m.kinds, 1, 1, maxKinds, "its kinds")
	if f.reading {
		m.places = make([]place, len(m.kinds)*maxPlaces)
	}
	size(f, &m.fields, 2, 0, maxKinds*maxPlaces, "its fields")
	for i := range m.kinds {
		f.kind(&m.kinds[i], len(m.kinds))
		for j := range maxPlaces {
			f.place(m, &m.places[i*maxPlaces+j])
		}
	}
	for i := range m.fields {
		f.field(&m.fields[i])
	}
	for i := range m.found {
		any16(f, m.found[i][:])
	}
	f.table(m)
	f.lengths(&m.length)
}

func (f *filer) kind(k *kind, kinds int) {
	f.flag(&k.hooked)
	integer(f, &k.anchor, 0, 1<<32-1, "")
	integer(f, &k.key, -1, maxPlaces-1, "a key")
	integer(f, &k.size, 0, 255, "")
	integer(f, &k.then, 0, int64(kinds-1), "what follows a message")
	integer(f, &k.clock, -1, maxPlaces-1, "a clock")
	integer(f, &k.timing, 0, timings-1, "a clock")
	size(f, &k.groups, 1, 0, maxPlaces, "its groups")
	for i := range k.groups {
		g := &k.groups[i]
		integer(f, &g.offset, 0, maxPlaces+maxSpan-1, "where a group is")
		integer(f, &g.span, 1, maxSpan, "how long a group is")
		size(f, &g.units, 1, int64(g.span), 8*maxSpan-1, "the units of a group")
		f.units(g)
	}
}

// units codes the units of a group: each of its bits must be in one of them.
func (f *filer) units(g *group) {
	var seen [8 * maxSpan]bool
	bits := 0
	for i := range g.units {
		u := &g.units[i]
		integer(f, &u.bits, 1, 8, "a unit")
		for j := range u.from[:u.bits] {
			integer(f, &u.from[j], 0, 8*int64(g.span)-1, "the bits of a unit")
			if seen[u.from[j]] {
				f.refuse("a bit in two units")
			}
			seen[u.from[j]] = true
		}
		bits += int(u.bits)
	}
	if f.err == nil && bits != 8*int(g.span) {
		f.refuse("a bit in no unit")
	}
}

func (f *filer) place(m *model, p *place) {
	if !f.flag(&p.seen) {
		p.random, p.field = f.reading || p.random, -1
		return
	}
	f.flag(&p.random)
	f.flag(&p.low)
	f.flag(&p.steady)
	f.flag(&p.zero)
	integer(f, &p.zeros, -128, 127, "")
	integer(f, &p.field, -1, int64(len(m.fields)-1), "a field")
	integer(f, &p.part, 0, 3, "a part of a field")
	if p.random {
		return
	}
	for i := range p.recipe {
		r := &p.recipe[i]
		integer(f, &r.n, 0, maxParts, "a context")
		for j := range r.part[:r.n] {
			integer(f, &r.part[j].source, 0, int64(sources-1), "the source of a context")
			integer(f, &r.part[j].mask, 0, 255, "")
		}
	}
	for i := range p.near {
		f.sparse(p.near[i][:])
	}
	for i := range p.weight {
		any16(f, p.weight[i][:])
	}
}

func (f *filer) field(d *field) {
	integer(f, &d.bits, 1, 32, "the bits of a field")
	integer(f, &d.units, int64(d.bits+7)/8, int64(d.bits+7)/8, "the units of a field")
	for i := range d.guess {
		f.guess(&d.guess[i])
	}
	for g := range d.count() {
		for c := range d.share[g] {
			for side := range d.share[g][c] {
				n := d.shares(&d.share[g][c][side])
				f.sparse(d.share[g][c][side][:n])
			}
		}
	}
}

func (f *filer) guess(g *guess) {
	integer(f, &g.way, 0, ways-1, "the prediction of a field")
	if g.way < guessRate {
		return
	}
	for _, o := range []*operand{&g.a, &g.b, &g.turn} {
		integer(f, &o.at, 0, maxPlaces-1, "another field")
		integer(f, &o.bits, 0, 24, "another field")
	}
	for _, x := range []*factor{&g.gain, &g.spin} {
		integer(f, &x.by, -1<<15, 1<<15-1, "")
		integer(f, &x.shift, 0, 62, "a gain")
	}
	f.flag(&g.minus)
	integer(f, &g.radius, 0, 1<<24, "a speed")
	integer(f, &g.offset, 0, 1<<32-1, "")
}

// table codes the lines. A byte before each is the number of empty lines to skip; 255 means that
// 255 are skipped and none follows yet.
func (f *filer) table(m *model) {
	if !f.reading {
		f.number(int64(m.shift), 1, 0, 0, "")
		f.putLines(m.lines)
		return
	}
	m.shift = uint(f.number(0, 1, 32-20, maxShift, "its table"))
	m.lines = make([]line, 1<<(32-m.shift))
	for i := 0; i < len(m.lines) && f.err == nil; {
		var skip [1]byte
		f.bytes(skip[:])
		i += int(skip[0])
		if skip[0] < 255 && i < len(m.lines) {
			f.bytes(m.lines[i][:])
			i++
		}
	}
}

func (f *filer) putLines(lines []line) {
	skip := byte(0)
	for i := range lines {
		if lines[i] != noLine {
			f.data = append(append(f.data, skip), lines[i][:]...)
			skip = 0
			continue
		}
		skip++
		if skip == 255 {
			f.data = append(f.data, skip)
			skip = 0
		}
	}
	if skip > 0 {
		f.data = append(f.data, skip)
	}
}

// lengths codes the model of lengths. Sizes of packets that never occurred share the
// probabilities of size 0, which no packet has.
func (f *filer) lengths(l *lengths) {
	for i := range l.known {
		integer(f, &l.known[i], 0, maxBytes, "a length")
	}
	probabilities := func(list []uint16) {
		for i := range list {
			integer(f, &list[i], 1, 1<<16-1, "a probability")
		}
	}
	for i := range l.which {
		other := i == 0 || l.which[i] != l.which[0]
		if f.flag(&other) {
			probabilities(l.which[i][:])
		} else {
			l.which[i] = l.which[0]
		}
	}
	probabilities(l.off[:])
}
