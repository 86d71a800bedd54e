package container_test

import (
	"encoding/binary"
	"slices"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/cubic"
	"wirelab/internal/policy"
)

// Second implementations of Outbox and Inbox, which store everything that ever happened and search it for
// each answer.

var little = binary.LittleEndian

// plainArrivals are numbers that arrived. One that is more than 32 from the newest counts when the next is near it.
type plainArrivals struct {
	known   map[uint64]bool
	newest  uint64
	doubted []uint64
}

func isNear(a, b uint64) bool { return max(a, b)-min(a, b) <= 32 }

func (x *plainArrivals) add(n uint64) {
	switch {
	case len(x.known) == 0:
		x.known = map[uint64]bool{}
	case isNear(n, x.newest):
	case len(x.doubted) == 0 || !isNear(n, x.doubted[0]):
		x.doubted = []uint64{n}
		return
	case n == x.doubted[0]:
		return
	default:
		x.known, x.newest = map[uint64]bool{x.doubted[0]: true}, x.doubted[0]
	}
	x.known[n], x.doubted = true, nil
	x.newest = max(x.newest, n)
}

// mask has bit i set if number newest-1-i has arrived.
func (x *plainArrivals) mask() (mask uint32) {
	for i := range uint64(32) {
		if x.newest > i && x.known[x.newest-1-i] {
			mask |= 1 << i
		}
	}
	return mask
}

// unwrap returns the newest number before next with the given low bits.
func unwrap(low uint16, next uint64) uint64 {
	for next--; uint16(next) != low; next-- {
	}
	return next
}

type plainPart struct {
	encoded         []byte
	isBlock         bool
	containers      []uint64 // that carried it
	sentAt, timeout time.Duration
}

type plainOutbox struct {
	policy               policy.Policy // the zero Policy for a file
	part, window         int
	pace                 int64
	beat, least, first   time.Duration
	paceAt               time.Duration
	lanes                [container.MaxLanes][]*plainPart
	arrived              [container.MaxLanes]int // parts without a gap, by acks
	sentAt               map[uint64]time.Duration
	acked                map[uint64]bool // containers with parts
	rtt                  cubic.RoundTrip
	ackedAt, doubledAt   time.Duration
	doublings, timeouts  int
	newest               int
	newestWasSent, isKCP bool
}

func (x *plainOutbox) write(lane int, message []byte) {
	isBlock := len(message) > x.part
	for last := byte(0); last == 0; {
		n, number := min(len(message), x.part), len(x.lanes[lane])
		if n == len(message) {
			last = 0x80
		}
		encoded := []byte{byte(lane) | last, byte(number), byte(number >> 8), byte(n), byte(n >> 8)}
		x.lanes[lane] = append(x.lanes[lane], &plainPart{encoded: append(encoded, message[:n]...), isBlock: isBlock})
		message = message[n:]
	}
}

// waiting returns the numbers of the parts of a lane that may not have arrived.
func (x *plainOutbox) waiting(lane int) (list []int) {
	for n := x.arrived[lane]; n < len(x.lanes[lane]); n++ {
		if !slices.ContainsFunc(x.lanes[lane][n].containers, func(c uint64) bool { return x.acked[c] }) {
			list = append(list, n)
		}
	}
	return list
}

func (x *plainOutbox) send(now time.Duration, number uint64, p *plainPart) []byte {
	if len(p.containers) == 0 && x.pace > 0 {
		x.paceAt += time.Duration(int64(len(p.encoded)) * 8e9 / x.pace)
	}
	p.containers, p.sentAt, x.sentAt[number] = append(p.containers, number), now, now
	return p.encoded
}

func (x *plainOutbox) fill(now, interval time.Duration, number uint64) (block []byte) {
	if x.window > 0 {
		return nil
	}
	x.paceAt = max(x.paceAt, now-interval)
	isAll := x.policy.Name() == "all-unacked"
	room, blocks, count := 1200, 0, 0
	for lane := range x.lanes {
		for _, n := range x.waiting(lane) {
			p := x.lanes[lane][n]
			isNew := len(p.containers) == 0
			if isNew && now < x.paceAt || isAll && len(p.encoded) > room {
				break
			}
			after := "after"
			if p.isBlock {
				after = "block_after"
			}
			if len(p.encoded) > room || !isAll && p.isBlock && blocks > 0 || !isAll && !isNew && now < p.sentAt+x.policy.Duration(after) {
				continue
			}
			if p.isBlock {
				blocks++
			}
			if !isNew && !isAll {
				x.timeouts++
			}
			room -= len(p.encoded)
			count++
			block = append(block, x.send(now, number, p)...)
		}
	}
	if count == 0 {
		return nil
	}
	return append([]byte{byte(count)}, block...)
}

// wasSkipped reports whether three containers with later parts were acked that left after the part.
func (x *plainOutbox) wasSkipped(lane, n int) bool {
	list := x.lanes[lane]
	skipped := 0
	for _, later := range list[n+1:] {
		for _, c := range later.containers {
			if x.acked[c] && c > list[n].containers[len(list[n].containers)-1] {
				skipped++
			}
		}
	}
	return x.isKCP && skipped >= 3
}

func (x *plainOutbox) timeout() time.Duration {
	d := x.rtt.Timeout(max(x.least, x.rtt.Smoothed()+x.beat), x.first)
	return max(d, min(d<<x.doublings, 10*time.Second))
}

// due returns the part of a lane that is due first.
func (x *plainOutbox) due(lane int) (at time.Duration, number int) {
	waiting := x.waiting(lane)
	at, number = 1<<62, -1
	for i, n := range waiting {
		p := x.lanes[lane][n]
		if x.isKCP && n >= waiting[0]+x.window || !x.isKCP && i >= x.window {
			break
		}
		due := p.sentAt + p.timeout
		switch {
		case len(p.containers) == 0:
			due = x.paceAt
		case x.wasSkipped(lane, n):
			due = 0
		case !x.isKCP:
			due = p.sentAt + x.timeout()
		}
		if due < at {
			at, number = due, n
		}
	}
	return at, number
}

// next returns when the next datagram is due.
func (x *plainOutbox) next() time.Duration {
	first, _ := x.due(0)
	second, _ := x.due(1)
	return min(first, second)
}

func (x *plainOutbox) datagram(now time.Duration, number uint64) []byte {
	for lane := range x.lanes {
		at, n := x.due(lane)
		if at > now {
			continue
		}
		p := x.lanes[lane][n]
		x.newest, x.newestWasSent = n, len(p.containers) > 0
		x.paceAt = max(x.paceAt, now)
		if !x.newestWasSent || x.wasSkipped(lane, n) {
			p.timeout = x.timeout()
		} else {
			x.timeouts++
			p.timeout = min(p.timeout*3/2, 10*time.Second)
			if !x.isKCP && p.sentAt >= x.ackedAt && now >= x.doubledAt+x.timeout() && x.doublings < 6 {
				x.doubledAt = now
				x.doublings++
			}
		}
		return append([]byte{1}, x.send(now, number, p)...)
	}
	return nil
}

func (x *plainOutbox) ack(now time.Duration, next uint64, ack []byte) {
	cause, newest := unwrap(little.Uint16(ack), next), unwrap(little.Uint16(ack[2:]), next)
	if at, carriedParts := x.sentAt[cause]; carriedParts && !x.acked[cause] {
		x.rtt.Add(now - at)
	}
	x.ackedAt, x.doubledAt, x.doublings = now, 0, 0
	x.acked[cause], x.acked[newest] = true, true
	for i := range uint64(32) {
		if little.Uint32(ack[4:])>>i&1 == 1 {
			x.acked[newest-1-i] = true
		}
	}
	for lane := range len(ack)/2 - 4 {
		x.arrived[lane] = max(x.arrived[lane], int(little.Uint16(ack[8+2*lane:])))
	}
}

type plainInbox struct {
	arrivals plainArrivals
	parts    [container.MaxLanes]map[uint16]bool
}

// accept records a container and returns its ack, for the given number of lanes.
func (x *plainInbox) accept(number uint64, block []byte, lanes int) []byte {
	x.arrivals.add(number)
	for in := block[min(1, len(block)):]; len(in) > 0; in = in[5+little.Uint16(in[3:]):] {
		x.parts[in[0]&0x7f][little.Uint16(in[1:])] = true
	}
	ack := little.AppendUint16(little.AppendUint16(nil, uint16(number)), uint16(x.arrivals.newest))
	ack = little.AppendUint32(ack, x.arrivals.mask())
	for lane := range lanes {
		n := uint16(0)
		for x.parts[lane][n] {
			n++
		}
		ack = little.AppendUint16(ack, n)
	}
	return ack
}
