package channel

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// villain sits between a dialer and its listener, and lets all through. He keeps what
// passes, and can send as either end; also from an address of his own.
type villain struct {
	t      testing.TB
	front  *net.UDPConn // to which the dialer talks
	back   *net.UDPConn // from which the listener hears
	own    *net.UDPConn
	listen netip.AddrPort

	mu     sync.Mutex
	dialer netip.AddrPort
	passed [2][][]byte // to the listener, to the dialer
	count  [2]uint64
}

func between(t testing.TB, l *Listener) *villain {
	t.Helper()
	v := &villain{t: t, listen: l.Addr()}
	for _, c := range []**net.UDPConn{&v.front, &v.back, &v.own} {
		var err error
		if *c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback())); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*c).Close() })
	}
	go v.pass(v.front, 0, func(b []byte, from netip.AddrPort) { v.dialer = from; _, _ = v.back.WriteToUDPAddrPort(b, v.listen) })
	go v.pass(v.back, 1, func(b []byte, _ netip.AddrPort) { _, _ = v.front.WriteToUDPAddrPort(b, v.dialer) })
	return v
}

func (v *villain) pass(c *net.UDPConn, way int, on func([]byte, netip.AddrPort)) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		v.mu.Lock()
		v.count[way]++
		if v.passed[way] = append(v.passed[way], slices.Clone(buf[:n])); len(v.passed[way]) > 64 {
			v.passed[way] = v.passed[way][1:]
		}
		on(buf[:n], from)
		v.mu.Unlock()
	}
}

// attack sends each end something hostile: random, replayed, cut, changed, extended, sent
// back, or right but from elsewhere. It returns how many each end was sent.
func (v *villain) attack(rng *rand.Rand, to int) (sent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pick := func(way int) []byte {
		all := v.passed[way]
		for range 100 {
			if b := all[rng.IntN(len(all))]; b[0] == head(kindData) {
				return slices.Clone(b)
			}
		}
		return nil
	}
	b := pick(to)
	if b == nil {
		return false
	}
	switch kind := rng.IntN(9); kind {
	case 0: // as it is: came before
	case 1:
		b = b[:rng.IntN(len(b))]
	case 2:
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	case 3:
		if b = pick(1 - to); b == nil { // what it sent itself
			return false
		}
	case 4:
		b = append(b, byte(rng.IntN(256)))
	case 5, 6:
		b = make([]byte, rng.IntN(1500))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		if kind == 6 && len(b) > 0 {
			b[0] = head(uint8(rng.IntN(7)))
		}
	case 7: // the next number, under no key
		binary.BigEndian.PutUint32(b[5:], binary.BigEndian.Uint32(b[5:])+1+rng.Uint32N(1<<20))
	case 8: // right, but from elsewhere
		if to == 0 {
			_, _ = v.own.WriteToUDPAddrPort(b, v.listen)
			return true
		}
	}
	if to == 0 {
		_, _ = v.back.WriteToUDPAddrPort(b, v.listen)
	} else {
		_, _ = v.front.WriteToUDPAddrPort(b, v.dialer)
	}
	return true
}

// While a villain throws all he has at both ends, each datagram of a session arrives once
// and as it was. All else is in the books, and nowhere else.
func TestSessionUnderAttack(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	rng := rand.New(rand.NewPCG(3, 4))
	l := listen(t, Options{MaxSessions: 1})
	v := between(t, l)
	here, there := dialed(t, l, v.front.LocalAddr().(*net.UDPAddr).AddrPort(), 1)
	books := func(to int) (b Books) {
		if to == 0 {
			return l.Books()
		}
		return here.Books()
	}
	var thrown [2]uint64
	buf, heap := make([]byte, MaxPayload), uint64(0)
	for round := range rounds {
		for to, ends := range [][2]*Session{{here, there}, {there, here}} {
			payload := bytes.Repeat([]byte{byte(round), byte(to)}, 1+rng.IntN(500))
			if err := ends[0].Send(3, payload); err != nil {
				t.Fatal(err)
			}
			for range 30 {
				if v.attack(rng, to) {
					thrown[to]++
				}
			}
			d, err := ends[1].Receive(within(t), buf)
			if err != nil || d.Stream != 3 || !bytes.Equal(d.Data, payload) {
				t.Fatalf("round %d: %v, stream %d, %d bytes for %d", round, err, d.Stream, len(d.Data), len(payload))
			}
			until(t, "all that was thrown", func() bool {
				v.mu.Lock()
				defer v.mu.Unlock()
				return books(to).In == v.count[to]+thrown[to]
			})
		}
		if round == rounds/2 {
			heap = heapInUse()
		}
	}
	for to, s := range []*Session{there, here} {
		b := books(to)
		if b.Dropped() != thrown[to] || !b.Balanced() || b.Delivered != uint64(rounds) {
			t.Errorf("end %d: %d thrown; %+v", to, thrown[to], b)
		}
		for _, c := range []cause{malformed, protocolVersion, stranger, Forged, Replayed} {
			if b.By[c] == 0 {
				t.Errorf("end %d: none was %s", to, c)
			}
		}
		if d, ok := s.Poll(buf); ok || s.Err() != nil {
			t.Errorf("end %d: %v, and another datagram %v", to, s.Err(), d)
		}
	}
	if now := heapInUse(); now > heap+1<<20 {
		t.Errorf("%d bytes in use at half time, %d at the end", heap, now)
	}
	t.Logf("%v thrown; listener %v, dialer %v", thrown, books(0).By, books(1).By)
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Nobody reads: what exceeds the buffer is dropped and counted, and the session goes on.
func TestOverrun(t *testing.T) {
	l, p := offline(t, Options{Buffer: 1 << 17})
	here, there, out := handshakeWith(t, l, p, 0)
	payload := make([]byte, 10_000)
	for i := range 100 {
		payload[0] = byte(i)
		_ = here.Send(1, payload)
		there.take(out.last(), 0)
	}
	kept := 0
	for d, ok := there.Poll(nil); ok; d, ok = there.Poll(nil) {
		if len(d.Data) != len(payload) || d.Data[0] != byte(kept) {
			t.Fatalf("%d bytes, number %d instead of %d", len(d.Data), d.Data[0], kept)
		}
		kept++
	}
	if b := there.Books(); kept != 13 || b.By[overrun] != 100-13 || !b.Balanced() {
		t.Errorf("%d kept of 100, %+v", kept, b)
	}
	_ = here.Send(1, []byte("on"))
	there.take(out.last(), 0)
	if d, ok := there.Poll(nil); !ok || string(d.Data) != "on" {
		t.Error("the session does not go on")
	}
}

// Who measures duplication gets what comes again, marked.
func TestRepeats(t *testing.T) {
	l, p := offline(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	_ = here.Send(1, []byte("x"))
	b := out.last()
	for i, on := range []bool{false, false, true, true} {
		there.Repeats(on)
		there.take(slices.Clone(b), 0)
		d, ok := there.Poll(nil)
		if want := i != 1; ok != want || ok && d.Again != (i > 0) {
			t.Errorf("time %d, asked for %v: came %v, again %v", i, on, ok, d.Again)
		}
	}
}

// A datagram costs no allocation, on either way.
func TestNoAllocations(t *testing.T) {
	l, p := offline(t, Options{})
	here, there, _ := handshakeWith(t, l, p, 0)
	wire, n := make([]byte, 2000), 0
	here.write = func(b []byte) error { n = copy(wire, b); return nil }
	payload, buf := make([]byte, 1200), make([]byte, MaxPayload)
	if got := testing.AllocsPerRun(1000, func() {
		_ = here.Send(1, payload)
		l.take(wire[:n], home, 0)
		if d, ok := there.Poll(buf); !ok || len(d.Data) != len(payload) {
			t.Fatal("it did not come")
		}
		<-there.Ready()
		l.take(wire[:n], home, 0) // in place it has become something else: forged
		l.take(wire[:5], home, 0)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkDatagram(b *testing.B) {
	l, p := offline(b, Options{})
	here, there, _ := handshakeWith(b, l, p, 0)
	wire, n := make([]byte, 2000), 0
	here.write = func(b []byte) error { n = copy(wire, b); return nil }
	payload, buf := make([]byte, 1200), make([]byte, MaxPayload)
	b.ReportAllocs()
	for b.Loop() {
		_ = here.Send(1, payload)
		l.take(wire[:n], home, 0)
		there.Poll(buf)
	}
}

// BenchmarkFlood is what a datagram of a stranger costs.
func BenchmarkFlood(b *testing.B) {
	l, p := offline(b, Options{})
	_, first := dialing(b)
	forged := slices.Clone(first)
	forged[9]++
	for name, data := range map[string][]byte{"hello": first, "forged": forged} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.take(data, home, 0)
				p.sent, p.to = p.sent[:0], p.to[:0]
			}
		})
	}
}

// BenchmarkSocket is a datagram from one socket to another, and what its reading allocates.
func BenchmarkSocket(b *testing.B) {
	l := listen(b, Options{})
	here, there := dialed(b, l, l.Addr(), 1)
	payload, buf, ctx := make([]byte, 1200), make([]byte, MaxPayload), within(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = here.Send(1, payload)
		if _, err := there.Receive(ctx, buf); err != nil {
			b.Fatal(err)
		}
	}
}
