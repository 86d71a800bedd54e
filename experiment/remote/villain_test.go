package remote

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"wirelab/experiment/remote/channel"
)

// villain stands between two sockets, passes everything on, and with each datagram sends
// both ends others: random, cut, changed, or recorded before.
type villain struct {
	front, back *net.UDPConn // what the near end and the far end know as the other's address
	far         netip.AddrPort

	mu     sync.Mutex
	near   netip.AddrPort
	passed [][]byte
	rng    *rand.Rand
	thrown int
}

func newVillain(t *testing.T, far netip.AddrPort) *villain {
	t.Helper()
	v := &villain{far: far, rng: rand.New(rand.NewPCG(5, 6))}
	for _, c := range []**net.UDPConn{&v.front, &v.back} {
		var err error
		if *c, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = (*c).Close() })
	}
	go v.pass(v.front)
	go v.pass(v.back)
	return v
}

func (v *villain) pass(c *net.UDPConn) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		v.mu.Lock()
		if c == v.front {
			v.near = from
			_, _ = v.back.WriteToUDPAddrPort(buf[:n], v.far)
		} else {
			_, _ = v.front.WriteToUDPAddrPort(buf[:n], v.near)
		}
		if v.passed = append(v.passed, slices.Clone(buf[:n])); len(v.passed) > 256 {
			v.passed = v.passed[1:]
		}
		for range 4 {
			b := slices.Clone(v.passed[v.rng.IntN(len(v.passed))])
			switch v.rng.IntN(4) {
			case 0: // as it was
			case 1:
				b = b[:v.rng.IntN(len(b))]
			case 2:
				b[v.rng.IntN(len(b))] ^= 1 << v.rng.IntN(8)
			case 3:
				for i := range b {
					b[i] = byte(v.rng.Uint32())
				}
			}
			_, _ = v.back.WriteToUDPAddrPort(b, v.far)
			_, _ = v.front.WriteToUDPAddrPort(b, v.near)
			v.thrown += 2
		}
		v.mu.Unlock()
	}
}

// A third party throws forged, replayed, cut and random datagrams at both ends: the session
// lives, nothing is wrong, memory stays what it was, and the replay is the same.
func TestVillain(t *testing.T) {
	token, err := channel.ParseToken(channel.NewToken())
	if err != nil {
		t.Fatal(err)
	}
	o := channel.Options{Token: token, MaxSessions: 1}
	l, err := channel.Listen(netip.MustParseAddrPort("127.0.0.1:0"), o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan *servedStats, 1)
	go func() {
		var out *servedStats
		s, err := l.Accept(t.Context())
		if err == nil {
			out, err = Serve(t.Context(), s, noFiles)
		}
		if err != nil {
			t.Error(err)
		}
		served <- out
	}()
	v := newVillain(t, l.Addr())
	near, err := channel.Dial(t.Context(), v.front.LocalAddr().(*net.UDPAddr).AddrPort(), Purpose, o)
	if err != nil {
		t.Fatal(err)
	}
	link := NewLink(near, "there")
	s := crowded(t, configured(t, map[string]any{"duration": "2s", "down.loss": "2%"}), link)
	var early, late uint64
	if err := link.Drive(context.Background(), s, func() error {
		if n := s.Now(); early == 0 && n > 500*time.Millisecond {
			early = heap()
		} else if late == 0 && n > 1900*time.Millisecond {
			late = heap()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_ = near.Close()
	far := <-served
	books := l.Books()
	_ = l.Close()
	r := s.Result()
	lawful(t, r)
	if x := &r.Totals; x.Decoded < x.Sent/2 || far.Frames < x.Sent/2 {
		t.Errorf("of %d sent %d decoded, %d by the far end", x.Sent, x.Decoded, far.Frames)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !books.Balanced() || books.Dropped() < 500 || books.By[channel.Replayed] == 0 || books.By[channel.Forged] == 0 {
		t.Errorf("%d thrown, and the far end's books are %+v", v.thrown, books)
	}
	if late > early+4<<20 {
		t.Errorf("%d bytes in use, later %d", early, late)
	}
	t.Logf("%d thrown; far end %v, near end %v", v.thrown, books.By, near.Books().By)
	replayed(t, r, link.Recorded())
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
