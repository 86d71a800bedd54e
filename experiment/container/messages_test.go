package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/policy"
)

// post is a datagram in flight.
type post struct {
	at   time.Duration
	data []byte
}

// mail carries datagrams with loss, copies and jitter.
type mail struct {
	rng    *rand.Rand
	loss   float64
	flight []post
}

func (m *mail) send(now time.Duration, data []byte) {
	for range 1 + m.rng.IntN(10)/9 {
		if m.rng.Float64() >= m.loss {
			m.flight = append(m.flight, post{now + 20*time.Millisecond + time.Duration(m.rng.IntN(20))*time.Millisecond, bytes.Clone(data)})
		}
	}
}

// arrived returns the datagrams that arrive by now.
func (m *mail) arrived(now time.Duration) (list [][]byte) {
	keep := m.flight[:0]
	for _, p := range m.flight {
		if p.at <= now {
			list = append(list, p.data)
		} else {
			keep = append(keep, p)
		}
	}
	m.flight = keep
	return list
}

func deliveryOf(t testing.TB, text string) policy.Policy {
	t.Helper()
	p, err := container.Deliveries.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomMessage returns a message with a size from 0 to 5 KB.
func randomMessage(rng *rand.Rand) []byte {
	b := make([]byte, rng.IntN(1+rng.IntN(5000)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Over a path that loses 20 % in both directions, copies and reorders, every message is delivered once,
// unchanged and in the order of its lane.
func TestMessagesAreDelivered(t *testing.T) {
	for _, text := range []string{"all-unacked", "resend after=60ms", "rto", "rto window=3"} {
		for _, pace := range []int64{0, 400_000} {
			rng := rand.New(rand.NewPCG(5, uint64(len(text))))
			down, up := &mail{rng: rng, loss: .2}, &mail{rng: rng, loss: .2}
			var sent, got [container.MaxLanes][][]byte
			out := container.NewOutbox(deliveryOf(t, text), pace)
			in := container.NewInbox(2, func(lane int, message []byte) { got[lane] = append(got[lane], bytes.Clone(message)) })
			sender, receiver := container.NewSender(), &container.Receiver{}
			for tick := range 60 * 200 {
				now := time.Duration(tick) * interval / 4
				if tick%40 == 0 && tick < 60*80 {
					lane := rng.IntN(2)
					message := randomMessage(rng)
					if !out.Write(lane, message) {
						t.Fatalf("%s: a message was refused", text)
					}
					sent[lane] = append(sent[lane], message)
				}
				for _, d := range down.arrived(now) {
					opened, err := receiver.Open(d)
					if err == nil {
						err = in.AcceptContainer(&opened)
					}
					if err != nil {
						t.Fatal(err)
					}
					up.send(now, in.AppendAck(nil))
				}
				for _, a := range up.arrived(now) {
					if rest, err := out.HandleAck(now, sender.Next(), 2, a); err != nil || len(rest) > 0 {
						t.Fatalf("%s: %d bytes left, %v", text, len(rest), err)
					}
				}
				if tick%4 == 0 {
					down.send(now, sender.Seal(now, interval, []byte("packet"), out.Fill(now, interval, sender.Next())).Datagram)
				}
				for b := out.Datagram(now, sender.Next()); b != nil; b = out.Datagram(now, sender.Next()) {
					down.send(now, sender.SealMessages(b).Datagram)
				}
			}
			for lane := range sent {
				if len(got[lane]) != len(sent[lane]) {
					t.Errorf("%s, pace %d: %d of %d messages in lane %d, %d parts wait", text, pace, len(got[lane]), len(sent[lane]), lane, out.Waiting())
				}
				for i, m := range got[lane] {
					if !bytes.Equal(m, sent[lane][i]) {
						t.Fatalf("%s: message %d of lane %d differs", text, i, lane)
					}
				}
			}
			n := out.Stats()
			timeouts := map[string][2]int64{ // bounds
				"all-unacked": {0, 0}, "resend after=60ms": {n.Resent, n.Resent},
				"rto": {1, n.Resent - 1}, "rto window=3": {n.Resent, n.Resent}, // without three acks of later parts
			}[text]
			if n.Resent == 0 || n.Resent != n.Sends-n.Parts || n.Timeouts < timeouts[0] || n.Timeouts > timeouts[1] {
				t.Errorf("%s: at 20 %% loss %+v, want %d timeouts", text, n, timeouts)
			}
		}
	}
}

// A stream delivers its units once, unchanged and in order, over the same path and after an outage.
func TestStreamDelivers(t *testing.T) {
	for _, keepsUnits := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(6, 6))
		down, up := &mail{rng: rng}, &mail{rng: rng}
		s, r := container.NewStreamSender(keepsUnits), &container.StreamReceiver{}
		var sent, got [][]byte
		for tick := range 60 * 150 {
			now := time.Duration(tick) * interval / 4
			down.loss, up.loss = .1, .1
			if tick/600 == 2 { // 2.5 s without any datagram
				down.loss, up.loss = 1, 1
			}
			if tick%40 == 0 && tick < 60*100 {
				unit := randomMessage(rng)
				if !s.Write(container.MessageUnit, unit) {
					t.Fatal("a unit was refused")
				}
				sent = append(sent, unit)
			}
			for _, d := range down.arrived(now) {
				if err := r.Accept(d, func(_ byte, unit []byte) { got = append(got, bytes.Clone(unit)) }); err != nil {
					t.Fatal(err)
				}
				up.send(now, r.AppendAck(nil))
			}
			for _, a := range up.arrived(now) {
				if err := s.HandleAck(now, a); err != nil {
					t.Fatal(err)
				}
			}
			for b := s.Segment(now); b != nil; b = s.Segment(now) {
				down.send(now, b)
			}
		}
		if len(got) != len(sent) || s.Unacked() > 0 {
			t.Errorf("%d of %d units, %d bytes are not acked", len(got), len(sent), s.Unacked())
		}
		for i := range got {
			if !bytes.Equal(got[i], sent[i]) {
				t.Fatalf("unit %d differs", i)
			}
		}
		if resent, timeouts := s.Resent(); resent == 0 || timeouts == 0 {
			t.Errorf("%d segments resent, %d timeouts", resent, timeouts)
		}
	}
}

// With a pace, parts leave no faster than that, apart from resends.
func TestPace(t *testing.T) {
	out := container.NewOutbox(deliveryOf(t, "rto"), 80_000) // 10 KB/s
	out.Write(0, make([]byte, 20_000))
	sent := 0
	for now := time.Duration(0); now < time.Second; now += time.Millisecond {
		for n, b := uint64(0), out.Datagram(now, 0); b != nil; b = out.Datagram(now, n) {
			n++
			if len(b) > 900 && sent < 20 { // each for the first time: without acks the timeout is 200 ms
				sent++
			}
			if _, err := out.HandleAck(now, n, 1, ackOf(t, uint16(n-1), b)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if sent < 9 || sent > 11 {
		t.Errorf("%d parts of 1000 bytes in a second, want 10", sent)
	}
}

// A file without acks sends its window, then again after timeouts that double, up to 10 s.
func TestFileWithoutAcks(t *testing.T) {
	const window, beat = 10, 10 * time.Millisecond
	out := container.NewFileOutbox(1200, window, beat)
	for range 100 {
		out.Write(0, make([]byte, 1200))
	}
	number := uint64(0)
	for now := time.Duration(0); now < time.Minute; now += beat {
		if out.Datagram(now, number) != nil {
			number++
		}
	}
	// At 0, and after timeouts of 1, 2, 4, 8 and 10 s.
	if n := out.Stats(); n.Sends < 8*window || n.Sends > 10*window || n.Resent != n.Sends-window || out.Timeout() != 10*time.Second {
		t.Errorf("%+v in a minute, then a timeout of %v", n, out.Timeout())
	}
}

// Where parts travel with packets, several small ones share a packet if the pace demands it.
func TestPaceWithPackets(t *testing.T) {
	for _, text := range []string{"all-unacked", "resend"} {
		out := container.NewOutbox(deliveryOf(t, text), 400_000)
		for range 1000 {
			out.Write(0, make([]byte, 200))
		}
		for n := range uint64(60) {
			now := time.Duration(n) * interval
			block := out.Fill(now, interval, n)
			ack := []byte{byte(n), 0, byte(n), 0, 0, 0, 0, 0, 0, 0}
			if _, err := out.HandleAck(now, n+1, 1, ack); err != nil {
				t.Fatal(err)
			}
			if len(block) > 5*205+1 {
				t.Errorf("%s: %d bytes in a packet", text, len(block))
			}
		}
		const want = 400_000 / 8 / 205 // parts of 200 bytes with their headers
		if n := out.Stats().Sends; n < want-5 || n > want+5 {
			t.Errorf("%s: %d parts in a second, want %d", text, n, want)
		}
	}
}

// The timeout of a part grows to 10 s at most.
func TestPartTimeoutIsBounded(t *testing.T) {
	out := container.NewOutbox(deliveryOf(t, "rto"), 0)
	out.Write(0, []byte("message"))
	now := time.Duration(0)
	for n := range uint64(40) {
		if out.Datagram(now, n) == nil {
			t.Fatal("no part is due")
		}
		at, _ := out.Next()
		if at > now+10*time.Second || n > 20 && at < now+10*time.Second {
			t.Errorf("resend %d is due after %v", n, at-now)
		}
		now = at
	}
}

// A forged number, wherever it is and also as the very first, does not disable acks: from the second
// container on, all are acked. So they are after an outage of any length.
func TestForgedNumber(t *testing.T) {
	for _, before := range []uint16{0, 1, 100} { // containers
		for distance := range uint16(0xffff) {
			if distance > 1200 && distance%91 > 0 {
				continue
			}
			in := container.NewInbox(0, nil)
			arrive := func(number uint16) (newest uint16, mask uint32) {
				if err := in.AcceptContainer(&container.Opened{Number: number}); err != nil {
					t.Fatal(err)
				}
				ack := in.AppendAck(nil)
				return binary.LittleEndian.Uint16(ack[2:]), binary.LittleEndian.Uint32(ack[4:])
			}
			for n := range before {
				arrive(n)
			}
			arrive(before + distance)
			arrive(before)
			for n := before + 1; n < before+4; n++ {
				newest, mask := arrive(n)
				if behind := newest - n; behind > 32 || behind > 0 && mask>>(behind-1)&1 == 0 {
					t.Fatalf("container %d is not acked after one %d ahead of %d: newest %d, mask %b", n, distance, before, newest, mask)
				}
			}
			arrive(before + 4 + distance) // an outage
			if newest, _ := arrive(before + 5 + distance); distance < 1<<15 && newest != before+5+distance {
				t.Fatalf("the newest container is %d after an outage of %d", newest, distance)
			}
		}
	}
}

// A container whose parts are not accepted is not acked, and the parts before the malformed one are.
func TestMalformedPartsAreNotAcked(t *testing.T) {
	part := func(lane byte, number uint16, size int) []byte { // the last of a message of size bytes
		b := binary.LittleEndian.AppendUint16([]byte{lane | 0x80}, number)
		return append(binary.LittleEndian.AppendUint16(b, uint16(size)), make([]byte, size)...)
	}
	delivered := 0
	in := container.NewInbox(2, func(int, []byte) { delivered++ })
	for i, c := range []struct {
		parts     []byte // after a part that is accepted
		malformed bool
	}{
		{part(1, 0, 3), false},
		{part(2, 0, 3), true},                   // no such lane
		{part(1, 4097, 3), true},                // too far after the first that is missing
		{part(1, 1, container.MaxPart+1), true}, // too large
		{part(1, 1, 3)[:6], true},               // ends too early
		{part(1, 1, 3), false},                  // the missing part, after all
		{[]byte{0x80, 0, 0, 255, 255}, true},    // a length without bytes
	} {
		first := part(0, uint16(i), 1)
		opened := container.Opened{Number: uint16(i), Messages: append(append([]byte{2}, first...), c.parts...)}
		before := in.AppendAck(nil)
		err := in.AcceptContainer(&opened)
		ack := in.AppendAck(nil)
		if errors.Is(err, container.ErrMalformed) != c.malformed || bytes.Equal(ack[:8], before[:8]) != (c.malformed || i == 0) {
			t.Errorf("container %d: %v; acks %x, then %x", i, err, before, ack)
		}
		if n := binary.LittleEndian.Uint16(ack[8:]); int(n) != i+1 {
			t.Errorf("container %d: the first missing part of lane 0 is %d", i, n)
		}
	}
	if delivered != 7+2 {
		t.Errorf("%d messages were delivered, want 9", delivered)
	}
}

// Segments without bytes, with too many, or with a changed number, place or time, are malformed. The
// number of segments that wait is bounded, and a segment that ends the wait is accepted.
func TestStreamRefusesSegments(t *testing.T) {
	s := container.NewStreamSender(false)
	s.Write(container.MessageUnit, make([]byte, 6000))
	var r container.StreamReceiver
	first, second := bytes.Clone(s.Segment(0)), bytes.Clone(s.Segment(0))
	for i := range 24 {
		forged := bytes.Clone(second)
		forged[i] ^= 1
		if err := r.Accept(forged, nil); !errors.Is(err, container.ErrMalformed) {
			t.Errorf("byte %d is changed: %v", i, err)
		}
	}
	if err := r.Accept(segmentAt(0, nil), nil); !errors.Is(err, container.ErrMalformed) {
		t.Errorf("a segment without bytes: %v", err)
	}
	if err := r.Accept(segmentAt(0, make([]byte, 1449)), nil); !errors.Is(err, container.ErrMalformed) {
		t.Errorf("a segment that is too large: %v", err)
	}
	var err error
	waiting := 0
	for ; err == nil && waiting < 1e6; waiting++ {
		err = r.Accept(segmentAt(uint64(2000+2*waiting), []byte{0}), nil)
	}
	if waiting > 10_000 {
		t.Errorf("%d segments wait", waiting)
	}
	if err := r.Accept(first, nil); err != nil {
		t.Error(err)
	}
}

// segmentAt returns segment 0 of a stream with the given bytes at a place.
func segmentAt(place uint64, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{0, 0, 1 << 5, 0}, place)
	b = binary.LittleEndian.AppendUint64(b, 0)
	return append(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(append(bytes.Clone(b), data...))), data...)
}

// A timeout that was spurious is undone entirely, also of a segment whose begin was acked meanwhile.
func TestSpuriousTimeout(t *testing.T) {
	s := container.NewStreamSender(false)
	s.Write(container.MessageUnit, make([]byte, 4*1448-4))
	for s.Segment(0) != nil {
	}
	ack := func(now time.Duration, number uint16, place uint64) {
		b := append(binary.LittleEndian.AppendUint16(nil, number), 1<<5, 0)
		b = append(binary.LittleEndian.AppendUint64(b, place), make([]byte, 12)...)
		if err := s.HandleAck(now, b); err != nil {
			t.Fatal(err)
		}
	}
	ack(50*time.Millisecond, 0, 1448)
	if s.Segment(5*time.Second) == nil { // segments 1 to 3 time out, and 1 is sent again as 4
		t.Fatal("nothing is sent again")
	}
	ack(5*time.Second, 0, 1448+1448+500) // an old ack that was damaged: segment 1 and part of 2 have arrived
	ack(5*time.Second, 2, 1448+1448+500)
	if n := s.Unsent(); n != 0 {
		t.Errorf("%d bytes are sent again", n)
	}
}

// ackOf returns the ack of the container with the given number, whose parts are block.
func ackOf(t testing.TB, number uint16, block []byte) []byte {
	t.Helper()
	ack := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, number), number)
	ack = append(ack, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint16(ack, binary.LittleEndian.Uint16(block[2:])+1)
}

// Any bytes give an error that wraps ErrMalformed, or change nothing but what they describe; memory
// stays bounded.
func FuzzMessages(f *testing.F) {
	s := container.NewStreamSender(false)
	s.Write(container.MessageUnit, []byte("message"))
	f.Add(append([]byte{30, 0}, s.Segment(0)...))
	out := container.NewOutbox(deliveryOf(f, "rto"), 0)
	out.Write(0, []byte("message"))
	block := out.Datagram(0, 0)
	f.Add(append([]byte{byte(len(block)), 0}, block...))
	f.Add([]byte{10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, src []byte) {
		check := func(err error) {
			if err != nil && !errors.Is(err, container.ErrMalformed) {
				t.Fatal(err)
			}
		}
		in := container.NewInbox(2, func(int, []byte) {})
		var r container.StreamReceiver
		out := container.NewOutbox(deliveryOf(t, "rto"), 0)
		out.Write(0, make([]byte, 3000))
		stream := container.NewStreamSender(false)
		stream.Write(container.PacketUnit, make([]byte, 3000))
		for number := range uint64(3) {
			out.Datagram(0, number)
			stream.Segment(0)
		}
		for now := time.Duration(1); len(src) >= 2; now++ {
			n := min(int(binary.LittleEndian.Uint16(src)), len(src)-2)
			b := src[2 : 2+n]
			check(in.Accept(b))
			check(r.Accept(b, func(byte, []byte) {}))
			_, err := out.HandleAck(now, 3, 2, b)
			check(err)
			check(stream.HandleAck(now, b))
			for stream.Segment(now) != nil {
			}
			src = src[2+n:]
		}
	})
}
