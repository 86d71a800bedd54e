package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/container"
)

var little = binary.LittleEndian

// post is a datagram in flight.
type post struct {
	at   time.Duration
	data []byte
}

// mail carries datagrams with loss, copies and jitter.
type mail struct {
	rng    *rand.Rand
	loss   float64
	steady bool // no jitter
	flight []post
}

func (m *mail) send(now time.Duration, data []byte) {
	for range 1 + m.rng.IntN(10)/9 {
		if m.rng.Float64() >= m.loss {
			delay := time.Duration(20+m.rng.IntN(20)) * time.Millisecond
			if m.steady {
				delay = 25 * time.Millisecond
			}
			m.flight = append(m.flight, post{now + delay, bytes.Clone(data)})
		}
	}
}

// arrived returns the datagrams that arrive by now.
func (m *mail) arrived(now time.Duration) (list [][]byte) {
	m.flight = slices.DeleteFunc(m.flight, func(p post) bool {
		if p.at <= now {
			list = append(list, p.data)
		}
		return p.at <= now
	})
	return list
}

// beat is the time between two steps. Timeouts are multiples of it at first, so that limits are met exactly.
const beat = 5 * time.Millisecond

// newOutbox returns an outbox. The policy "file" is that of a file.
func newOutbox(t testing.TB, text string, pace int64) *container.Outbox {
	if text == "file" {
		return container.NewFileOutbox(1200, 5, beat)
	}
	p, err := container.Deliveries.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return container.NewOutbox(p, pace)
}

// messageLog compares the messages that arrive with those that were sent.
type messageLog struct {
	rng       *rand.Rand
	sent, got [container.MaxLanes][][]byte
}

// message returns a message to send, with a size from 0 to 5 KB.
func (l *messageLog) message(lane int) []byte {
	b := make([]byte, l.rng.IntN(1+l.rng.IntN(5000)))
	if l.rng.IntN(8) == 0 {
		b = b[:min(len(b), 1000)] // one whole part
	}
	for i := range b {
		b[i] = byte(l.rng.Uint32())
	}
	l.sent[lane] = append(l.sent[lane], b)
	return b
}

func (l *messageLog) deliver(lane int, message []byte) {
	l.got[lane] = append(l.got[lane], bytes.Clone(message))
}

// check checks that all messages have arrived once, unchanged and in order.
func (l *messageLog) check(t *testing.T, name string) {
	for lane, sent := range l.sent {
		if !slices.EqualFunc(l.got[lane], sent, bytes.Equal) {
			t.Errorf("%s: %d of %d messages in lane %d", name, len(l.got[lane]), len(sent), lane)
		}
	}
}

// Every message is delivered on a path that loses, copies and reorders, after 40 s without any ack and after an outage.
// The digests, without a pace and with one, are those of all datagrams, acks, times and counts. In commit f835a720 they
// were equal to those of second implementations of Outbox and Inbox. They change with the rules of a policy.
func TestMessages(t *testing.T) {
	for text, digests := range map[string][2]uint64{
		"all-unacked":       {0xfc400f4b0565df3c, 0x9767c9c0716c6679},
		"resend after=60ms": {0xa2ee1c8eaaf194fd, 0xab499398d7323f66},
		"rto":               {0xaf771fcd862d093e, 0x91bee8be576875c1},
		"rto window=3":      {0x1432b818fca474e0, 0xbc126eadae83a652},
		"file":              {0xdd074a91911bdca5, 0x9fdbe5ba98598260},
	} {
		for seed, want := range digests {
			rng := rand.New(rand.NewPCG(5, uint64(seed)))
			down, up, log := &mail{rng: rng}, &mail{rng: rng}, &messageLog{rng: rng}
			out, lanes := newOutbox(t, text, int64(seed)*60_000), container.MaxLanes
			if text == "file" {
				lanes = 1
			}
			in, digest := container.NewInbox(lanes, log.deliver), fnv.New64a()
			number := uint64(1<<16 - 40) // of the next container; 16 bits of it travel
			send := func(now time.Duration, block []byte) {
				fmt.Fprintf(digest, "%d %x\n", number, block)
				down.send(now, append(little.AppendUint16(nil, uint16(number)), block...))
				number++
			}
			for tick := range 100 * 200 {
				now := time.Duration(tick) * beat
				down.loss = .2
				if seconds := tick / 200; seconds < 40 || seconds >= 60 && seconds < 68 {
					down.loss = 1
				}
				up.loss = down.loss
				for tick < 70*200 && rng.IntN(200) == 0 {
					lane := rng.IntN(lanes)
					out.Write(lane, log.message(lane))
				}
				for _, d := range down.arrived(now) {
					if err := in.AcceptContainer(&container.Opened{Number: little.Uint16(d), Messages: d[2:]}); err != nil {
						t.Fatal(err)
					}
					up.send(now, in.AppendAck(nil))
				}
				for _, a := range up.arrived(now) {
					digest.Write(a)
					if rest, err := out.HandleAck(now, number, lanes, append(a, 7)); err != nil || len(rest) != 1 {
						t.Fatalf("%s: %d bytes left, %v", text, len(rest), err)
					}
				}
				at, ok := out.Next()
				fmt.Fprintln(digest, at, ok)
				if tick%4 == 0 { // a packet
					send(now, out.Fill(now, 4*beat, number))
				}
				for block := out.Datagram(now, number); block != nil; block = out.Datagram(now, number) {
					send(now, block)
					part, sentBefore := out.Newest()
					fmt.Fprintln(digest, part, sentBefore)
				}
			}
			log.check(t, text)
			fmt.Fprintln(digest, out.Stats(), out.Waiting(), out.RoundTrip())
			if got := digest.Sum64(); got != want {
				t.Errorf("%s %d: the digest is %#x, want %#x", text, seed, got, want)
			}
		}
	}
}

// A stream delivers every message over a path whose loss changes, and after an outage. The digests are those of all
// segments, acks, times and counts. In commit 75909cf8 the segments, acks and times were equal to those of a second
// implementation. They change with the rules of TCP here and in package cubic.
func TestStream(t *testing.T) {
	for coalesce, want := range []uint64{0x2d38e616a5e07c4e, 0x814bc36d33b9e3cc} {
		rng := rand.New(rand.NewPCG(6, uint64(coalesce)))
		down, up, log := &mail{rng: rng}, &mail{rng: rng}, &messageLog{rng: rng}
		out := newOutbox(t, "stream", 8_000_000)
		s, r, in := container.NewStreamSender(coalesce == 0), &container.StreamReceiver{}, container.NewInbox(1, log.deliver)
		digest := fnv.New64a()
		for tick := range 120 * 240 {
			now := time.Duration(tick) * interval / 4
			down.loss = []float64{0, .02, .1, 0, 1, .02, 0, .3, .1, 0, 0, 0}[tick/2400]
			up.loss, down.steady = down.loss, tick/1200%2 == 0
			if tick < 90*240 && rng.IntN(300) == 0 {
				for range rng.IntN(100) {
					out.Write(0, log.message(0))
				}
			}
			for s.HasRoom(container.MaxPartUnit) {
				unit := out.Take(now)
				if unit == nil {
					break
				}
				s.Write(container.MessageUnit, unit)
			}
			for _, d := range down.arrived(now) {
				if err := r.Accept(d, func(_ byte, unit []byte) { _ = in.Accept(unit) }); err != nil {
					t.Fatal(err)
				}
				up.send(now, r.AppendAck(nil))
			}
			for _, a := range up.arrived(now) {
				if err := s.HandleAck(now, a); err != nil {
					t.Fatal(err)
				}
				digest.Write(a)
			}
			for segment := s.Segment(now); segment != nil; segment = s.Segment(now) {
				digest.Write(segment)
				down.send(now, segment)
			}
			at, _ := s.Next()
			fmt.Fprintln(digest, at, s.Unsent(), s.Unacked())
		}
		log.check(t, "stream")
		resent, timeouts := s.Resent()
		fmt.Fprintln(digest, out.Stats(), resent, timeouts)
		if got := digest.Sum64(); got != want {
			t.Errorf("coalesce=%d: the digest is %#x, want %#x", coalesce, got, want)
		}
	}
}

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

// The newest container and those before it in acks are those of the second implementation, also after
// outages and with forged numbers: one of these never disables acks.
func TestForgedNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	in, plain := container.NewInbox(0, nil), plainArrivals{}
	for n, i := uint64(1<<16), 0; i < 100_000; i++ {
		n++
		number := n
		switch rng.IntN(8) {
		case 0:
			number -= uint64(rng.IntN(70))
		case 1:
			number += uint64(rng.IntN(1 << 15))
		case 2:
			n += uint64(rng.IntN(70))
		}
		if err := in.AcceptContainer(&container.Opened{Number: uint16(number)}); err != nil {
			t.Fatal(err)
		}
		plain.add(number)
		want := little.AppendUint32(little.AppendUint16(nil, uint16(plain.newest)), plain.mask())
		if ack := in.AppendAck(nil)[2:]; !bytes.Equal(ack, want) {
			t.Fatalf("after container %d the ack is %x, want %x", number, ack, want)
		}
	}
}

// A container whose parts are not accepted is not acked, and the parts before the malformed one are delivered.
func TestMalformedParts(t *testing.T) {
	delivered := 0
	in := container.NewInbox(2, func(int, []byte) { delivered++ })
	number := uint16(0)
	accept := func(part []byte) error {
		before := in.AppendAck(nil)
		number++
		first := []byte{2, 0x80, byte(number - 1), 0, 0, 0} // an empty message in lane 0
		err := in.AcceptContainer(&container.Opened{Number: number, Messages: append(first, part...)})
		if ack := in.AppendAck(nil); bytes.Equal(ack[:8], before[:8]) != (err != nil) || little.Uint16(ack[8:]) != number || delivered < int(number) {
			t.Errorf("container %d: acks %x, then %x; %d messages", number, before, ack, delivered)
		}
		return err
	}
	checkMalformed(t, "part", accept, "+81 0000 0000", "+81 0000 0100 aa", "82 0000 0000", "+81 0010 0000", "81 0110 0000", "81 0080 0000", "+81 0180 0000",
		"81 0100 7905"+fmt.Sprintf("%02802x", 0), "+81 0100 7805"+fmt.Sprintf("%02800x", 0), "81 0200 0100", "81 02", "")
	if delivered != 12+2 || in.Parts() != 12+3 {
		t.Errorf("%d messages were delivered of %d parts, want 14 of 15", delivered, in.Parts())
	}
	part := func(b []byte) error {
		n, part, ok := in.PartIn(b)
		if !ok {
			return container.ErrMalformed
		}
		return in.Accept([]byte{1, 0x80, byte(n), 0, byte(len(part)), 0, part[0]})
	}
	checkMalformed(t, "only part", part, "+01 80 0b00 0100 aa", "02 80 0000 0100 aa", "01 81 0000 0100 aa", "01 80 0000 0200 aa", "01 80 0000 0100 aabb")
}

// Acks with numbers that were never sent are malformed. A part is no longer sent when its container was acked, or when the
// lane has no earlier gap, but only if it was sent.
func TestMalformedAcks(t *testing.T) {
	for _, valid := range []string{"+0000 0100 00000000 0000 0000", "+0000 0000 00000000 0200 0000", "+0100 0100 ffffffff 0900 0900"} {
		out := newOutbox(t, "rto", 0)
		out.Write(0, make([]byte, 2500))
		out.Datagram(0, 0)
		out.Datagram(0, 1)
		ack := func(b []byte) error {
			_, err := out.HandleAck(0, 2, 2, b)
			return err
		}
		checkMalformed(t, "ack", ack, valid, "", "0000 0000 00000000 0000 00", "0200 0000 00000000 0000 0000", "0000 0200 00000000 0000 0000")
		if n := out.Waiting(); n != 1 {
			t.Errorf("%d parts wait after %s, want 1", n, valid)
		}
	}
	s := container.NewStreamSender(false)
	ack := func(b []byte) error { return s.HandleAck(time.Microsecond, b) }
	checkMalformed(t, "early ack", ack, "0000 20 00 0000000000000000 00000000 0000000000000000")
	s.Write(container.MessageUnit, make([]byte, 1440))
	s.Segment(0)
	s.Segment(0)
	checkMalformed(t, "ack of a stream", ack, "", "0000 21 00 0000000000000000 00000000 0000000000000000", "0100 20 00 0000000000000000 00000000 0000000000000000",
		"0000 20 00 a505000000000000 00000000 0000000000000000", "0000 20 00 0000000000000000 00000000 e903000000000000",
		"+0000 20 00 a405000000000000 ffffffff e803000000000000")
	out := newOutbox(t, "rto", 0)
	for i := range 4 {
		if isFull := i == 3; out.Write(0, make([]byte, 1<<20)) == isFull { // of 4096 parts
			t.Errorf("message %d of 1 MB is accepted, or not", i)
		}
	}
	if s = container.NewStreamSender(false); !s.HasRoom(4<<20-4) || s.HasRoom(4<<20-3) {
		t.Error("a stream stores more or less than 4 MB")
	}
}

// Segments without bytes, with too many, or with a changed number, place or time, are malformed. The
// number of segments that wait is bounded, and a segment that ends the wait is accepted.
func TestMalformedSegments(t *testing.T) {
	var r container.StreamReceiver
	segment := func(place uint64, data []byte) []byte {
		b := little.AppendUint64(little.AppendUint64([]byte{0, 0, 1 << 5, 0}, place), 0)
		return append(little.AppendUint32(b, crc32.ChecksumIEEE(append(bytes.Clone(b), data...))), data...)
	}
	check := func(what string, isValid bool, segment []byte) {
		if err := r.Accept(segment, func(byte, []byte) {}); isValid != (err == nil) || err != nil && !errors.Is(err, container.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 24 {
		changed := segment(0, []byte{0})
		changed[i] ^= 1
		check("another header", false, changed)
	}
	check("no bytes", false, segment(0, nil))
	check("too many bytes", false, segment(4<<20, make([]byte, 1449)))
	check("too far", false, segment(4<<20+1, make([]byte, 1448)))
	check("far", true, segment(4<<20, make([]byte, 1448)))
	for i := range uint64(8191) {
		check("one that waits", true, segment(10+i, []byte{0}))
	}
	check("one too many", false, segment(9, []byte{0}))
	check("a unit that is too large", false, segment(0, []byte{1, 0, 0, 1}))
	check("one after a unit that is too large", false, segment(9, []byte{0}))
}

// Any bytes give an error that wraps ErrMalformed, or change nothing but what they describe. Memory stays bounded.
func FuzzDecoders(f *testing.F) {
	for _, text := range []string{"repeat n=2", "xor data=2", "rs data=2 parity=2"} {
		s := newSender(f, text)
		var all []byte // datagrams after their sizes
		for range 4 {
			d := s.Seal(0, interval, make([]byte, 3), nil).Datagram
			all = append(append(all, byte(len(d))), d...)
			for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
				d := s.SealParity().Datagram
				all = append(append(all, byte(len(d))), d...)
			}
		}
		f.Add(all)
	}
	f.Add([]byte("\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, src []byte) {
		check := func(err error) {
			if err != nil && !errors.Is(err, container.ErrMalformed) {
				t.Fatal(err)
			}
		}
		var receiver container.Receiver
		var r container.StreamReceiver
		in, stream := container.NewInbox(2, func(int, []byte) {}), container.NewStreamSender(false)
		out := newOutbox(t, "rto", 0)
		out.Write(0, make([]byte, 3000))
		stream.Write(container.PacketUnit, make([]byte, 3000))
		for number := range uint64(3) {
			out.Datagram(0, number)
			stream.Segment(0)
		}
		for now := time.Duration(1); len(src) > 0; now++ {
			n := min(1+int(src[0]), len(src))
			b := src[1:n]
			opened, err := receiver.Open(b)
			check(err)
			for _, p := range opened.Packets {
				if p.Repair != container.ByParity && len(p.Bytes) > n {
					t.Fatalf("a packet of %d bytes in a datagram of %d", len(p.Bytes), n)
				}
			}
			check(in.Accept(b))
			check(r.Accept(b, func(byte, []byte) {}))
			_, err = out.HandleAck(now, 3, 2, b)
			check(err)
			check(stream.HandleAck(now, b))
			for stream.Segment(now) != nil {
			}
			src = src[n:]
		}
	})
}
