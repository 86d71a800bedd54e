// Package delta codes a block of a new file against a source: the old file and the part
// of the new one that is there already. A block is coded as copies, of which only the
// differing bytes are coded, and literals.
//
// Everything goes through one binary range coder. A Model that is not fast predicts every bit
// by logistic mixing of many contexts. For a word that looks like a pointer they are the
// known displacement of its target; for a copied byte, the bytes around it and the
// distance of the last difference; for literals, contexts of texts, tables and pictures.
// A fast Model predicts pointers that proved right and runs of correct bytes,
// codes the rest with two contexts, and many literals with zstd. A Model adapts from
// block to block. One traversal serves both directions.
//
// A Model takes some 9 MB, a fast one 3, whatever the sizes of the files, and allocates
// nothing once it is made.
package delta

import (
	"errors"
	"fmt"

	"wirelab/encoders/rangecoder"
)

const (
	// MaxBlock is the size of the largest block, in bytes.
	MaxBlock = 256 << 10
	// History is how much of the new file before a block literals may look at.
	History = 512 << 10
	// Core is the unit in which a source is read: no view crosses a multiple of it
	// in its file, but for the margins.
	Core = 32 << 10
	// Before and After are the margins of a view.
	Before, After = 8<<10 + 64, 64
)

// ErrCorrupt marks a packet that Encode did not make for this source.
var ErrCorrupt = errors.New("corrupt block of a patch")

// Op copies Copy bytes of the source from address From, which may differ, and adds
// Literal bytes.
type Op struct {
	From          int64
	Copy, Literal int
}

// Source is what copies are made from: files one after the other in one space of
// addresses. What it holds must not change during a block.
type Source interface {
	// Locate returns the place of an address in its file and how many bytes there
	// are from it on, none if nothing lies there.
	Locate(at int64) (place, left int64)
	// View returns the bytes around address at, of which bytes[k] is the one there:
	// of its file all from Before before it to After after n more, which do not
	// cross a multiple of Core. They are the caller's until the next View.
	View(at int64, n int) (bytes []byte, k int, err error)
}

// Model is the adaptive state of both ends.
type Model struct {
	coder  rangecoder.Coder
	flags  *rangecoder.ByteMixer // whether a copied byte differs
	diffs  *rangecoder.ByteMixer // by how much
	wholes *rangecoder.ByteMixer // whether a word is as predicted
	texts  *rangecoder.ByteMixer // literals
	words  *pointers
	jumps  *jumps
	copies *numbers // lengths of copies
	after  *numbers // lengths of literals
	run    runs
	match  matcher
	shape  shapes
	quick  *quick // replaces mixers, matcher and shapes in a fast model; otherwise nil
	less   uint   // see newModel
	saved  *Model // nil until Save

	// The new file up to the end of the block, as far back as history.
	buf     []byte
	history int
	start   int   // of the block
	end     int   // of the block
	p       int   // next byte
	first   int64 // place of buf[0] in the new file
}

// New returns a Model that has learnt nothing. A fast one is fast rather than good.
func New(fast bool) *Model { return newModel(fast, 0) }

// NewSmall returns a Model with small tables, which is made and copied quickly and predicts
// badly. Tests use it for many files of a few bytes.
func NewSmall(fast bool) *Model { return newModel(fast, 10) }

// newModel returns a Model whose tables have 1<<less times fewer counters than usual.
func newModel(fast bool, less uint) *Model {
	if fast {
		return newQuick(less)
	}
	return &Model{
		less:   less,
		flags:  rangecoder.NewByteMixer(flagContexts, 18-less, 256, 255, 2),
		diffs:  rangecoder.NewByteMixer(diffContexts, 19-less, 256, 255, 3),
		wholes: rangecoder.NewByteMixer(wordContexts, 16-less, 128, 255, 2),
		texts:  rangecoder.NewByteMixer(textContexts, 19-less, 4*256, 127, 2),
		words:  newPointers(), jumps: newJumps(), copies: newNumbers(), after: newNumbers(),
		run: newRuns(), match: matcher{seen: make([]uint32, 1<<matchBits)},
		shape: shapes{last: shape{step: 1, row: 64}, same: even, numbers: even, sizes: *newNumbers()},
		buf:   make([]byte, History+MaxBlock), history: History,
	}
}

// Save saves what is learnt so far, and Restore returns to the last Save.
func (m *Model) Save() {
	if m.saved == nil {
		m.saved = newModel(m.quick != nil, m.less)
	}
	m.saved.CopyFrom(m)
}

// Restore returns to the last Save.
func (m *Model) Restore() { m.CopyFrom(m.saved) }

// CopyFrom makes m a copy of o.
func (m *Model) CopyFrom(o *Model) {
	if m.quick != nil {
		m.quick.copyFrom(o.quick)
	} else {
		m.flags.CopyFrom(o.flags)
		m.diffs.CopyFrom(o.diffs)
		m.wholes.CopyFrom(o.wholes)
		m.texts.CopyFrom(o.texts)
		m.match.copyFrom(&o.match)
		m.shape = o.shape
	}
	m.words.copyFrom(o.words)
	m.jumps.copyFrom(o.jumps)
	*m.copies, *m.after = *o.copies, *o.after
	m.run = o.run
	copy(m.buf, o.buf[:o.end]) // bytes beyond are never read
	m.start, m.end, m.p, m.first = o.start, o.end, o.p, o.first
}

// Skip adds n bytes of the new file that were coded in another mode. tail holds the last
// of them: all, or as many as History.
func (m *Model) Skip(n int64, tail []byte) {
	if len(tail) > History {
		tail = tail[len(tail)-History:]
	}
	m.match.length = 0
	if n != int64(len(tail)) { // the bytes between are unknown
		m.first += int64(m.end) + n - int64(len(tail))
		m.end = 0
	}
	for len(tail) > 0 {
		part := tail[:min(len(tail), MaxBlock)]
		m.begin(len(part))
		copy(m.buf[m.start:], part)
		tail = tail[len(part):]
	}
}

// Follow records that a clone ended before address end.
func (m *Model) Follow(end int64) {
	m.run.from = end
	m.jumps.touch(end - m.first - int64(m.end))
}

// begin makes room for a block of n bytes behind the history.
func (m *Model) begin(n int) {
	if drop := m.end - m.history; drop > 0 {
		copy(m.buf, m.buf[drop:m.end])
		m.first += int64(drop)
		m.end = m.history
		m.match.shift(drop)
	}
	m.start, m.p = m.end, m.end
	m.end += n
}

// Encode appends to dst the packet of a block, made by operations that cover it.
func (m *Model) Encode(dst []byte, block []byte, ops []Op, src Source) (packet []byte, err error) {
	m.begin(len(block))
	copy(m.buf[m.start:m.end], block)
	if m.quick == nil {
		m.shape.choose(m.buf[m.start:m.end], ops, src)
	} else if dst, err = m.quick.apart.append(dst, block, ops); err != nil {
		return dst, err
	}
	m.coder.Write(dst)
	if err := m.block(ops, src); err != nil {
		return dst, err
	}
	return m.coder.Finish(), nil
}

// Decode returns the block of n bytes of a packet. It is valid until the next call.
// After an error the Model must not be used again. Errors other than the source's wrap
// ErrCorrupt.
func (m *Model) Decode(packet []byte, n int, src Source) ([]byte, error) {
	if n < 0 || n > MaxBlock {
		return nil, fmt.Errorf("%w: %d bytes; expected at most %d", ErrCorrupt, n, MaxBlock)
	}
	m.begin(n)
	if m.quick != nil {
		var err error
		if packet, err = m.quick.apart.read(packet); err != nil {
			return nil, err
		}
	}
	m.coder.Read(packet)
	if err := m.block(nil, src); err != nil {
		return nil, err
	}
	if err := m.coder.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if m.quick != nil && len(m.quick.apart.bytes) > 0 {
		return nil, errLiterals
	}
	return m.buf[m.start:m.end], nil
}

// block codes a block in either direction.
func (m *Model) block(ops []Op, src Source) error {
	if m.quick == nil && !m.shape.code(&m.coder, m.end-m.start) {
		return fmt.Errorf("%w: a picture of impossible width", ErrCorrupt)
	}
	m.run.reset()
	var last Op
	for i := 0; m.p < m.end; i++ {
		var op Op
		if !m.coder.Reading() {
			op = ops[i]
		}
		if err := m.operation(&op, last); err != nil {
			return err
		}
		if err := m.copied(op, src); err != nil {
			return err
		}
		if err := m.added(op.Literal); err != nil {
			return err
		}
		if err := m.coder.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		last = op
	}
	return nil
}

// added codes the literals of an operation.
func (m *Model) added(n int) error {
	switch {
	case n == 0:
		return nil
	case m.quick == nil:
		for range n {
			m.literal(nil, 0)
		}
	case m.quick.apart.bytes != nil:
		if err := m.storedLiterals(n); err != nil {
			return err
		}
	default:
		for range n {
			m.quickLiteral()
		}
	}
	m.run.reset()
	return nil
}

// operation codes the next operation: the length of its copy, the number of its literals
// unless the block ends, and the address of the copy.
func (m *Model) operation(op *Op, last Op) error {
	c := &m.coder
	left := m.end - m.p
	ctx := min(class(last.Copy), 15) + 16*min(last.Literal, 2)
	copies := m.copies.code(c, int64(op.Copy), ctx)
	if copies > int64(left) {
		return fmt.Errorf("%w: a copy of %d bytes where %d are left", ErrCorrupt, copies, left)
	}
	op.Copy = int(copies)
	left -= op.Copy
	if left > 0 {
		literals := m.after.code(c, int64(op.Literal), min(class(op.Copy), 30))
		if literals > int64(left) {
			return fmt.Errorf("%w: %d literals where %d bytes are left", ErrCorrupt, literals, left)
		}
		op.Literal = int(literals)
	}
	if op.Copy+op.Literal == 0 {
		return fmt.Errorf("%w: an operation that does nothing", ErrCorrupt)
	}
	if op.Copy > 0 {
		op.From = m.jumps.code(c, op.From, m.run.from, m.first+int64(m.p), last.Literal)
		m.run.from = op.From + int64(op.Copy)
	} else {
		op.From = m.run.from
	}
	return nil
}

// copied codes the copy of an operation.
func (m *Model) copied(op Op, src Source) error {
	m.words.reset()
	at, left := op.From, op.Copy
	for left > 0 {
		place, there := src.Locate(at)
		if there < int64(left) {
			return fmt.Errorf("%w: a copy of %d bytes from address %d, where %d are", ErrCorrupt, left, at, there)
		}
		n := min(left, Core-int(place%Core))
		view, k, err := src.View(at, n)
		if err != nil {
			return err
		}
		if m.quick != nil {
			m.quickCopy(view, k, n, left, place)
		} else if m.shape.numeric(m.p - m.start) {
			for i := range n {
				m.literal(view, k+i)
			}
			m.run.reset()
		} else {
			m.differences(view, k, n, left, place)
		}
		if err := m.coder.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		at += int64(n)
		left -= n
	}
	return nil
}
