package transfer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const beat = 10 * time.Millisecond

// wire is a link in both directions: the messages in flight, by time of arrival.
type wire struct {
	rng         *rand.Rand
	loss, twice float64
	latency     time.Duration
	jitter      int64
	under       []message
	seq         uint64
	newest      uint64
	mask        uint32
	any         bool
	sent        int
	lie         func(message) message // what becomes of an acknowledgement; nil: nothing
}

// message is a datagram or an acknowledgement.
type message struct {
	at     time.Duration
	ack    bool
	seq    uint64
	says   Ack // of an acknowledgement
	number int // of a block
}

func (w *wire) send(now time.Duration, m message) {
	for copies := 1; copies > 0; copies-- {
		if w.rng.Float64() < w.loss {
			continue
		}
		if w.rng.Float64() < w.twice {
			copies++
		}
		m.at = now + w.latency
		if w.jitter > 0 {
			m.at += time.Duration(w.rng.Int64N(w.jitter))
		}
		w.under = append(w.under, m)
	}
}

// due removes and returns the first message that has arrived.
func (w *wire) due(now time.Duration) (message, bool) {
	first := -1
	for i, m := range w.under {
		if m.at <= now && (first < 0 || m.at < w.under[first].at) {
			first = i
		}
	}
	if first < 0 {
		return message{}, false
	}
	m := w.under[first]
	w.under = slices.Delete(w.under, first, first+1)
	return m, true
}

// note records the arrival of a datagram for later acknowledgements.
func (w *wire) note(seq uint64) {
	switch {
	case !w.any:
		w.newest, w.any = seq, true
	case seq > w.newest:
		shift := seq - w.newest
		w.mask = uint32((uint64(w.mask)<<1 | 1) << (shift - 1))
		if shift > 32 {
			w.mask = 0
		}
		w.newest = seq
	case seq < w.newest && w.newest-seq <= 32:
		w.mask |= 1 << (w.newest - seq - 1)
	}
}

// run runs a transfer in steps of a millisecond until the receiver has the whole
// stream. It returns when that was; ok is false if it takes longer than limit.
func (w *wire) run(t *testing.T, s *Sender, r *Receiver, blocks [][]byte, limit time.Duration) (at time.Duration, ok bool) {
	t.Helper()
	for now := time.Duration(0); now <= limit; now += time.Millisecond {
		for m, ok := w.due(now); ok; m, ok = w.due(now) {
			if m.ack {
				if w.lie != nil {
					m = w.lie(m)
				}
				if err := s.HandleAck(now, m.says); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if fate, err := r.Accept(uint32(m.number), blocks[m.number]); fate == rejected {
				t.Fatal(err)
			}
			w.note(m.seq)
			w.send(now, message{ack: true, says: Ack{m.seq, w.newest, w.mask, r.Contiguous()}})
		}
		if r.Complete() {
			return now, true
		}
		if now%beat != 0 {
			continue
		}
		if n, _, ok := s.Next(now); ok {
			s.Sent(now, w.seq, n)
			w.send(now, message{seq: w.seq, number: n})
			w.seq++
			w.sent++
		}
	}
	return 0, false
}

// cut returns the blocks of a stream: packed bytes with their label.
func cut(packed []byte, size int) (blocks [][]byte) {
	l := Label{Packed: int64(len(packed)), Size: 7, Hash: sha256.Sum256(packed)}
	return slices.Collect(slices.Chunk(append(l.Append(nil), packed...), size))
}

func randomBytes(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 9))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// On a link without loss, a transfer takes the latency and a beat for every block but
// the first. A small window allows one window per round trip.
func TestCleanLink(t *testing.T) {
	blocks := cut(randomBytes(10_000, 1), 100)
	for _, latency := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 300 * time.Millisecond} {
		for _, window := range []int{1, 2, 8, 64, MaxAhead} {
			s, w := NewSender(len(blocks), window, beat), &wire{rng: rand.New(rand.NewPCG(1, 1)), latency: latency}
			at, ok := w.run(t, s, &Receiver{}, blocks, 2*time.Minute)
			round := max((2*latency+beat-1)/beat, 1) // in beats: a block goes out with the answer to the one a window before
			last := time.Duration(len(blocks)-1) * beat
			if time.Duration(window) < round {
				last = (time.Duration((len(blocks)-1)/window)*round + time.Duration((len(blocks)-1)%window)) * beat
			}
			if want := last + latency; !ok || at != want || s.Resent() != 0 {
				t.Errorf("latency %v, window %d: done after %v (%v) with %d resends; expected %v and none", latency, window, at, ok,
					s.Resent(), want)
			}
		}
	}
}

// Over any link that does not lose everything, the stream arrives intact and the
// sender gets all acknowledgements.
func TestAnyLink(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		packed := randomBytes(1+rng.IntN(20_000), seed)
		blocks := cut(packed, MinBlock+rng.IntN(400))
		w := &wire{rng: rng, loss: 0.7 * rng.Float64(), twice: 0.3 * rng.Float64(),
			latency: time.Duration(rng.IntN(200)) * time.Millisecond, jitter: rng.Int64N(int64(300 * time.Millisecond))}
		s, r := NewSender(len(blocks), 1+rng.IntN(200), beat), &Receiver{}
		at, ok := w.run(t, s, r, blocks, time.Hour)
		if !ok || !bytes.Equal(r.Packed(), packed) {
			t.Fatalf("seed %d: %d blocks, loss %.2f: done %v after %v, %d blocks received", seed, len(blocks), w.loss, ok, at, r.Received())
		}
		if l := r.Label(); l.Hash != sha256.Sum256(packed) || l.Size != 7 {
			t.Fatalf("seed %d: the label is %+v", seed, l)
		}
		if least := float64(len(blocks)) / (1 - w.loss); float64(w.sent) > 2*least+40 && w.jitter == 0 {
			t.Errorf("seed %d: %d datagrams for %d blocks at a loss of %.2f", seed, w.sent, len(blocks), w.loss)
		}
	}
}

// A sender without acknowledgements sends its window and then backs off.
func TestBackoffWithoutAcks(t *testing.T) {
	s := NewSender(5000, 64, beat)
	var times []time.Duration
	seq := uint64(0)
	for now := time.Duration(0); now < 60*time.Second; now += beat {
		if n, _, ok := s.Next(now); ok {
			s.Sent(now, seq, n)
			seq++
			if n == 0 {
				times = append(times, now)
			}
		}
	}
	if got := fmt.Sprint(times[:5]); got != "[0s 1s 3s 7s 11s]" {
		t.Errorf("block 0 left at %s", got)
	}
	if want := 64 * len(times); int(seq) > want || s.next != 64 {
		t.Errorf("%d datagrams of %d blocks without acknowledgements; expected at most %d of 64", seq, s.next, want)
	}
}

// A sender allocates nothing after NewSender.
func TestSenderAllocatesNothing(t *testing.T) {
	s, now, seq := NewSender(1<<20, 64, beat), time.Duration(0), uint64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		now += beat
		if n, _, ok := s.Next(now); ok {
			s.Sent(now, seq, n)
			if seq++; seq%5 > 0 {
				_ = s.HandleAck(now, Ack{Answers: seq - 1, Newest: seq - 1, Contiguous: s.base})
			}
		}
	})
	if allocs != 0 || s.Resent() == 0 || s.base == 0 {
		t.Errorf("%g allocations, %d resent, %d acknowledged", allocs, s.Resent(), s.base)
	}
}

// The timer agrees with RFC 6298 in floating point.
func TestTimer(t *testing.T) {
	tm := timer{granularity: beat}
	rng := rand.New(rand.NewPCG(4, 4))
	var srtt, rttvar float64
	for i := range 500 {
		r := 0.05 + 0.2*rng.Float64()
		if i == 0 {
			srtt, rttvar = r, r/2
		} else {
			rttvar = 0.75*rttvar + 0.25*math.Abs(srtt-r)
			srtt = 0.875*srtt + 0.125*r
		}
		tm.addSample(time.Duration(r * 1e9))
		if want := srtt + max(beat.Seconds(), 4*rttvar); math.Abs(tm.timeout().Seconds()-want) > 1e-6 {
			t.Fatalf("after %d round trips: %v, expected %g s", i+1, tm.timeout(), want)
		}
	}
}

// Impossible acknowledgements are rejected. False ones that are possible only cost
// time.
func TestImpossibleAcks(t *testing.T) {
	s := NewSender(4, 4, beat)
	for n := range 3 {
		s.Sent(0, uint64(n), n)
	}
	if err := s.HandleAck(0, Ack{Answers: 2, Newest: 2, Contiguous: 4}); !errors.Is(err, ErrAck) {
		t.Errorf("acknowledgement of four blocks out of three: %v", err)
	}
	s.Sent(0, 3, 3)
	if err := s.HandleAck(0, Ack{Answers: 3, Newest: 3, Mask: 7, Contiguous: 1}); err != nil || s.Done() { // three of which nobody has two
		t.Fatalf("done %v, %v", s.Done(), err)
	}
	if n, again, ok := s.Next(time.Second); n != 1 || !again || !ok {
		t.Errorf("next is %d (%v, %v), expected the first missing block", n, again, ok)
	}
	if err := s.HandleAck(0, Ack{Answers: 1000, Newest: 1000, Mask: 1<<32 - 1, Contiguous: 4}); err != nil || !s.Done() {
		t.Errorf("acknowledgement of datagrams that were not sent: %v, done %v", err, s.Done())
	}
}

// A sender recovers from false acknowledgements of single datagrams. It never goes
// further than MaxAhead beyond the blocks that the receiver reports without a gap.
func TestFalseAcks(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 6))
		packed := randomBytes(60*2*MaxAhead, seed)
		blocks := cut(packed, 60)
		s, r := NewSender(len(blocks), 1+rng.IntN(MaxAhead), beat), &Receiver{}
		w := &wire{rng: rng, loss: 0.3 * rng.Float64(), latency: time.Duration(rng.IntN(100)) * time.Millisecond}
		w.lie = func(m message) message {
			if rng.IntN(10) == 0 {
				m.says.Newest, m.says.Mask = uint64(rng.IntN(w.sent+1)), rng.Uint32()
			}
			return m
		}
		if at, ok := w.run(t, s, r, blocks, time.Hour); !ok || !bytes.Equal(r.Packed(), packed) {
			t.Errorf("seed %d: %d of %d blocks received after %v", seed, r.Received(), len(blocks), at)
		}
	}
}

// A receiver accepts any blocks without a panic, and stores at most the bytes that arrived.
func FuzzAccept(f *testing.F) {
	l := Label{Packed: 1 << 40, Size: 1 << 61}
	f.Add(l.Append(nil), []byte{0, 1, 1, 2, 200, 3}, uint16(40))
	l = Label{Packed: 3}
	f.Add(append(l.Append(nil), 1, 2, 3, 4), []byte{1, 0, 0}, uint16(36))
	f.Fuzz(func(t *testing.T, stream, order []byte, size uint16) {
		r := &Receiver{}
		blocks := slices.Collect(slices.Chunk(stream, max(int(size), 1)))
		came := 0
		for _, n := range order {
			var body []byte
			if int(n) < len(blocks) {
				body = blocks[n]
			}
			fate, err := r.Accept(uint32(n)*7%300, body)
			if (fate == rejected) != (err != nil) || err != nil && !errors.Is(err, errBlock) {
				t.Fatalf("fate %d, %v", fate, err)
			}
			came += len(body)
		}
		held := len(r.stream)
		for _, b := range r.afterGap {
			held += len(b)
		}
		if held > came || len(r.afterGap) > MaxAhead {
			t.Fatalf("%d bytes held of %d that came", held, came)
		}
	})
}
