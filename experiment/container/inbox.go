package container

import (
	"encoding/binary"

	"wirelab/internal/window"
)

// Inbox is the receiving end of messages: it puts parts in order and messages together. Parts may be any
// bytes. Create it with NewInbox.
type Inbox struct {
	lanes   []inLane
	deliver func(lane int, message []byte)
	cause   uint16   // number of the container that was accepted last
	arrived arrivals // containers
	parts   int      // that have arrived, each once
}

// arrivals record which numbers of 16 bits have arrived: the newest, and those up to nearReach before
// it. A number that is farther from the newest is doubted, and counts when the next number is near it.
// So one forged number does not move the newest.
type arrivals struct{ known, doubted numbers }

type numbers = window.Recent[uint64]

// nearReach is the distance up to which numbers are near each other: that of the oldest one in an ack.
const nearReach = 32

// firstNumber returns a window of one number. It is far above 0, so that numbers before it are not negative.
func firstNumber(number uint16) numbers {
	return numbers{Newest: 1<<32 | uint64(number), Any: true}
}

// addNear adds a number near the newest. It returns false for any other.
func addNear(n *numbers, number uint16) bool {
	full := n.Newest + uint64(int16(number-uint16(n.Newest)))
	isNear := n.Any && max(full, n.Newest)-min(full, n.Newest) <= nearReach
	if isNear {
		n.Add(full)
	}
	return isNear
}

// add records that a number has arrived. It returns false if the number is doubted.
func (a *arrivals) add(number uint16) bool {
	switch {
	case !a.known.Any:
		a.known = firstNumber(number)
	case addNear(&a.known, number):
		a.doubted.Any = false
	case !addNear(&a.doubted, number):
		a.doubted = firstNumber(number)
		return false
	case a.doubted.Mask == 0: // the same number again
		return false
	default:
		*a = arrivals{known: a.doubted}
	}
	return true
}

// inLane is a lane of an Inbox.
type inLane struct {
	next    uint64   // number of the first part that is missing
	waiting []inPart // after a missing part: part n is at n % maxQueued; nil until one waits
	message []byte   // parts of the incomplete message
}

// inPart is a part that waits for one before it.
type inPart struct {
	have, last bool
	bytes      []byte
}

// NewInbox returns the receiving end of the given number of lanes. deliver is called for each message,
// in the order of its lane; the bytes are valid until it returns.
func NewInbox(lanes int, deliver func(lane int, message []byte)) *Inbox {
	return &Inbox{lanes: make([]inLane, lanes), deliver: deliver}
}

// AcceptContainer handles the parts in a container that Receiver.Open returned without an error. Acks
// name the container only if all its parts were accepted.
func (b *Inbox) AcceptContainer(opened *Opened) error {
	if err := b.Accept(opened.Messages); err != nil {
		return err
	}
	b.cause = opened.Number
	b.arrived.add(opened.Number)
	return nil
}

// Accept handles the parts of messages in a unit of a stream, or in a container (Opened.Messages).
func (b *Inbox) Accept(parts []byte) error {
	if len(parts) == 0 {
		return nil
	}
	in := reader{rest: parts}
	for range in.byte() {
		if err := b.acceptPart(&in); err != nil {
			return err
		}
	}
	return nil
}

// acceptPart reads a part and delivers the messages that it completes.
func (b *Inbox) acceptPart(in *reader) error {
	head, number := in.byte(), in.uint16()
	bytes := in.bytes(int(in.uint16()))
	lane := head &^ 0x80
	if in.failed || lane >= len(b.lanes) || len(bytes) > MaxPart {
		return malformed("a part of %d bytes in lane %d", len(bytes), lane)
	}
	l := &b.lanes[lane]
	switch ahead := number - uint16(l.next); {
	case ahead >= 1<<15:
		return nil // arrived before
	case ahead >= maxQueued:
		return malformed("part %d is %d after the first that is missing", number, ahead)
	case ahead > 0:
		if l.waiting == nil {
			l.waiting = make([]inPart, maxQueued)
		}
		if w := &l.waiting[(l.next+uint64(ahead))%maxQueued]; !w.have {
			b.parts++
			w.have, w.last, w.bytes = true, head&0x80 != 0, append(w.bytes[:0], bytes...)
		}
		return nil
	}
	b.parts++
	err := b.append(lane, head&0x80 != 0, bytes)
	for l.waiting != nil && err == nil {
		w := &l.waiting[l.next%maxQueued]
		if !w.have {
			break
		}
		w.have = false
		err = b.append(lane, w.last, w.bytes)
	}
	return err
}

// append adds the next part of a lane to its message.
func (b *Inbox) append(lane int, last bool, bytes []byte) error {
	l := &b.lanes[lane]
	l.next++
	l.message = append(l.message, bytes...)
	if len(l.message) > MaxMessage {
		l.message = l.message[:0]
		return malformed("a message of more than %d bytes", MaxMessage)
	}
	if last {
		b.deliver(lane, l.message)
		l.message = l.message[:0]
	}
	return nil
}

// Parts returns how many parts have arrived, also those that wait for earlier ones. Each counts once.
func (b *Inbox) Parts() int { return b.parts }

// PartIn returns the bytes of the only part in a datagram of lane 0, and its number in the lane, which
// is near the first missing one; ok is false if they are malformed.
func (b *Inbox) PartIn(parts []byte) (number uint64, bytes []byte, ok bool) {
	in := reader{rest: parts}
	count, lane := in.byte(), in.byte()&^0x80
	next := b.lanes[0].next
	number = next + uint64(int16(in.uint16()-uint16(next)))
	bytes = in.bytes(int(in.uint16()))
	return number, bytes, count == 1 && lane == 0 && !in.failed && len(in.rest) == 0
}

// AppendAck appends an ack: 16 bits of the number of the container that caused it, 16 bits of the newest
// container's number, 32 bits for the containers before the newest, and 16 bits of each lane's first
// missing part. The round trip is measured on the container that caused the ack: with reordering, the
// newest one would prefer the fastest.
func (b *Inbox) AppendAck(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, b.cause)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(b.arrived.known.Newest))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.arrived.known.Mask))
	for i := range b.lanes {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(b.lanes[i].next))
	}
	return dst
}

// AckSize returns the size of an ack in bytes.
func (b *Inbox) AckSize() int { return 8 + 2*len(b.lanes) }
