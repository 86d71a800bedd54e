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

// attacker is a man in the middle. It forwards all datagrams, records them, and can send as
// either side, or from an address of its own.
type attacker struct {
	t       testing.TB
	front   *net.UDPConn // socket that the dialer sends to
	back    *net.UDPConn // socket that the listener receives from
	outside *net.UDPConn // socket with an unrelated address
	listen  netip.AddrPort

	mu       sync.Mutex
	dialer   netip.AddrPort
	recorded [2][][]byte // to the listener, to the dialer
	count    [2]uint64   // datagrams forwarded to each
}

// newAttacker starts an attacker in front of l; dialers must dial its front socket.
func newAttacker(t testing.TB, l *Listener) *attacker {
	t.Helper()
	v := &attacker{t: t, listen: l.Addr()}
	for _, c := range []**net.UDPConn{&v.front, &v.back, &v.outside} {
		var err error
		if *c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback())); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*c).Close() })
	}
	go v.forward(v.front, 0, func(b []byte, from netip.AddrPort) { v.dialer = from; _, _ = v.back.WriteToUDPAddrPort(b, v.listen) })
	go v.forward(v.back, 1, func(b []byte, _ netip.AddrPort) { _, _ = v.front.WriteToUDPAddrPort(b, v.dialer) })
	return v
}

// forward records the datagrams that c receives and passes them to on. direction is 0 to the listener
// and 1 to the dialer.
func (v *attacker) forward(c *net.UDPConn, direction int, on func([]byte, netip.AddrPort)) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		v.mu.Lock()
		v.count[direction]++
		if v.recorded[direction] = append(v.recorded[direction], slices.Clone(buf[:n])); len(v.recorded[direction]) > 64 {
			v.recorded[direction] = v.recorded[direction][1:]
		}
		on(buf[:n], from)
		v.mu.Unlock()
	}
}

// attack sends a hostile datagram to the listener (to = 0) or the dialer (to = 1): random,
// replayed, truncated, changed, extended, reflected, or genuine from a wrong address. It reports
// whether it sent one.
func (v *attacker) attack(rng *rand.Rand, to int) (sent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pick := func(way int) []byte {
		all := v.recorded[way]
		for range 100 {
			if b := all[rng.IntN(len(all))]; b[0] == firstByte(kindData) {
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
	case 0: // replayed
	case 1:
		b = b[:rng.IntN(len(b))]
	case 2:
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	case 3:
		if b = pick(1 - to); b == nil { // reflected
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
			b[0] = firstByte(uint8(rng.IntN(7)))
		}
	case 7: // a later sequence number without the key
		binary.BigEndian.PutUint32(b[5:], binary.BigEndian.Uint32(b[5:])+1+rng.Uint32N(1<<20))
	case 8: // genuine, from a wrong address
		if to == 0 {
			_, _ = v.outside.WriteToUDPAddrPort(b, v.listen)
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

// Under attack every datagram of a session is delivered once and unchanged. All hostile datagrams
// are counted as dropped and have no other effect.
func TestSessionUnderAttack(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	rng := rand.New(rand.NewPCG(3, 4))
	l := listen(t, Options{MaxSessions: 1})
	v := newAttacker(t, l)
	here, there := connect(t, l, v.front.LocalAddr().(*net.UDPAddr).AddrPort(), 1)
	books := func(to int) (b Stats) {
		if to == 0 {
			return l.Stats()
		}
		return here.Stats()
	}
	var injected [2]uint64
	buf, heap := make([]byte, MaxPayload), uint64(0)
	for round := range rounds {
		for to, ends := range [][2]*Session{{here, there}, {there, here}} {
			payload := bytes.Repeat([]byte{byte(round), byte(to)}, 1+rng.IntN(500))
			if err := ends[0].Send(3, payload); err != nil {
				t.Fatal(err)
			}
			for range 30 {
				if v.attack(rng, to) {
					injected[to]++
				}
			}
			d, err := ends[1].Receive(testContext(t), buf)
			if err != nil || d.Stream != 3 || !bytes.Equal(d.Data, payload) {
				t.Fatalf("round %d: %v, stream %d, %d bytes for %d", round, err, d.Stream, len(d.Data), len(payload))
			}
			waitFor(t, "all injected datagrams", func() bool {
				v.mu.Lock()
				defer v.mu.Unlock()
				return books(to).In == v.count[to]+injected[to]
			})
		}
		if round == rounds/2 {
			heap = heapInUse()
		}
	}
	for to, s := range []*Session{there, here} {
		b := books(to)
		if b.Dropped() != injected[to] || !b.Balanced() || b.Delivered != uint64(rounds) {
			t.Errorf("side %d: %d injected; %+v", to, injected[to], b)
		}
		for _, c := range []cause{malformed, protocolVersion, unknownSession, Forged, Replayed} {
			if b.DroppedBy[c] == 0 {
				t.Errorf("side %d: no datagram was dropped as %s", to, c)
			}
		}
		if d, ok := s.Poll(buf); ok || s.Err() != nil {
			t.Errorf("side %d: error %v, unexpected datagram %v", to, s.Err(), d)
		}
	}
	if now := heapInUse(); now > heap+1<<20 {
		t.Errorf("heap grew from %d bytes after half of the rounds to %d", heap, now)
	}
	t.Logf("%v injected; listener %v, dialer %v", injected, books(0).DroppedBy, books(1).DroppedBy)
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Without a reader, datagrams beyond the buffer are dropped and counted. The session continues.
func TestOverrun(t *testing.T) {
	l, p := newOfflineListener(t, Options{Buffer: 1 << 17})
	here, there, out := handshakeWith(t, l, p, 0)
	payload := make([]byte, 10_000)
	for i := range 100 {
		payload[0] = byte(i)
		_ = here.Send(1, payload)
		there.handleDatagram(out.takeLast(), 0)
	}
	read := 0
	for d, ok := there.Poll(nil); ok; d, ok = there.Poll(nil) {
		if len(d.Data) != len(payload) || d.Data[0] != byte(read) {
			t.Fatalf("%d bytes, number %d instead of %d", len(d.Data), d.Data[0], read)
		}
		read++
	}
	if b := there.Stats(); read != 13 || b.DroppedBy[overrun] != 100-13 || !b.Balanced() {
		t.Errorf("%d of 100 read, %+v", read, b)
	}
	_ = here.Send(1, []byte("on"))
	there.handleDatagram(out.takeLast(), 0)
	if d, ok := there.Poll(nil); !ok || string(d.Data) != "on" {
		t.Error("no datagram after the overrun")
	}
}

// Duplicates are delivered and marked only after DeliverDuplicates(true).
func TestDeliverDuplicates(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	_ = here.Send(1, []byte("x"))
	b := out.takeLast()
	for i, on := range []bool{false, false, true, true} {
		there.DeliverDuplicates(on)
		there.handleDatagram(slices.Clone(b), 0)
		d, ok := there.Poll(nil)
		if want := i != 1; ok != want || ok && d.Duplicate != (i > 0) {
			t.Errorf("datagram %d with DeliverDuplicates(%v): delivered %v, duplicate %v", i, on, ok, d.Duplicate)
		}
	}
}

// Sending and receiving a datagram does not allocate.
func TestNoAllocations(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	here, there, _ := handshakeWith(t, l, p, 0)
	wire, n := make([]byte, 2000), 0
	here.write = func(b []byte) error { n = copy(wire, b); return nil }
	payload, buf := make([]byte, 1200), make([]byte, MaxPayload)
	if got := testing.AllocsPerRun(1000, func() {
		_ = here.Send(1, payload)
		l.handleDatagram(wire[:n], dialerAddr, 0)
		if d, ok := there.Poll(buf); !ok || len(d.Data) != len(payload) {
			t.Fatal("the datagram was not delivered")
		}
		<-there.Ready()
		l.handleDatagram(wire[:n], dialerAddr, 0) // decryption in place changed it, so it counts as forged
		l.handleDatagram(wire[:5], dialerAddr, 0)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// BenchmarkDatagram measures encryption and decryption without sockets.
func BenchmarkDatagram(b *testing.B) {
	l, p := newOfflineListener(b, Options{})
	here, there, _ := handshakeWith(b, l, p, 0)
	wire, n := make([]byte, 2000), 0
	here.write = func(b []byte) error { n = copy(wire, b); return nil }
	payload, buf := make([]byte, 1200), make([]byte, MaxPayload)
	b.ReportAllocs()
	for b.Loop() {
		_ = here.Send(1, payload)
		l.handleDatagram(wire[:n], dialerAddr, 0)
		there.Poll(buf)
	}
}

// BenchmarkFlood measures the cost of a hello without a cookie and of a forged hello.
func BenchmarkFlood(b *testing.B) {
	l, p := newOfflineListener(b, Options{})
	_, first := newOfflineDialer(b)
	forged := slices.Clone(first)
	forged[9]++
	for name, data := range map[string][]byte{"hello": first, "forged": forged} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.handleDatagram(data, dialerAddr, 0)
				p.sent, p.to = p.sent[:0], p.to[:0]
			}
		})
	}
}

// BenchmarkSocket measures sending and receiving over UDP sockets.
func BenchmarkSocket(b *testing.B) {
	l := listen(b, Options{})
	here, there := connect(b, l, l.Addr(), 1)
	payload, buf, ctx := make([]byte, 1200), make([]byte, MaxPayload), testContext(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = here.Send(1, payload)
		if _, err := there.Receive(ctx, buf); err != nil {
			b.Fatal(err)
		}
	}
}
