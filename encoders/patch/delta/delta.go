// Package delta codes a block of a new file against a source: the old file and the part of the new
// file before the block. A block is a sequence of operations, see Op: each copies bytes of the source,
// of which some may differ, and adds literal bytes.
//
// A packet is one stream of a binary range coder. For each operation, until the block is complete, it
// holds:
//
//  1. the length of the copy
//  2. the number of literals, unless the copy completes the block
//  3. the address of the copy, unless its length is 0
//  4. the differences between the copy and the block
//  5. the literals
//
// A Model predicts every bit by logistic mixing of many contexts (PAQ). For a word that looks like a
// pointer, the context is how far the target of the pointer has moved; for a copied byte, the bytes
// around it and the distance of the last difference; for literals, contexts of texts, tables and
// pictures. Packets begin with the shapes of the block's parts.
//
// A Model adapts from block to block. One traversal serves both directions. It takes some 9 MB, whatever
// the sizes of the files, and allocates nothing after it is made.
package delta

import (
	"errors"
	"fmt"

	"wirelab/encoders/rangecoder"
)

const (
	// MaxBlock is the size of the largest block, in bytes.
	MaxBlock = 256 << 10
	// History is the number of bytes of the new file before a block that contexts of literals may use.
	History = 512 << 10
	// Core is the unit in which a source is read: apart from its margins, no view crosses a multiple
	// of Core in its file.
	Core = 32 << 10
	// Before and After are the sizes of the margins of a view, in bytes: contexts use the old bytes up to
	// a row before a copied byte (see maxRow), and a few after it.
	Before, After = 8<<10 + 64, 64
)

// ErrCorrupt marks a packet that Encode did not make for this source.
var ErrCorrupt = errors.New("corrupt block of a patch")

// Op is an operation: Copy bytes of the block resemble those of the source from address From on, and
// Literal bytes follow that are coded without the source.
type Op struct {
	From          int64
	Copy, Literal int
}

// Source is what copies are made from: files that follow each other in one address space. Its contents
// must not change while a block is coded.
type Source interface {
	// Locate returns the offset of address at in its file, and the number of bytes from there to the
	// end of that file: 0 if the address is in no file.
	Locate(at int64) (offset, left int64)
	// View returns bytes around address at; bytes[k] is the byte at that address. It contains the next
	// n bytes, which do not cross a multiple of Core in the file, and margins of at least Before and
	// After bytes, unless the file begins or ends there. The slice is valid until the next View.
	View(at int64, n int) (bytes []byte, k int, err error)
}

// Model is the adaptive state of an encoder or a decoder. Both must code the same blocks in the same
// order.
type Model struct {
	coder          rangecoder.Coder
	flagMixer      *rangecoder.ByteMixer // whether a copied byte differs
	diffMixer      *rangecoder.ByteMixer // the difference of a copied byte
	wordMixer      *rangecoder.ByteMixer // whether a word is as predicted
	literalMixer   *rangecoder.ByteMixer // literals
	words          *pointers
	addresses      *addressModel
	copyLengths    *numbers // lengths of copies
	literalLengths *numbers // numbers of literals
	run            runHistory
	match          matcher
	shape          shapes
	shrink         uint   // logarithm of the factor by which tables are smaller than usual
	saved          *Model // the state at the last Save; nil before

	// The new file from bufOffset to the end of the block.
	buf       []byte
	start     int   // start of the block in buf
	end       int   // end of the block in buf
	pos       int   // index in buf of the next byte
	bufOffset int64 // offset of buf[0] in the new file
}

// New returns an untrained Model.
func New() *Model { return newModel(0) }

// NewSmall returns a Model with small tables, which is quick to make and to copy but predicts badly.
// Tests use it for many small files.
func NewSmall() *Model { return newModel(10) }

// newModel returns an untrained Model. Its tables have 1<<shrink times fewer counters than usual.
func newModel(shrink uint) *Model {
	return &Model{
		shrink: shrink,
		// Number of contexts, logarithm of the number of counters, weight sets, limit of the counters,
		// learning rate of the weights.
		flagMixer:    rangecoder.NewByteMixer(flagContexts, 18-shrink, 256, 255, 2),
		diffMixer:    rangecoder.NewByteMixer(diffContexts, 19-shrink, 256, 255, 3),
		wordMixer:    rangecoder.NewByteMixer(wordContexts, 16-shrink, 128, 255, 2),
		literalMixer: rangecoder.NewByteMixer(textContexts, 19-shrink, 4*256, 127, 2),
		words:        newPointers(), addresses: newAddressModel(), copyLengths: newNumbers(), literalLengths: newNumbers(),
		run: newRuns(), match: matcher{lastSeen: make([]uint32, 1<<matchBits)},
		shape: shapes{last: shape{step: 1, row: 64}, sameFlag: evenCounter, numericFlag: evenCounter,
			sizes: *newNumbers()},
		buf: make([]byte, History+MaxBlock),
	}
}

// Save saves the state of the model. Restore returns to it.
func (m *Model) Save() {
	if m.saved == nil {
		m.saved = newModel(m.shrink)
	}
	m.saved.CopyFrom(m)
}

// Restore restores the state of the last Save.
func (m *Model) Restore() { m.CopyFrom(m.saved) }

// CopyFrom makes m a copy of o, a Model of the same size, in the memory of m. The state that Save
// stored is not copied.
func (m *Model) CopyFrom(o *Model) {
	m.flagMixer.CopyFrom(o.flagMixer)
	m.diffMixer.CopyFrom(o.diffMixer)
	m.wordMixer.CopyFrom(o.wordMixer)
	m.literalMixer.CopyFrom(o.literalMixer)
	m.match.copyFrom(&o.match)
	m.shape = o.shape
	m.words.copyFrom(o.words)
	m.addresses.copyFrom(o.addresses)
	*m.copyLengths, *m.literalLengths = *o.copyLengths, *o.literalLengths
	m.run = o.run
	copy(m.buf, o.buf[:o.end]) // bytes after the block are never read
	m.start, m.end, m.pos, m.bufOffset = o.start, o.end, o.pos, o.bufOffset
}

// Skip adds n bytes of the new file that were not coded with the model, so that they can be contexts of later
// blocks. tail holds the last of them: all, or at least History, or none if at least History more are skipped
// before the next block.
func (m *Model) Skip(n int64, tail []byte) {
	if len(tail) > History {
		tail = tail[len(tail)-History:]
	}
	m.match.length = 0
	if n != int64(len(tail)) { // the bytes before tail are unknown: drop the history
		m.bufOffset += int64(m.end) + n - int64(len(tail))
		m.end = 0
	}
	for len(tail) > 0 {
		part := tail[:min(len(tail), MaxBlock)]
		m.beginBlock(len(part))
		copy(m.buf[m.start:], part)
		tail = tail[len(part):]
	}
}

// Follow records that a copy that was not coded with the model (a clone in package patch) ended before
// address end. A copy that continues there then takes few bits. Call it after Skip.
func (m *Model) Follow(end int64) {
	m.run.copyEnd = end
	m.addresses.moveToFront(end - m.bufOffset - int64(m.end))
}

// beginBlock begins a block of n bytes after the bytes in buf, of which it drops all but the last History. The
// caller writes the block to buf[start:end].
func (m *Model) beginBlock(n int) {
	if drop := m.end - History; drop > 0 {
		copy(m.buf, m.buf[drop:m.end])
		m.bufOffset += int64(drop)
		m.end = History
		m.match.shift(drop)
	}
	m.start, m.pos = m.end, m.end
	m.end += n
}

// Encode appends to dst the packet of a block of at most MaxBlock bytes. ops are its operations, which
// cover it exactly.
func (m *Model) Encode(dst []byte, block []byte, ops []Op, src Source) (packet []byte, err error) {
	m.beginBlock(len(block))
	copy(m.buf[m.start:m.end], block)
	m.shape.analyse(m.buf[m.start:m.end], ops, src)
	m.coder.Write(dst)
	if err := m.codeBlock(ops, src); err != nil {
		return dst, err
	}
	return m.coder.Finish(), nil
}

// Decode returns the block of n bytes that packet encodes. The block is valid until the next call. After an
// error the Model must not be used again. Errors other than those of the source wrap ErrCorrupt.
func (m *Model) Decode(packet []byte, n int, src Source) ([]byte, error) {
	if n < 0 || n > MaxBlock {
		return nil, fmt.Errorf("%w: block of %d bytes, expected at most %d", ErrCorrupt, n, MaxBlock)
	}
	m.beginBlock(n)
	m.coder.Read(packet)
	if err := m.codeBlock(nil, src); err != nil {
		return nil, err
	}
	if err := m.coder.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return m.buf[m.start:m.end], nil
}

// codeBlock encodes the block in m.buf, or decodes it. ops are its operations when encoding, and not used
// when decoding.
func (m *Model) codeBlock(ops []Op, src Source) error {
	if !m.shape.code(&m.coder, m.end-m.start) {
		return fmt.Errorf("%w: invalid shape", ErrCorrupt)
	}
	m.run.reset()
	var last Op
	for i := 0; m.pos < m.end; i++ {
		var op Op
		if !m.coder.Reading() {
			op = ops[i]
		}
		if err := m.codeOperation(&op, last); err != nil {
			return err
		}
		if err := m.codeCopy(op, src); err != nil {
			return err
		}
		m.codeLiterals(op.Literal)
		if err := m.coder.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		last = op
	}
	return nil
}

// codeLiterals codes the n literals of an operation. They end the run of copied bytes, so the history of
// differences is reset.
func (m *Model) codeLiterals(n int) {
	if n == 0 {
		return
	}
	for range n {
		m.codeLiteral(nil, 0) // nil: no byte of the old file corresponds to a literal
	}
	m.run.reset()
}

// codeOperation encodes the next operation, or decodes it into op: the length of its copy, the number of
// its literals unless the copy completes the block, and the address of the copy. last is the operation
// before.
func (m *Model) codeOperation(op *Op, last Op) error {
	c := &m.coder
	bytesLeft := m.end - m.pos
	// The context of the length: the size of the last copy, and whether 0, 1 or more literals followed it.
	ctx := min(bitLength(last.Copy), 15) + 16*min(last.Literal, 2)
	copyLength := m.copyLengths.code(c, int64(op.Copy), ctx)
	if copyLength > int64(bytesLeft) {
		return fmt.Errorf("%w: copy of %d bytes, but %d are left in the block", ErrCorrupt, copyLength, bytesLeft)
	}
	op.Copy = int(copyLength)
	bytesLeft -= op.Copy
	if bytesLeft > 0 {
		literalCount := m.literalLengths.code(c, int64(op.Literal), min(bitLength(op.Copy), 30))
		if literalCount > int64(bytesLeft) {
			return fmt.Errorf("%w: %d literals, but %d bytes are left in the block", ErrCorrupt, literalCount, bytesLeft)
		}
		op.Literal = int(literalCount)
	}
	if op.Copy+op.Literal == 0 {
		return fmt.Errorf("%w: operation without copy and literals", ErrCorrupt)
	}
	if op.Copy > 0 {
		op.From = m.addresses.code(c, op.From, m.run.copyEnd, m.bufOffset+int64(m.pos), last.Literal)
		m.run.copyEnd = op.From + int64(op.Copy)
	} else {
		op.From = m.run.copyEnd // the address is not coded, because nothing is copied from there
	}
	return nil
}

// codeCopy codes the differences of an operation's copy, one view of the source after the other. It fails if the
// copy reaches beyond the end of a file of the source.
func (m *Model) codeCopy(op Op, src Source) error {
	m.words.reset()
	address, left := op.From, op.Copy
	for left > 0 {
		offset, leftInFile := src.Locate(address)
		if leftInFile < int64(left) {
			return fmt.Errorf("%w: copy of %d bytes from address %d, but the file has only %d bytes from there on", ErrCorrupt,
				left, address, leftInFile)
		}
		n := min(left, Core-int(offset%Core)) // a view must not cross a multiple of Core
		view, first, err := src.View(address, n)
		if err != nil {
			return err
		}
		if m.shape.numeric(m.pos - m.start) { // most bytes differ: code them as literals
			for i := range n {
				m.codeLiteral(view, first+i) // view[first] is the byte at address
			}
			m.run.reset()
		} else {
			m.codeDifferences(view, first, n, left, offset)
		}
		if err := m.coder.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		address += int64(n)
		left -= n
	}
	return nil
}
