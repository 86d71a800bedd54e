package lossmodel

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/internal/seed"
	"wirelab/internal/testkit"
)

// A perfect link delivers every packet at once and in order.
func TestPerfectLink(t *testing.T) {
	l := newLink(t, DefaultSpec(), 1)
	for i := range uint64(3) {
		want := Verdict{Due: 5 * ms, Fragments: 1, Wire: 1 + 28}
		if v := l.Send(5*ms, []byte{byte(i)}, i); v != want {
			t.Fatalf("verdict %+v, want %+v", v, want)
		}
	}
	if _, ok := l.Receive(5*ms - 1); ok {
		t.Fatal("a packet arrived before it was sent")
	}
	for i := range uint64(3) {
		d, ok := l.Receive(5 * ms)
		if !ok || d.Tag != i || !bytes.Equal(d.Data, []byte{byte(i)}) || d.Sent != 5*ms || d.Due != 5*ms {
			t.Fatalf("delivery %d: %+v, %v", i, d, ok)
		}
	}
	if _, ok := l.Next(); ok || l.InFlight() != 0 {
		t.Fatal("the link is not empty")
	}
}

// Send copies the data, so the caller may reuse its buffer.
func TestSendCopies(t *testing.T) {
	l := newLink(t, newSpec(t, "latency", "10ms"), 1)
	buf := []byte("first")
	l.Send(0, buf, 0)
	copy(buf, "XXXXX")
	l.Send(1, buf, 1)
	d, _ := l.Receive(10 * ms)
	if string(d.Data) != "first" {
		t.Fatalf("got %q", d.Data)
	}
}

// runScript executes a script of sends, receives and reshapes, and checks with an accountant that
// no packet appears or vanishes, none arrives early or out of order, and data change only in the
// reported number of bits.
func runScript(t *testing.T, number uint64, script []byte) {
	l := newLink(t, allStagesSpec(t), number)
	book := newAccountant(t, l)
	now := time.Duration(0)
	for i, op := range script {
		switch arg := int(op >> 2); op & 3 {
		case 0, 1:
			book.send(now, arg*arg) // up to 3969 bytes: fragments too
		case 2:
			now += time.Duration(arg) * ms
			book.receive(now)
		case 3:
			spec := l.Spec()
			k := stages().keys[arg%len(stages().keys)]
			if spec.Nudge(k.Key, int(seed.Derive(uint64(i), 0)%7)-3) == nil {
				_ = l.ReshapeAt(now, spec) // inconsistent values are refused and change nothing
			}
		}
	}
	book.close()
	book.receive(now + 100*MaxDelay)
	book.close()
}

// Random scripts keep the invariants of runScript.
func TestConservation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for seed := range uint64(200) {
		script := make([]byte, rng.IntN(600))
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		runScript(t, seed, script)
	}
}

// FuzzConservation is TestConservation with scripts by the fuzzer.
func FuzzConservation(f *testing.F) {
	f.Add(uint64(1), []byte("\x00\x10\x20\x30\x40\x50\x60\x70\x80\x90\xa0\xb0\xc0\xd0\xe0\xf0"))
	f.Add(uint64(2), bytes.Repeat([]byte{0x01, 0x51, 0x82, 0x93, 0xf1}, 80))
	f.Fuzz(runScript)
}

// accountant checks the invariants of a link independently of it.
type accountant struct {
	t              *testing.T
	l              *Link
	buf            []byte
	sizes          []int
	sent, copies   int
	lost, received int
	last           time.Duration
}

func newAccountant(t *testing.T, l *Link) *accountant { return &accountant{t: t, l: l} }

// send sends a pseudo-random datagram of size bytes and counts its verdict.
func (b *accountant) send(now time.Duration, size int) {
	n := uint64(len(b.sizes))
	b.buf = pseudoRandomData(b.buf, n, size)
	b.sizes = append(b.sizes, size)
	v := b.l.Send(now, b.buf, n)
	b.sent++
	b.copies += v.Copies
	for _, cause := range append([]Cause{v.Lost}, v.CopyLost[:v.Copies]...) {
		if cause != None {
			b.lost++
		}
	}
	if v.Lost == None && !v.Waiting && v.Due < now {
		b.t.Fatalf("packet %d is due at %v, before its send time %v", n, v.Due, now)
	}
}

// receive receives everything due by now and checks order, times and data.
func (b *accountant) receive(now time.Duration) {
	for {
		d, ok := b.l.Receive(now)
		if !ok {
			return
		}
		if d.Lost != None {
			b.lost++
		} else {
			b.received++
		}
		if d.Due > now || d.Due < d.Sent || d.Due < b.last {
			b.t.Fatalf("packet %d, sent %v, due %v, received at %v after one due at %v", d.Tag, d.Sent, d.Due, now, b.last)
		}
		b.last = d.Due
		b.buf = pseudoRandomData(b.buf, d.Tag, b.sizes[d.Tag])
		if len(d.Data) != len(b.buf) {
			b.t.Fatalf("packet %d has %d bytes, expected %d", d.Tag, len(d.Data), len(b.buf))
		}
		flips := 0
		for i := range d.Data {
			flips += bits.OnesCount8(d.Data[i] ^ b.buf[i])
		}
		if flips != d.Flipped {
			b.t.Fatalf("packet %d: %d bits differ, %d reported as flipped", d.Tag, flips, d.Flipped)
		}
	}
}

// close checks that every packet is accounted for.
func (b *accountant) close() {
	if b.sent+b.copies != b.lost+b.received+b.l.InFlight() {
		b.t.Fatalf("sent %d + copies %d != lost %d + received %d + in flight %d",
			b.sent, b.copies, b.lost, b.received, b.l.InFlight())
	}
	b.l.freeLent()
	if p := b.l.pool; len(p.freeSlots)+b.l.InFlight() != len(p.packets) {
		b.t.Fatalf("%d slots: %d free, %d in flight", len(p.packets), len(p.freeSlots), b.l.InFlight())
	}
}

// A delivery has the number of its flipped bits, and the trail of the packet their positions.
func TestFlippedBits(t *testing.T) {
	l := newLink(t, newSpec(t, "corrupt", "100%", "corrupt_bits", "3"), 1)
	l.RecordTrails()
	l.Send(0, make([]byte, 100), 0)
	d, _ := l.Receive(0)
	for _, bit := range l.Trail(0).Step(stageCorrupt).FlippedBits(100) {
		d.Data[bit/8] ^= 1 << (bit % 8)
	}
	if d.Flipped != 3 || !bytes.Equal(d.Data, make([]byte, 100)) {
		t.Errorf("%d bits are flipped, want 3; %x", d.Flipped, d.Data)
	}
}

// At most all bits of a datagram are flipped, none of an empty one.
func TestCorruptTinyDatagrams(t *testing.T) {
	l := newLink(t, newSpec(t, "corrupt", "100%", "corrupt_bits", "64"), 1)
	for size, want := range []int{0, 8, 16} {
		l.Send(0, make([]byte, size), 0)
		d, _ := l.Receive(0)
		if all := bytes.Repeat([]byte{0xff}, size); d.Flipped != want || !bytes.Equal(d.Data, all) {
			t.Errorf("%d bytes: %d bits flipped, %x; want all %d", size, d.Flipped, d.Data, want)
		}
	}
}

// Send panics if time decreases or a datagram is too large.
func TestSendPanics(t *testing.T) {
	mustPanic := func(want string, f func()) {
		t.Helper()
		defer func() {
			if got, _ := recover().(string); !strings.Contains(got, want) {
				t.Errorf("panic %q, want one about %q", got, want)
			}
		}()
		f()
	}
	l := newLink(t, DefaultSpec(), 1)
	l.Send(2*ms, nil, 0)
	mustPanic("must not decrease", func() { l.Send(1*ms, nil, 0) })
	mustPanic("expected at most 65507", func() { l.Send(2*ms, make([]byte, MaxDatagram+1), 0) })
	if v := l.Send(2*ms, make([]byte, MaxDatagram), 0); v.Lost != None || v.Fragments != 45 {
		t.Errorf("the largest datagram: %+v", v)
	}
}

// A link under a steady load does not allocate.
func TestNoAllocations(t *testing.T) {
	plain, traced := allStagesSpec(t), allFeaturesSpec(t)
	plain.Corrupt.Bits = 8
	testkit.Set(t, &traced, "trace", "capture.csv by=time", "rate_trace", "line.trace", "distribution", "gamma")
	for name, spec := range map[string]Spec{"everything": plain, "fullest": allFeaturesSpec(t), "traced": traced} {
		l := newLink(t, spec, 1)
		step := newStepper(l, 2*ms, 2000)
		for range 100_000 {
			step() // the pool grows to its final size
		}
		if n := testing.AllocsPerRun(50_000, step); n != 0 {
			t.Errorf("%s: %v allocations per packet", name, n)
		}
	}
}

// Every cause has a name.
func TestCauseNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range NumCauses {
		if name := c.String(); seen[name] || name == "" || strings.Contains(name, "(") {
			t.Errorf("cause %d has the name %q", c, name)
		} else {
			seen[name] = true
		}
	}
	if NumCauses > 8 {
		t.Errorf("%d causes, but meters have room for 8", NumCauses)
	}
}
