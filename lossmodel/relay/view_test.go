package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"wirelab/lossmodel"
)

// The clients and links of a snapshot add up to the totals, and a Recent agrees with the events
// of a tap.
func TestSnapshotAddsUp(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%t", shared), func(t *testing.T) { checkSnapshot(t, shared) })
	}
}

// checkSnapshot runs traffic of three clients with a change of settings and compares the
// snapshot, the totals, a Recent and the events.
func checkSnapshot(t *testing.T, shared bool) {
	server := newEchoServer(t)
	var log eventLog
	recent := NewRecent(256)
	up := newSpec(t, "loss", "20%", "latency", "2ms", "duplicate", "10%", "corrupt", "10%")
	r, stop := startRelay(t, Options{Server: localAddr(server), Seed: 9, Shared: shared, Conditions: constantConditions(up, newSpec(t, "loss", "10%"))}, log.add, recent.Tap)
	clients := []*net.UDPConn{newSocket(t), newSocket(t), newSocket(t)}
	for i := range 300 {
		send(t, clients[i%3], r.Addr(), make([]byte, 10+i))
		if i%10 == 0 {
			waitForRoom(t, r, i+1)
		}
		if i == 150 {
			waitFor(t, r, "half of them", func(now *Totals) bool { return now.Flows[Up].In == 151 })
			if _, err := r.Reshape(constantConditions(newSpec(t, "loss", "40%"), newSpec(t))); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitFor(t, r, "an empty network", func(now *Totals) bool {
		return now.Flows[Up].In == 300 && now.Flows[Up].Queued+now.Flows[Down].Queued == 0 && now.Flows[Down].In == now.Flows[Up].Out
	})
	var s Snapshot
	r.Snapshot(&s)
	stop()
	if len(s.Clients) != 3 || shared && len(s.Links) != 2 || !shared && len(s.Links) != 6 {
		t.Fatalf("%d clients, %d links", len(s.Clients), len(s.Links))
	}
	for way := range s.Totals.Flows {
		f := &s.Totals.Flows[way]
		var sum ClientFlow
		for _, c := range s.Clients {
			x := &c.Ways[way]
			sum.In, sum.Out, sum.Lost, sum.InBytes, sum.OutBytes = sum.In+x.In, sum.Out+x.Out, sum.Lost+x.Lost, sum.InBytes+x.InBytes, sum.OutBytes+x.OutBytes
			sum.TotalDelay += x.TotalDelay
		}
		if sum.In != f.In || sum.Out != f.Out || sum.Lost != f.Lost() || sum.InBytes != f.InBytes || sum.OutBytes != f.OutBytes || sum.TotalDelay != f.Delay.Sum {
			t.Errorf("%v: clients have %+v, all %+v", Direction(way), sum, f)
		}
		if f.Size.N != f.In || uint64(f.Size.Sum) != f.InBytes {
			t.Errorf("%v: %d sizes, %d bytes", Direction(way), f.Size.N, f.Size.Sum)
		}
	}
	byDirection := map[Direction]LinkStatus{}
	for _, a := range s.Links {
		x := byDirection[a.Way]
		x.Sent, x.Lost, x.Passed = x.Sent+a.Sent, x.Lost+a.Lost, x.Passed+a.Passed
		byDirection[a.Way] = x
		if a.Way == Up && (a.Since == 0 || a.Spec != newSpec(t, "loss", "40%")) {
			t.Errorf("uplink set to %v from %v on", a.Spec, a.Since)
		}
	}
	since := s.Links[0].Since
	var want [2]LinkStatus
	for _, n := range log.events {
		if n.Kind == Entered && n.Way == Up && n.At >= since {
			want[Up].Sent++
			if n.Verdict.Lost != lossmodel.None {
				want[Up].Lost++
			}
		}
	}
	if a := byDirection[Up]; a.Sent != want[Up].Sent || a.Lost != want[Up].Lost || a.Passed != a.Sent-a.Lost {
		t.Errorf("up since the change: %+v, events %+v", a, want[Up])
	}
	// The outcomes of the Recent are those of the events.
	left := map[string]eventCopy{}
	for _, n := range log.events {
		if n.Kind != Entered {
			left[fmt.Sprint(n.Way, n.Seq, n.Copy)] = n
		}
	}
	seen := 0
	for _, n := range log.events {
		x, ok := recent.Find(n.Way, n.Seq)
		if n.Kind != Entered || !ok {
			continue
		}
		seen++
		end, ended := left[fmt.Sprint(n.Way, n.Seq, 0)]
		if x.Verdict != n.Verdict || x.At != n.At || x.Size != len(n.data) || ended && (x.Outcomes[0].Kind != end.Kind || x.Outcomes[0].At != end.At) {
			t.Errorf("%v %d: %+v, event %+v", n.Way, n.Seq, x.Verdict, n.Verdict)
		}
		if x.Lost() != (!ended || end.Kind != Left) || x.Describe(0) == "" || x.Spec == nil {
			t.Errorf("%v %d: %q", n.Way, n.Seq, x.Describe(0))
		}
	}
	if seen < 400 {
		t.Errorf("%d datagrams stored, expected at least 400", seen)
	}
	if _, ok := recent.Find(Up, 300-257); ok {
		t.Error("a datagram beyond the capacity is stored")
	}
	if list := recent.Newest(nil, Up, 100); len(list) != 100 || list[99].Seq != 299 || list[0].Seq != 200 {
		t.Errorf("Newest returned %d datagrams, expected 100, up to 299", len(list))
	}
}

// Newest returns at most n datagrams however fast others arrive meanwhile.
func TestNewestIsBounded(t *testing.T) {
	recent := NewRecent(64)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seq := uint64(0); ; seq++ {
			select {
			case <-quit:
				return
			default:
				recent.Tap(&Event{Kind: Entered, Way: Up, Seq: seq})
			}
		}
	}()
	for range 20_000 {
		if list := recent.Newest(nil, Up, 16); len(list) > 16 {
			t.Errorf("%d datagrams, want at most 16", len(list))
			break
		}
	}
	close(quit)
	<-done
}

// The relay works with IPv6 on either side or both, and with IPv4 on a socket for both families.
func TestIPv6(t *testing.T) {
	probe, err := net.ListenUDP("udp6", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("[::1]:0")))
	if err != nil {
		t.Skip("IPv6 is not available: ", err)
	}
	probe.Close()
	for _, c := range []struct{ listen, server, client, seen string }{
		{"[::1]:0", "[::1]:0", "[::1]:0", "::1"},
		{"[::1]:0", "127.0.0.1:0", "[::1]:0", "::1"},
		{"127.0.0.1:0", "[::1]:0", "127.0.0.1:0", "127.0.0.1"},
		{"[::]:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1"}, // not as ::ffff:127.0.0.1
		{"[::]:0", "[::1]:0", "[::1]:0", "::1"},
		{"[::ffff:127.0.0.1]:0", "[::ffff:127.0.0.1]:0", "127.0.0.1:0", "127.0.0.1"},
	} {
		t.Run(c.listen+" "+c.server+" "+c.client, func(t *testing.T) {
			server, client := newSocketAt(t, c.server), newSocketAt(t, c.client)
			r, stop := startRelay(t, Options{Listen: netip.MustParseAddrPort(c.listen), Server: localAddr(server)})
			to := netip.AddrPortFrom(localAddr(client).Addr().Unmap(), r.Addr().Port())
			send(t, client, to, []byte("hello"))
			got, via := receive(t, server)
			send(t, server, via, []byte("hello back"))
			back, from := receive(t, client)
			if got != "hello" || back != "hello back" || from.Port() != to.Port() || from.Addr().Unmap() != to.Addr() {
				t.Errorf("server received %q, client received %q from %v", got, back, from)
			}
			var s Snapshot
			r.Snapshot(&s)
			stop()
			if len(s.Clients) != 1 || s.Clients[0].Addr.Addr().String() != c.seen {
				t.Errorf("clients %+v", s.Clients)
			}
		})
	}
}

// newSocketAt returns a UDP socket on an address.
func newSocketAt(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(addr)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A relay on 0.0.0.0 does not listen on IPv6 addresses.
func TestListenIPv4Only(t *testing.T) {
	r, stop := startRelay(t, Options{Listen: netip.MustParseAddrPort("0.0.0.0:0"), Server: localAddr(newSocket(t))})
	defer stop()
	if !r.Addr().Addr().Is4() {
		t.Errorf("listens on %v", r.Addr())
	}
}

// A panic in a goroutine of the relay becomes a panic of Run.
func TestPanicReachesRun(t *testing.T) {
	r, err := Open(Options{Listen: loopback(), Server: localAddr(newSocket(t))})
	if err != nil {
		t.Fatal(err)
	}
	r.Tap(func(*Event) { panic("a bad tap") })
	send(t, newSocket(t), r.Addr(), []byte("x")) // waits in the buffer of the relay's socket
	defer func() {
		if bug := fmt.Sprint(recover()); !strings.Contains(bug, "a bad tap") {
			t.Errorf("recovered %s", bug)
		}
		var end Snapshot
		r.Snapshot(&end) // the lock must not be held
		if end.Totals.Flows[Up].In != 1 {
			t.Errorf("%d datagrams counted, want 1", end.Totals.Flows[Up].In)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	t.Error("Run returned", r.Run(ctx))
}
