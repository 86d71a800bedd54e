package datagram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"wirelab/internal/boundedio"
)

// A model's file: these bytes, a version, the model, and a CRC-32 of all before it.
const (
	magic   = "datagram model"
	version = 2

	// MaxFile bounds the file of a model.
	MaxFile = 16 << 20
)

// Errors of model files.
var (
	ErrNoModel = errors.New("not the file of a datagram model")
	ErrVersion = errors.New("the model is of another version of this program")
	ErrDamaged = errors.New("the model is damaged")
	ErrOther   = errors.New("the model is for the other of datagram and datagram-acked")
)

// Load reads a model from a file. Its errors wrap those above, or are the system's.
func Load(path string) (*Model, error) {
	data, err := boundedio.ReadFile(path, MaxFile)
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, fmt.Errorf("%s: %w", path, ErrNoModel)
	case errors.As(err, new(*boundedio.SizeError)):
		return nil, fmt.Errorf("%w: %w", err, ErrNoModel)
	case err != nil:
		return nil, err
	}
	m, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Parse reads the bytes of a file; any may come.
func Parse(data []byte) (*Model, error) {
	if len(data) < len(magic)+5 || string(data[:len(magic)]) != magic {
		return nil, ErrNoModel
	}
	if v := data[len(magic)]; v != version {
		return nil, fmt.Errorf("%w: version %d, expected %d", ErrVersion, v, version)
	}
	body := data[:len(data)-4]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, fmt.Errorf("%w: its checksum does not hold", ErrDamaged)
	}
	f := filer{data: body[len(magic)+1:], reading: true}
	m := &Model{}
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
func (m *Model) Bytes() []byte {
	f := filer{data: append([]byte(magic), version)}
	f.model(m)
	return binary.LittleEndian.AppendUint32(f.data, crc32.ChecksumIEEE(f.data))
}

// prepare makes what is not in the file.
func (m *Model) prepare() {
	m.index()
	for i := range m.fields {
		m.fields[i].fill()
	}
	m.length.fill()
}

// filer writes a model, or reads one: one traversal, so that the two cannot drift apart.
type filer struct {
	data    []byte
	reading bool
	err     error
}

func (f *filer) refuse(what string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: %s", ErrDamaged, what)
	}
	f.data = nil
}

// bytes passes bytes on.
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

// sparse passes bytes on of which many are the same: it, and which are others.
func (f *filer) sparse(b []byte) {
	var seen [256]int
	usual := [1]byte{}
	for _, v := range b {
		if seen[v]++; seen[v] > seen[usual[0]] {
			usual[0] = v
		}
	}
	f.bytes(usual[:])
	for ; len(b) > 0; b = b[min(8, len(b)):] {
		var others [1]byte
		for i, v := range b[:min(8, len(b))] {
			if v != usual[0] {
				others[0] |= 1 << i
			}
		}
		f.bytes(others[:])
		for i := range b[:min(8, len(b))] {
			if others[0]>>i&1 != 0 {
				f.bytes(b[i : i+1])
			} else {
				b[i] = usual[0]
			}
		}
	}
}

// number passes a number of up to 4 bytes on, which has to be from low to high.
func (f *filer) number(v int64, bytes int, low, high int64, what string) int64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	f.bytes(b[:bytes])
	if !f.reading {
		return v
	}
	free := 64 - 8*bytes
	if v = int64(binary.LittleEndian.Uint64(b[:])); low < 0 {
		v = v << free >> free
	}
	if v < low || v > high {
		f.refuse(what)
		return max(low, 0)
	}
	return v
}

func (f *filer) u8(v *uint8, low, high int64, what string) {
	*v = uint8(f.number(int64(*v), 1, low, high, what))
}

func (f *filer) i8(v *int8, low, high int64, what string) {
	*v = int8(f.number(int64(*v), 1, low, high, what))
}

func (f *filer) u16(v *uint16, low, high int64, what string) {
	*v = uint16(f.number(int64(*v), 2, low, high, what))
}

func (f *filer) i16(v *int16, low, high int64, what string) {
	*v = int16(f.number(int64(*v), 2, low, high, what))
}

func (f *filer) flag(v *bool) {
	n := int64(0)
	if *v {
		n = 1
	}
	*v = f.number(n, 1, 0, 1, "a flag") == 1
}

// size passes the length of a slice on, and makes one of that length.
func size[T any](f *filer, s *[]T, bytes int, low, high int64, what string) {
	n := f.number(int64(len(*s)), bytes, low, high, what)
	if f.reading {
		*s = make([]T, n)
	}
}

func (f *filer) model(m *Model) {
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
		for j := range m.found[i] {
			f.i16(&m.found[i][j], -1<<15, 1<<15-1, "")
		}
	}
	f.table(m)
	f.lengths(&m.length)
}

func (f *filer) kind(k *kind, kinds int) {
	f.flag(&k.hooked)
	k.anchor = uint32(f.number(int64(k.anchor), 4, 0, 1<<32-1, ""))
	f.i8(&k.key, -1, maxPlaces-1, "a key")
	f.u8(&k.size, 0, 255, "")
	f.u8(&k.then, 0, int64(kinds-1), "what follows a message")
	f.i8(&k.clock, -1, maxPlaces-1, "a clock")
	f.u8(&k.timing, 0, timings-1, "a clock")
	size(f, &k.groups, 1, 0, maxPlaces, "its groups")
	for i := range k.groups {
		g := &k.groups[i]
		f.u8(&g.offset, 0, maxPlaces+maxSpan-1, "where a group is")
		f.u8(&g.span, 1, maxSpan, "how long a group is")
		size(f, &g.units, 1, int64(g.span), 8*maxSpan-1, "the units of a group")
		f.units(g)
	}
}

// units passes the units of a group on: each of its bits must be in one of them.
func (f *filer) units(g *group) {
	var seen [8 * maxSpan]bool
	bits := 0
	for i := range g.units {
		u := &g.units[i]
		f.u8(&u.bits, 1, 8, "a unit")
		for j := range u.from[:u.bits] {
			f.u8(&u.from[j], 0, 8*int64(g.span)-1, "the bits of a unit")
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

func (f *filer) place(m *Model, p *place) {
	if f.flag(&p.seen); !p.seen {
		p.random, p.field = f.reading || p.random, -1
		return
	}
	f.flag(&p.random)
	f.flag(&p.low)
	f.flag(&p.steady)
	f.flag(&p.zero)
	f.i8(&p.zeros, -128, 127, "")
	f.i16(&p.field, -1, int64(len(m.fields)-1), "a field")
	f.u8(&p.part, 0, 3, "a part of a field")
	if p.random {
		return
	}
	for i := range p.recipe {
		r := &p.recipe[i]
		f.u8(&r.n, 0, maxParts, "a context")
		for j := range r.part[:r.n] {
			f.u8(&r.part[j].source, 0, int64(sources-1), "the source of a context")
			f.u8(&r.part[j].mask, 0, 255, "")
		}
	}
	for i := range p.near {
		f.sparse(p.near[i][:])
	}
	for i := range p.weight {
		for j := range p.weight[i] {
			f.i16(&p.weight[i][j], -1<<15, 1<<15-1, "")
		}
	}
}

func (f *filer) field(d *field) {
	f.u8(&d.bits, 1, 32, "the bits of a field")
	f.u8(&d.units, int64(d.bits+7)/8, int64(d.bits+7)/8, "the units of a field")
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
	f.u8(&g.way, 0, ways-1, "the prediction of a field")
	if g.way < guessRate {
		return
	}
	for _, o := range []*operand{&g.a, &g.b, &g.turn} {
		f.u8(&o.at, 0, maxPlaces-1, "another field")
		f.u8(&o.bits, 0, 24, "another field")
	}
	for _, x := range []*factor{&g.gain, &g.spin} {
		f.i16(&x.by, -1<<15, 1<<15-1, "")
		f.u8(&x.shift, 0, 62, "a gain")
	}
	f.flag(&g.minus)
	g.radius = uint32(f.number(int64(g.radius), 4, 0, 1<<24, "a speed"))
	g.offset = uint32(f.number(int64(g.offset), 4, 0, 1<<32-1, ""))
}

// table passes the lines on. A byte before each says how many empty ones to skip; 255:
// so many, and there is none yet.
func (f *filer) table(m *Model) {
	if !f.reading {
		f.number(int64(m.shift), 1, 0, 0, "")
		f.put(m.lines)
		return
	}
	m.shift = uint(f.number(0, 1, 32-20, maxShift, "its table"))
	m.lines = make([]line, 1<<(32-m.shift))
	for i := 0; i < len(m.lines) && f.err == nil; i++ {
		var skip [1]byte
		f.bytes(skip[:])
		if i += int(skip[0]); skip[0] == 255 {
			i--
		} else if i < len(m.lines) {
			f.bytes(m.lines[i][:])
		}
	}
}

func (f *filer) put(lines []line) {
	skip := byte(0)
	for i := range lines {
		if lines[i] != noLine {
			f.data = append(append(f.data, skip), lines[i][:]...)
			skip = 0
		} else if skip++; skip == 255 {
			f.data = append(f.data, skip)
			skip = 0
		}
	}
	if skip > 0 {
		f.data = append(f.data, skip)
	}
}

// lengths passes the model of lengths on. Sizes of packets that never occurred share the
// probabilities of size 0, which none has.
func (f *filer) lengths(l *lengths) {
	for i := range l.known {
		f.u16(&l.known[i], 0, maxBytes, "a length")
	}
	for i := range l.which {
		other := i == 0 || l.which[i] != l.which[0]
		if f.flag(&other); !other {
			l.which[i] = l.which[0]
			continue
		}
		for j := range l.which[i] {
			f.u16(&l.which[i][j], 1, 1<<16-1, "a probability")
		}
	}
	for i := range l.off {
		f.u16(&l.off[i], 1, 1<<16-1, "a probability")
	}
}
