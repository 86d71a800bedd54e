package endpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// assignedSeqs returns the sequence numbers that a receiver with newest number top assigns to the given
// ones, one after the other; 0 for those that it doubts.
func assignedSeqs(top uint64, guard bool, seqs ...uint64) (got []uint64) {
	s := frame.Cubes(1)
	r := NewReceiver(s, s.NewFrame(), nil, Options{History: 10, Cadence: Cadence{TickHz: 60, RateHz: 60}})
	r.Guard(guard)
	r.recordArrival(top)
	for _, seq := range seqs {
		h := header{seq: seq & 0xffff}
		n := r.fullSeq(&h)
		if !r.acceptSeq(&h, n) {
			n = 0
		} else {
			r.recordArrival(n)
		}
		got = append(got, n)
	}
	return got
}

// One sequence number far from the others is doubted; two that confirm each other are accepted,
// also where the 16 bits wrap.
func TestFarSequenceNumbers(t *testing.T) {
	for _, top := range []uint64{300, 40_000, 65_530, 65_536, 1<<33 - 3} {
		for _, c := range []struct {
			what        string
			ahead, want []uint64 // relative to top; 0 means doubted
		}{
			{"packets in order, with gaps", []uint64{1, 2, 5, 65}, []uint64{1, 2, 5, 65}},
			{"an outlier one second and one packet ahead", []uint64{1, 62, 3, 4}, []uint64{1, 0, 3, 4}},
			{"every 100th packet is sent", []uint64{100, 200, 300, 400, 500}, []uint64{0, 200, 300, 400, 500}},
			{"two outliers that agree", []uint64{1, 9000, 9001, 4, 5, 6}, []uint64{1, 0, 9001, 0, 5, 6}},
			{"the same, two minutes ahead", []uint64{1, 2049, 2050, 2051, 5, 6, 7}, []uint64{1, 0, 2050, 2051, 0, 6, 7}},
			{"the same, two seconds ahead", []uint64{1, 130, 131, 4, 5, 6}, []uint64{1, 0, 131, 0, 5, 6}},
			{"one outlier", []uint64{1, 32_770, 3, 4}, []uint64{1, 0, 3, 4}},
			{"outliers between the others", []uint64{1, 20_000, 3, 20_001, 4, 20_002}, []uint64{1, 0, 3, 0, 4, 0}},
			{"a copy of an outlier", []uint64{1, 9000, 9000, 9000, 5}, []uint64{1, 0, 0, 0, 5}},
			{"outliers that do not agree", []uint64{1, 9000, 17_000, 33_000, 5}, []uint64{1, 0, 0, 0, 5}},
			{"ten minutes without a packet", []uint64{1, 36_000, 36_001, 36_002}, []uint64{1, 0, 36_001, 36_002}},
			{"the same at one packet a second", []uint64{60, 36_060, 36_180, 36_240}, []uint64{60, 0, 36_180, 36_240}},
			{"just below the longest outage", []uint64{61_439, 61_438}, []uint64{0, 61_438}},
		} {
			seqs, want := make([]uint64, len(c.ahead)), make([]uint64, len(c.ahead))
			for i := range c.ahead {
				if seqs[i] = top + c.ahead[i]; c.want[i] > 0 {
					want[i] = top + c.want[i]
				}
			}
			if got := assignedSeqs(top, true, seqs...); !slices.Equal(got, want) {
				t.Errorf("at %d, %s: %d was taken for %d, expected %d", top, c.what, seqs, got, want)
			}
		}
	}
	if got := assignedSeqs(100, false, 20_100); got[0] != 20_100 {
		t.Errorf("without a guard 20100 is taken for %d", got[0])
	}
}

// endpointPair is a sender and a receiver with digests whose datagrams may be damaged.
type endpointPair struct {
	*Sender
	rcv   *Receiver
	world *frame.Frame
	now   time.Duration
}

func newEndpointPair(t testing.TB, first uint64) *endpointPair {
	t.Helper()
	s := frame.Cubes(1)
	codec := codecNamed(1, "a")
	run, err := NewEncoding(s, &codec, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{History: 10, DigestBits: 32}
	c := &endpointPair{NewSender(s, s.NewFrame(), run, opt), NewReceiver(s, s.NewFrame(), []encoders.Codec{codec}, opt), s.NewFrame(), 0}
	c.StartAt(first, 0)
	c.rcv.StartAt(first)
	c.rcv.Guard(true)
	return c
}

// exchange sends a packet, damaged by harm, and its ack. right reports whether the receiver decoded
// the sender's frame with its sequence number.
func (c *endpointPair) exchange(t testing.TB, harm func(datagram []byte)) (right bool, p Packet, rx Reception) {
	t.Helper()
	c.now += time.Second / 60
	c.world.Table[0]++
	p, err := c.Send(c.now, c.world, nil)
	if err != nil {
		t.Fatal(err)
	}
	if harm != nil {
		harm(p.Datagram)
	}
	rx = c.rcv.Receive(p.Datagram)
	right = rx.Outcome == Decoded && rx.Seq == p.Seq && rx.Frame.Table[0]&0xff == c.world.Table[0]&0xff
	if err := c.HandleAck(c.rcv.AppendAck(nil)); err != nil && !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	return right, p, rx
}

// A receiver whose sequence number is wrong by a multiple of 65,536 is detected by the digest, any
// other wrong number by the acks. Both recover by the full sequence number in the next packets.
func TestReceiverRecoversSequence(t *testing.T) {
	for _, flip := range []byte{1, 3, 0x80} { // high bits of the sequence number: 16 wraps
		c := newEndpointPair(t, 1<<20)
		for i := range 40 {
			right, p, rx := c.exchange(t, func(d []byte) {
				if i < 5 && hasFullSeq(d) {
					d[5] ^= flip
				}
			})
			if i < 5 && right {
				t.Fatalf("packet %d is right: the test tests nothing", p.Seq)
			}
			if i >= 10 && !right {
				t.Errorf("flip %x: packet %d is %v as %d, %v", flip, p.Seq, rx.Outcome, rx.Seq, rx.Err)
			}
		}
		if c.Restarts() == 0 {
			t.Errorf("flip %x: the sender did not notice", flip)
		}
	}
	for _, off := range []int64{5000, 30_000, -5000, -1 << 17} {
		c := newEndpointPair(t, 1<<20)
		for range 20 {
			c.exchange(t, nil)
		}
		c.rcv.restartAt(uint64(int64(c.rcv.newestSeq) + off)) // set directly, since no short sequence of packets leads there
		wrong := 0
		for range 40 {
			if right, _, _ := c.exchange(t, nil); !right {
				wrong++
			}
		}
		if right, p, rx := c.exchange(t, nil); !right || wrong > 16 {
			t.Errorf("off by %d: %d of 40 packets were wrong or refused; then packet %d is %v as %d, %v", off, wrong, p.Seq, rx.Outcome,
				rx.Seq, rx.Err)
		}
	}
}

// A damaged epoch in the first packet does not make the sender repeat the parameters permanently.
func TestReceiverRecoversEpoch(t *testing.T) {
	for _, flip := range []byte{1, 4, 0x80} {
		c := newEndpointPair(t, 0)
		c.exchange(t, func(d []byte) { d[4] ^= flip })
		for range 10 {
			c.exchange(t, nil)
		}
		if right, p, rx := c.exchange(t, nil); !right || p.Header != headerBytes {
			t.Errorf("flip %x: packet %d is %v, its header takes %d bytes, expected %d", flip, p.Seq, rx.Outcome, p.Header, headerBytes)
		}
	}
}

// hasFullSeq reports whether a datagram with one reference contains the full sequence number.
func hasFullSeq(d []byte) bool { return d[2] == 0 && d[3]&paramsFollow != 0 }

// Only packets with parameters whose baseline is the initial state contain the full sequence
// number, in four additional bytes.
func TestFullSequenceInHeader(t *testing.T) {
	h := header{seq: 0x5678_9abc_1234, hasFullSeq: true, codec: 9, epoch: 3, params: []byte("a"), hasParams: true}
	want := []byte{0x34, 0x12, 0, 9 | 0x80, 3, 0xbc, 0x9a, 0x78, 0x56, 1, 'a'}
	if got := h.append(nil, false); !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
	back, _, err := parseHeader(want, func(uint8) int { return 1 }, true)
	if err != nil || back.seq != h.seq || !back.hasFullSeq || string(back.params) != "a" {
		t.Errorf("got %+v, %v", back, err)
	}
	c := newEndpointPair(t, 1<<40)
	for i, size := range []int{10, 5, 5} {
		if _, p, _ := c.exchange(t, nil); p.Header != size {
			t.Errorf("the header of packet %d takes %d bytes, expected %d", i, p.Header, size)
		}
	}
}

// After any damage to sequence numbers and any losses, receiver and sender agree again.
func FuzzNumbers(f *testing.F) {
	f.Add(uint32(0), []byte{0, 0, 0, 0x80, 0, 0x80, 0, 0})
	f.Add(uint32(1<<16), []byte{0, 0, 0xff, 0xff, 1, 0, 0, 0x20, 0, 0x20})
	f.Add(uint32(65_500), bytes.Repeat([]byte{0, 0x40}, 30))
	f.Add(uint32(5), bytes.Repeat([]byte{0, 0, 2, 0, 0, 0x10}, 30))
	f.Fuzz(func(t *testing.T, first uint32, flips []byte) { checkRecovery(t, uint64(first), flips) })
}

// 200 random histories of damage and outages end with agreement. (The fuzzer tests others.)
func TestSequencesConverge(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var flips []byte
		for range rng.IntN(400) {
			flip := uint16(1) << rng.IntN(16)
			switch rng.IntN(6) {
			case 0:
				flip = uint16(rng.Uint32()) // completely random
			case 1:
				flip = 0xffff
			case 2, 3:
				flip = 0
			}
			flips = binary.LittleEndian.AppendUint16(flips, flip)
		}
		checkRecovery(t, rng.Uint64N(1<<18), flips)
	}
}

// checkRecovery sends packets whose sequence numbers are damaged by flips, two bytes each, and then
// undamaged packets. After twice maxJump packets all must be right.
func checkRecovery(t *testing.T, first uint64, flips []byte) {
	c := newEndpointPair(t, first)
	for ; len(flips) >= 2; flips = flips[2:] {
		flip := binary.LittleEndian.Uint16(flips)
		if flip == 0xffff { // no packet arrives for a while
			for range 1 + first%1000 {
				c.Skip()
			}
			continue
		}
		c.exchange(t, func(d []byte) {
			binary.LittleEndian.PutUint16(d, binary.LittleEndian.Uint16(d)^flip)
			if hasFullSeq(d) && flip>>8&7 == 7 {
				d[5+flip&3] ^= byte(flip) // in the high bits of the sequence number
			}
		})
	}
	for range 2 * maxJump {
		c.exchange(t, nil)
	}
	for range 30 {
		if right, p, rx := c.exchange(t, nil); !right {
			t.Fatalf("from %d on: packet %d is %v as %d, %v", first, p.Seq, rx.Outcome, rx.Seq, rx.Err)
		}
	}
}
