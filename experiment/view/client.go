package view

import (
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/window"
)

// Client is the receiver's side: the display, and what is needed to restore it as it was at the newest
// acks. Create it with NewClient.
type Client struct {
	schema  *frame.Schema
	initial *frame.Frame
	display []int32  // table
	origin  []uint32 // of each row of the display: 1 + its packet, or 0 for the initial state

	states  [MaxStates]state // the state at ack n is at n % MaxStates
	number  uint64           // number of the newest ack; 0 before the first
	next    state            // changes of the display since ack number
	changed frame.Rows       // rows of next
	named   uint64           // newest ack that a packet named

	decoded    window.Recent[uint64] // packets
	newestTick uint32                // of the newest
	memo       heldMemo
	applied    []appliedPacket // with rows, which the server may not know about; the oldest ack first
	ack        []byte          // the newest ack

	reference frame.Frame // restored by Reference
	spares    []spareMemo
}

// state describes the display at an ack: what changed since the ack before it, and the properties of the
// frame as a reference.
type state struct {
	rows   []int32 // that changed since the ack before
	before []int32 // their values before

	tick uint32 // of the newest packet
	memo heldMemo
}

// heldMemo is the memo of the newest packet with rows in a display.
type heldMemo struct {
	memo  encoders.Memo // nil if the codec has none
	epoch uint64        // in which it was made
	from  uint64        // 1 + the packet; 0 if there is none
}

// appliedPacket is a packet with rows, and the first ack that listed it.
type appliedPacket struct{ seq, ack uint64 }

// spareMemo is a memo that a codec of an epoch may overwrite.
type spareMemo struct {
	memo  encoders.Memo
	epoch uint64
}

// NewClient returns a client that shows initial, which it must share with the server. initial must not
// be modified.
func NewClient(s *frame.Schema, initial *frame.Frame) *Client {
	return &Client{schema: s, initial: initial, display: slices.Clone(initial.Table), origin: make([]uint32, s.Rows),
		changed: frame.NewRows(s.Rows), reference: *s.NewFrame()}
}

// Display returns the table that the client shows, valid until the next call of Apply. The caller must
// not modify it.
func (c *Client) Display() []int32 { return c.display }

// InitialTick returns the tick of the frame that the display began with.
func (c *Client) InitialTick() uint32 { return c.initial.Tick }

// Origin returns the packet that row i of the display comes from; ok is false if it is from the initial
// state.
func (c *Client) Origin(i int) (seq uint64, ok bool) {
	return uint64(c.origin[i]) - 1, c.origin[i] != 0
}

// ShowsUnsent reports whether a row of the display comes from a newer packet than the newest that s sent
// with that row.
func (c *Client) ShowsUnsent(s *Server) bool {
	for i, origin := range c.origin {
		if newest, ok := s.newestSent(i); origin > 0 && (!ok || uint64(origin)-1 > newest) {
			return true
		}
	}
	return false
}

// Accepts reports whether packet seq is new enough to be applied. The caller must not pass duplicates.
func (c *Client) Accepts(seq uint64) bool { return !c.decoded.Any || seq+Window >= c.decoded.Newest }

// Reference returns the reference of a packet that names an ack with byte name, and was encoded in the
// given epoch of the encoder. It returns false if the display of that ack is not known. The result is
// valid until the next call. initialTick is the tick of the initial state as a reference.
func (c *Client) Reference(name uint8, epoch uint64, initialTick uint32) (ref encoders.Ref, ok bool) {
	if name == 0 {
		copy(c.reference.Table, c.initial.Table)
		c.reference.Tick = initialTick
		return encoders.Ref{Frame: &c.reference}, true
	}
	n, ok := c.ackOf(name)
	if !ok {
		return ref, false
	}
	copy(c.reference.Table, c.display)
	c.revert(&c.next)
	for later := c.number; later > n; later-- {
		c.revert(&c.states[later%MaxStates])
	}
	s := &c.states[n%MaxStates]
	c.reference.Tick = s.tick
	ref.Frame = &c.reference
	if s.memo.epoch == epoch {
		ref.Memo = s.memo.memo
	}
	return ref, true
}

// ackOf returns the number of the ack that name stands for; ok is false if its display can no longer be
// restored.
func (c *Client) ackOf(name uint8) (n uint64, ok bool) {
	behind := uint64(nameOf(c.number)) - uint64(name)
	if nameOf(c.number) < name {
		behind += 255
	}
	return c.number - behind, behind < min(c.number, MaxStates)
}

// revert undoes the changes of s in the reference.
func (c *Client) revert(s *state) {
	n := len(c.schema.Fields)
	for k, row := range s.rows {
		copy(c.reference.Table[int(row)*n:][:n], s.before[k*n:])
	}
}

// SpareMemo returns a memo that the decoder may overwrite; nil if there is none of this epoch.
func (c *Client) SpareMemo(epoch uint64) encoders.Memo { return takeSpare(&c.spares, epoch) }

// takeSpare removes the newest spare memo and returns it if it is of the given epoch.
func takeSpare(spares *[]spareMemo, epoch uint64) encoders.Memo {
	n := len(*spares)
	if n == 0 {
		return nil
	}
	s := (*spares)[n-1]
	*spares = (*spares)[:n-1]
	if s.epoch != epoch {
		return nil
	}
	return s.memo
}

// Apply updates the display with view frame f, which packet seq contained, and creates an ack, which
// AppendAck appends. The packet must name the ack of the last call of Reference with byte name. memo is
// that of the decoder. Apply returns the number of rows of the packet; ok is false if the packet has
// rows and acks could not list it, because it is too far from other packets. No server sends such a
// packet, and nothing is changed.
func (c *Client) Apply(seq uint64, name uint8, f *frame.Frame, memo encoders.Memo, epoch uint64) (rows int, ok bool) {
	if named, known := c.ackOf(name); known && name != 0 {
		c.named = max(c.named, named)
	}
	c.applied = slices.DeleteFunc(c.applied, func(p appliedPacket) bool { return p.ack <= c.named })
	tooFar := len(c.applied) >= maxSpan || // a forged packet: those of a server differ in seq
		slices.ContainsFunc(c.applied, func(p appliedPacket) bool { return max(seq, p.seq)-min(seq, p.seq) >= maxSpan })
	n := len(c.schema.Fields)
	for i := range c.schema.Rows {
		value := f.Table[i*n : (i+1)*n]
		if slices.Equal(value, c.reference.Table[i*n:(i+1)*n]) {
			continue
		}
		if tooFar {
			return 0, false
		}
		rows++
		if uint32(seq)+1 <= c.origin[i] {
			continue // a newer packet contained the row
		}
		shown := c.display[i*n : (i+1)*n]
		if !c.changed.Has(i) {
			c.changed.Add(i)
			c.next.rows = append(c.next.rows, int32(i))
			c.next.before = append(c.next.before, shown...)
		}
		copy(shown, value)
		c.origin[i] = uint32(seq) + 1
	}
	c.decoded.Add(seq)
	if seq == c.decoded.Newest {
		c.newestTick = f.Tick
	}
	if held := (heldMemo{memo, epoch, seq + 1}); rows > 0 && seq >= c.memo.from {
		if c.states[c.number%MaxStates].memo.from != c.memo.from { // no state needs it
			c.spare(c.memo)
		}
		c.memo = held
	} else {
		c.spare(held)
	}
	if rows > 0 {
		c.applied = append(c.applied, appliedPacket{seq, c.number + 1})
	}
	if c.number+1 < c.named+MaxStates {
		c.newAck()
	}
	return rows, true
}

// spare makes a memo available for SpareMemo, unless there are enough: the decoder of each epoch makes a
// memo of its own, and forged packets may begin any number of epochs.
func (c *Client) spare(m heldMemo) {
	if m.memo != nil && len(c.spares) < MaxStates {
		c.spares = append(c.spares, spareMemo{m.memo, m.epoch})
	}
}

// newAck creates the next ack, whose state is the display. If too many acks are not named yet, Apply
// repeats the newest ack instead, and the changes are added to the state of a later ack.
func (c *Client) newAck() {
	c.number++
	slot := &c.states[c.number%MaxStates]
	if next := &c.states[(c.number+1)%MaxStates]; next.memo.from != slot.memo.from { // next is now the oldest state
		c.spare(slot.memo)
	}
	*slot, c.next = c.next, state{rows: slot.rows[:0], before: slot.before[:0]}
	slot.tick, slot.memo = c.newestTick, c.memo
	c.changed.Clear()
	a := ack{number: uint16(c.number), newest: uint16(c.decoded.Newest), mask: uint16(c.decoded.Mask<<1 | 1)}
	var list [maxListed]byte
	first, last := c.decoded.Newest, uint64(0) // of the packets of the extension
	for _, p := range c.applied {
		if c.decoded.Newest-p.seq >= maskBits {
			first, last = min(first, p.seq), max(last, p.seq)
		}
	}
	if first <= last {
		for _, p := range c.applied {
			if c.decoded.Newest-p.seq >= maskBits {
				list[(last-p.seq)/8] |= 1 << ((last - p.seq) % 8)
			}
		}
		a.gap, a.list = uint16(c.decoded.Newest-last), list[:(last-first)/8+1]
	}
	c.ack = a.append(c.ack[:0])
}

// AppendAck appends the newest ack to dst; nothing before the first packet. epoch is the newest epoch of
// the encoder.
func (c *Client) AppendAck(dst []byte, epoch uint8) []byte {
	if len(c.ack) == 0 {
		return dst
	}
	c.ack[ackBytes-1] = epoch
	return append(dst, c.ack...)
}

// AckNumber returns the number of the newest ack.
func (c *Client) AckNumber() uint64 { return c.number }
