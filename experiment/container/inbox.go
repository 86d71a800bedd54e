package container

import "encoding/binary"

// Inbox is the receiving end of messages: it puts parts in order and messages together. Parts may be any bytes. Create it
// with NewInbox.
type Inbox struct {
	lanes   []inLane
	deliver func(lane int, message []byte)

	any    bool // a container has arrived
	newest uint16
	mask   uint32 // bit i is set if container newest-1-i has arrived
	far    uint16 // number after that of the last container that was farther than maxJump from newest
}

// maxJump is the largest distance of a container from the newest that is accepted at once. A single forged number that
// is farther away does not disable acks.
const maxJump = 1024

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

// NewInbox returns the receiving end of the given number of lanes. deliver is called for each message, in the order of
// its lane; the bytes are valid until it returns.
func NewInbox(lanes int, deliver func(lane int, message []byte)) *Inbox {
	return &Inbox{lanes: make([]inLane, lanes), deliver: deliver}
}

// AcceptContainer handles the parts in a container that Receiver.Open returned without an error. Acks name the container
// only if all its parts were accepted.
func (b *Inbox) AcceptContainer(opened *Opened) error {
	if err := b.Accept(opened.Messages); err != nil {
		return err
	}
	b.setArrived(opened.Number)
	return nil
}

// setArrived records the number of a container for acks. Of containers that are farther than maxJump from the newest, the
// second of two with consecutive numbers becomes the newest.
func (b *Inbox) setArrived(number uint16) {
	switch ahead := number - b.newest; {
	case !b.any || min(ahead, -ahead) > maxJump && number == b.far:
		b.any, b.mask, b.newest = true, 0, number
	case min(ahead, -ahead) > maxJump:
		b.far = number + 1
	case ahead == 0:
	case ahead <= 32:
		b.mask = b.mask<<ahead | 1<<(ahead-1)
		b.newest = number
	case ahead <= maxJump:
		b.mask, b.newest = 0, number
	case -ahead <= 32:
		b.mask |= 1 << (-ahead - 1)
	}
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
	if in.failed || lane >= len(b.lanes) || len(bytes) > maxPart {
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
			w.have, w.last, w.bytes = true, head&0x80 != 0, append(w.bytes[:0], bytes...)
		}
		return nil
	}
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

// AppendAck appends an ack: 16 bits of the newest container's number, 32 bits for the containers before it, and 16 bits
// of each lane's first missing part.
func (b *Inbox) AppendAck(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, b.newest)
	dst = binary.LittleEndian.AppendUint32(dst, b.mask)
	for i := range b.lanes {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(b.lanes[i].next))
	}
	return dst
}

// AckSize returns the size of an ack in bytes.
func (b *Inbox) AckSize() int { return 6 + 2*len(b.lanes) }

// messageParts returns the encoded parts of messages at the beginning of in, and skips them.
func messageParts(in *reader) []byte {
	all := in.rest
	for range in.byte() {
		in.bytes(3) // lane and number
		in.bytes(int(in.uint16()))
	}
	if in.failed {
		return nil
	}
	return all[:len(all)-len(in.rest)]
}
