package remote

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"wirelab/experiment/remote/channel"
	"wirelab/internal/testkit"
)

// attacker is a man in the middle between two sockets. It forwards every datagram and injects
// others towards both sides: replayed, truncated, changed and random ones.
type attacker struct {
	front, back  *net.UDPConn // the addresses that the sender and the receiver see as their peer
	receiverAddr netip.AddrPort

	mu         sync.Mutex
	senderAddr netip.AddrPort
	passed     [][]byte
	rng        *rand.Rand
	injected   int
}

// newAttacker starts an attacker in front of the receiver's address; senders must use its front
// socket.
func newAttacker(t *testing.T, far netip.AddrPort) *attacker {
	t.Helper()
	v := &attacker{receiverAddr: far, rng: rand.New(rand.NewPCG(5, 6))}
	for _, c := range []**net.UDPConn{&v.front, &v.back} {
		var err error
		if *c, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = (*c).Close() })
	}
	go v.forward(v.front)
	go v.forward(v.back)
	return v
}

// forward forwards the datagrams that c receives and injects four hostile ones towards each side
// for each of them.
func (v *attacker) forward(c *net.UDPConn) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		v.mu.Lock()
		if c == v.front {
			v.senderAddr = from
			_, _ = v.back.WriteToUDPAddrPort(buf[:n], v.receiverAddr)
		} else {
			_, _ = v.front.WriteToUDPAddrPort(buf[:n], v.senderAddr)
		}
		if v.passed = append(v.passed, slices.Clone(buf[:n])); len(v.passed) > 256 {
			v.passed = v.passed[1:]
		}
		for range 4 {
			b := slices.Clone(v.passed[v.rng.IntN(len(v.passed))])
			switch v.rng.IntN(4) {
			case 0: // a replay
			case 1:
				b = b[:v.rng.IntN(len(b))]
			case 2:
				b[v.rng.IntN(len(b))] ^= 1 << v.rng.IntN(8)
			case 3:
				for i := range b {
					b[i] = byte(v.rng.Uint32())
				}
			}
			_, _ = v.back.WriteToUDPAddrPort(b, v.receiverAddr)
			_, _ = v.front.WriteToUDPAddrPort(b, v.senderAddr)
			v.injected += 2
		}
		v.mu.Unlock()
	}
}

// Under an attack with forged, replayed, truncated and random datagrams the session continues,
// nothing is wrong, memory use stays constant, and the replay gives the same digest.
func TestInjectedDatagrams(t *testing.T) {
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
	v := newAttacker(t, l.Addr())
	near, err := channel.Dial(t.Context(), v.front.LocalAddr().(*net.UDPAddr).AddrPort(), Purpose, o)
	if err != nil {
		t.Fatal(err)
	}
	link := NewLink(near, "there")
	s := crowdSession(t, newConfig(t, map[string]any{"duration": "2s", "down.loss": "2%"}), link)
	var early, late int64
	if err := link.Drive(context.Background(), s, func() error {
		if n := s.Now(); early == 0 && n > 500*time.Millisecond {
			early = testkit.HeapBytes()
		} else if late == 0 && n > 1900*time.Millisecond {
			late = testkit.HeapBytes()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_ = near.Close()
	far := <-served
	books := l.Stats()
	_ = l.Close()
	r := s.Result()
	checkOutcomes(t, r)
	if x := &r.Totals; x.Decoded < x.Sent/2 || far.Frames < x.Sent/2 {
		t.Errorf("sent %d, decoded %d, decoded by the remote receiver %d", x.Sent, x.Decoded, far.Frames)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !books.Balanced() || books.Dropped() < 500 || books.DroppedBy[channel.Replayed] == 0 || books.DroppedBy[channel.Forged] == 0 {
		t.Errorf("%d injected; receiver's statistics %+v", v.injected, books)
	}
	if late > early+4<<20 {
		t.Errorf("heap grew from %d to %d bytes", early, late)
	}
	t.Logf("%d injected; dropped at the receiver %v, at the sender %v", v.injected, books.DroppedBy, near.Stats().DroppedBy)
	checkReplay(t, r, link.Recording())
}
