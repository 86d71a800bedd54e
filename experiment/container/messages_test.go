package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/cubic"
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

// newOutboxes returns an outbox and its second implementation. The policy "file" has one lane.
func newOutboxes(t testing.TB, text string, pace int64) (*container.Outbox, *plainOutbox) {
	plain := &plainOutbox{part: 1000, pace: pace, first: 200 * time.Millisecond, sentAt: map[uint64]time.Duration{}, acked: map[uint64]bool{}}
	if text == "file" {
		plain.part, plain.window, plain.beat, plain.first, plain.pace = 1200, 5, interval/4, time.Second, 0
		return container.NewFileOutbox(plain.part, plain.window, plain.beat), plain
	}
	plain.policy = deliveryOf(t, text)
	if plain.isKCP = plain.policy.Name() == "rto"; plain.isKCP {
		plain.window, plain.least = int(plain.policy.Int("window")), plain.policy.Duration("least")
	}
	return container.NewOutbox(plain.policy, pace), plain
}

// Each datagram, ack, time and count is that of the second implementations, on a path that loses,
// copies and reorders, after 40 s without any ack and after an outage. Every message is delivered once,
// unchanged and in the order of its lane.
func TestMessagesEqualReference(t *testing.T) {
	for _, text := range []string{"all-unacked", "resend after=60ms", "rto", "rto window=3", "file"} {
		for seed, pace := range []int64{0, 60_000} {
			rng := rand.New(rand.NewPCG(5, uint64(seed)))
			down, up := &mail{rng: rng}, &mail{rng: rng}
			var sent, got [container.MaxLanes][][]byte
			out, plainOut := newOutboxes(t, text, pace)
			lanes := container.MaxLanes
			if text == "file" {
				lanes = 1
			}
			in := container.NewInbox(lanes, func(lane int, message []byte) { got[lane] = append(got[lane], bytes.Clone(message)) })
			plainIn := &plainInbox{parts: [container.MaxLanes]map[uint16]bool{{}, {}}}
			number := uint64(1<<16 - 40) // of the next container; 16 bits of it travel
			for tick := range 100 * 240 {
				now := time.Duration(tick) * interval / 4
				down.loss = .2
				if seconds := tick / 240; seconds < 40 || seconds >= 60 && seconds < 68 {
					down.loss = 1
				}
				up.loss = down.loss
				for tick < 70*240 && rng.IntN(200) == 0 {
					lane, message := rng.IntN(lanes), randomMessage(rng)
					if !out.Write(lane, message) {
						t.Fatalf("%s: a message was refused", text)
					}
					plainOut.write(lane, message)
					sent[lane] = append(sent[lane], message)
				}
				for _, d := range down.arrived(now) {
					opened := container.Opened{Number: little.Uint16(d), Messages: d[8:]}
					if err := in.AcceptContainer(&opened); err != nil {
						t.Fatal(err)
					}
					ack := in.AppendAck(nil)
					if want := plainIn.accept(little.Uint64(d), d[8:], lanes); !bytes.Equal(ack, want) {
						t.Fatalf("%s: ack %x, want %x", text, ack, want)
					}
					up.send(now, ack)
				}
				for _, a := range up.arrived(now) {
					if rest, err := out.HandleAck(now, number, lanes, append(a, 7)); err != nil || len(rest) != 1 {
						t.Fatalf("%s: %d bytes left, %v", text, len(rest), err)
					}
					plainOut.ack(now, number, a)
				}
				send := func(b, want []byte) {
					if !bytes.Equal(b, want) {
						t.Fatalf("%s, pace %d: at %v container %d has %x, want %x", text, pace, now, number, b, want)
					}
					down.send(now, append(little.AppendUint64(nil, number), b...))
					number++
				}
				if plainOut.window == 0 {
					if tick%4 == 0 {
						send(out.Fill(now, interval, number), plainOut.fill(now, interval, number))
					}
				} else {
					plainOut.compareTimes(t, out)
					for want := plainOut.datagram(now, number); want != nil; want = plainOut.datagram(now, number) {
						send(out.Datagram(now, number), want)
						if n, sentBefore := out.Newest(); int(n) != plainOut.newest || sentBefore != plainOut.newestWasSent {
							t.Fatalf("%s: part %d was sent (before: %v), want %d, %v", text, n, sentBefore, plainOut.newest, plainOut.newestWasSent)
						}
					}
				}
				if b := out.Datagram(now, number); b != nil {
					t.Fatalf("%s: at %v there is another datagram, %x", text, now, b)
				}
				plainOut.compareCounts(t, out)
			}
			for lane := range sent {
				if !slices.EqualFunc(got[lane], sent[lane], bytes.Equal) {
					t.Errorf("%s, pace %d: %d of %d messages in lane %d", text, pace, len(got[lane]), len(sent[lane]), lane)
				}
			}
		}
	}
}

// compareTimes compares when the next datagram is due.
func (x *plainOutbox) compareTimes(t *testing.T, out *container.Outbox) {
	at, want := time.Duration(1<<62), time.Duration(1<<62)
	for lane := range x.lanes {
		due, _ := x.due(lane)
		want = min(want, due)
	}
	if next, ok := out.Next(); ok {
		at = next
	}
	if at != want || out.Timeout() != x.timeout() {
		t.Fatalf("%v: the next datagram is due at %v, want %v; timeout %v, want %v", x.policy, at, want, out.Timeout(), x.timeout())
	}
}

// compareCounts compares the counts of parts.
func (x *plainOutbox) compareCounts(t *testing.T, out *container.Outbox) {
	n, want := out.Stats(), out.Stats()
	want.Parts, want.Sends, want.Resent, want.Timeouts = 0, 0, 0, int64(x.timeouts)
	for _, list := range x.lanes {
		for _, p := range list {
			want.Parts++
			want.Sends += int64(len(p.containers))
			want.Resent += int64(max(1, len(p.containers)) - 1)
		}
	}
	if n != want {
		t.Fatalf("%v: %+v, want %+v", x.policy, n, want)
	}
}

// Each segment and each ack is that of the second implementation, on a path whose loss changes, and after
// an outage. The stream delivers its units once, unchanged and in order.
func TestStreamEqualsReference(t *testing.T) {
	for seed, keepsUnits := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(6, uint64(seed)))
		down, up := &mail{rng: rng}, &mail{rng: rng}
		s, r := container.NewStreamSender(keepsUnits), &container.StreamReceiver{}
		plain := &plainStream{window: cubic.New(true), timer: 1<<63 - 1}
		have, arrivals := []bool{}, plainArrivals{}
		var sent, got [][]byte
		for tick := range 120 * 240 {
			now := time.Duration(tick) * interval / 4
			down.loss = []float64{0, .02, .1, 0, 1, .02, 0, .3, .1, 0, 0, 0}[tick/2400]
			up.loss = down.loss
			for tick < 90*240 && rng.IntN(30) == 0 {
				unit := randomMessage(rng)
				if !s.Write(container.MessageUnit, unit) {
					break
				}
				sent = append(sent, unit)
				plain.data = append(plain.data, container.MessageUnit, byte(len(unit)), byte(len(unit)>>8), 0)
				plain.data = append(plain.data, unit...)
				if keepsUnits {
					plain.cuts = append(plain.cuts, uint64(len(plain.data)))
				}
			}
			for _, d := range down.arrived(now) {
				if err := r.Accept(d, func(_ byte, unit []byte) { got = append(got, bytes.Clone(unit)) }); err != nil {
					t.Fatal(err)
				}
				arrivals.add(unwrap(little.Uint16(d), uint64(len(plain.segments))))
				have = append(have, make([]bool, len(plain.data)+1-len(have))...)
				for i := range d[24:] {
					have[little.Uint64(d[4:])+uint64(i)] = true
				}
				want := append(little.AppendUint16(nil, uint16(arrivals.newest)), 1<<5, 0)
				want = little.AppendUint64(want, uint64(slices.Index(have, false)))
				want = little.AppendUint64(little.AppendUint32(want, arrivals.mask()), little.Uint64(d[12:]))
				if ack := r.AppendAck(nil); !bytes.Equal(ack, want) {
					t.Fatalf("ack %x, want %x", ack, want)
				}
				up.send(now, want)
			}
			for _, a := range up.arrived(now) {
				if err := s.HandleAck(now, a); err != nil {
					t.Fatal(err)
				}
				plain.ack(now, a)
			}
			for segment := []byte{0}; segment != nil; {
				segment = s.Segment(now)
				if want := plain.segment(now); !bytes.Equal(segment, want) {
					t.Fatalf("segment %d at %v is %x, want %x", len(plain.segments)-1, now, segment, want)
				}
				if segment != nil {
					down.send(now, segment)
				}
			}
			plain.compare(t, s)
		}
		if !slices.EqualFunc(got, sent, bytes.Equal) || s.Unacked() > 0 || plain.timeouts == 0 {
			t.Errorf("%d of %d units, %d bytes are not acked, %d timeouts", len(got), len(sent), s.Unacked(), plain.timeouts)
		}
	}
}

// compare compares times and counts.
func (x *plainStream) compare(t *testing.T, s *container.StreamSender) {
	unsent := len(x.data) - int(x.next)
	for _, r := range x.resend {
		unsent += int(r.to - r.from)
	}
	at, ok := s.Next()
	resent, timeouts := s.Resent()
	if at != x.timer || ok != (x.inFlight() > 0) || s.Unsent() != unsent || s.Unacked() != len(x.data)-int(x.base) ||
		int(resent) != x.resent || int(timeouts) != x.timeouts || s.RoundTrip() != x.rtt.Smoothed() {
		t.Fatalf("timer %v, %v; %d bytes unsent, %d unacked; %d resent, %d timeouts; want %+v", at, ok, s.Unsent(), s.Unacked(), resent, timeouts, x)
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
