package delta

import "fmt"

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
