package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// What a snapshot says of clients and links adds up to the totals, and what is remembered of
// datagrams is what a tap saw.
func TestSnapshotAddsUp(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%t", shared), func(t *testing.T) { addsUp(t, shared) })
	}
}

func addsUp(t *testing.T, shared bool) {
	server := echo(t)
	var book notebook
	recent := NewRecent(256)
	up := spec(t, "loss", "20%", "latency", "2ms", "duplicate", "10%", "corrupt", "10%")
	r, stop := start(t, Options{Server: local(server), Seed: 9, Shared: shared, Conditions: both(up, spec(t, "loss", "10%"))}, book.tap, recent.Tap)
	clients := []*net.UDPConn{socket(t), socket(t), socket(t)}
	for i := range 300 {
		send(t, clients[i%3], r.Addr(), make([]byte, 10+i))
		if i%10 == 0 {
			paced(t, r, i+1)
		}
		if i == 150 {
			until(t, r, "half of them", func(now *Totals) bool { return now.Flows[Up].In == 151 })
			if _, err := r.Reshape(both(spec(t, "loss", "40%"), spec(t))); err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, r, "an empty network", func(now *Totals) bool {
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
		var sum Tally
		for _, c := range s.Clients {
			x := &c.Ways[way]
			sum.In, sum.Out, sum.Lost, sum.InBytes, sum.OutBytes = sum.In+x.In, sum.Out+x.Out, sum.Lost+x.Lost, sum.InBytes+x.InBytes, sum.OutBytes+x.OutBytes
			sum.Took += x.Took
		}
		if sum.In != f.In || sum.Out != f.Out || sum.Lost != f.Lost() || sum.InBytes != f.InBytes || sum.OutBytes != f.OutBytes || sum.Took != f.Took.Sum {
			t.Errorf("%v: clients have %+v, all %+v", Way(way), sum, f)
		}
		if f.Size.N != f.In || uint64(f.Size.Sum) != f.InBytes {
			t.Errorf("%v: %d sizes, %d bytes", Way(way), f.Size.N, f.Size.Sum)
		}
	}
	asked := map[Way]LinkStatus{}
	for _, a := range s.Links {
		x := asked[a.Way]
		x.Sent, x.Lost, x.Left = x.Sent+a.Sent, x.Lost+a.Lost, x.Left+a.Left
		asked[a.Way] = x
		if a.Way == Up && (a.From == 0 || a.Spec != spec(t, "loss", "40%")) {
			t.Errorf("up was asked for %v from %v on", a.Spec, a.From)
		}
	}
	since := s.Links[0].From
	var want [2]LinkStatus
	for _, n := range book.notes {
		if n.Kind == Entered && n.Way == Up && n.At >= since {
			want[Up].Sent++
			if n.Verdict.Lost != lossmodel.None {
				want[Up].Lost++
			}
		}
	}
	if a := asked[Up]; a.Sent != want[Up].Sent || a.Lost != want[Up].Lost || a.Left != a.Sent-a.Lost {
		t.Errorf("up since the change: %+v, the tap saw %+v", a, want[Up])
	}
	// Fates: those of the tap.
	left := map[string]note{}
	for _, n := range book.notes {
		if n.Kind != Entered {
			left[fmt.Sprint(n.Way, n.Seq, n.Copy)] = n
		}
	}
	seen := 0
	for _, n := range book.notes {
		x, ok := recent.Find(n.Way, n.Seq)
		if n.Kind != Entered || !ok {
			continue
		}
		seen++
		end, ended := left[fmt.Sprint(n.Way, n.Seq, 0)]
		if x.Verdict != n.Verdict || x.At != n.At || x.Size != len(n.data) || ended && (x.Ends[0].Kind != end.Kind || x.Ends[0].At != end.At) {
			t.Errorf("%v %d: %+v, the tap saw %+v", n.Way, n.Seq, x.Verdict, n.Verdict)
		}
		if x.Lost() != (!ended || end.Kind != Left) || x.Fate() == "" || len(x.Stages()) == 0 {
			t.Errorf("%v %d: %q", n.Way, n.Seq, x.Fate())
		}
	}
	if seen < 400 {
		t.Errorf("%d are remembered", seen)
	}
	if _, ok := recent.Find(Up, 300-257); ok {
		t.Error("more is remembered than there is room for")
	}
	if list := recent.Newest(nil, Up, 100); len(list) != 100 || list[99].Seq != 299 || list[0].Seq != 200 {
		t.Errorf("%d of the newest", len(list))
	}
}

// IPv6 at either side or both, and IPv4 on a socket of both.
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

func TestIPv6(t *testing.T) {
	probe, err := net.ListenUDP("udp6", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("[::1]:0")))
	if err != nil {
		t.Skip("no IPv6 here: ", err)
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
			server, client := socketAt(t, c.server), socketAt(t, c.client)
			r, stop := start(t, Options{Listen: netip.MustParseAddrPort(c.listen), Server: local(server)})
			to := netip.AddrPortFrom(local(client).Addr().Unmap(), r.Addr().Port())
			send(t, client, to, []byte("hello"))
			got, via := receive(t, server)
			send(t, server, via, []byte("hello back"))
			back, from := receive(t, client)
			if got != "hello" || back != "hello back" || from.Port() != to.Port() || from.Addr().Unmap() != to.Addr() {
				t.Errorf("%q there, %q back from %v", got, back, from)
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

func socketAt(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(addr)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Who asks for IPv4 alone does not get both.
func TestAllOfIPv4IsNotIPv6(t *testing.T) {
	r, stop := start(t, Options{Listen: netip.MustParseAddrPort("0.0.0.0:0"), Server: local(socket(t))})
	defer stop()
	if !r.Addr().Addr().Is4() {
		t.Errorf("listens on %v", r.Addr())
	}
}

// A panic beside Run is Run's.
func TestPanicsReachTheCaller(t *testing.T) {
	r, err := Open(Options{Listen: loopback(), Server: local(socket(t))})
	if err != nil {
		t.Fatal(err)
	}
	r.Tap(func(*Event) { panic("a bad tap") })
	time.AfterFunc(time.Millisecond, func() { _, _ = socket(t).WriteToUDPAddrPort([]byte("x"), r.Addr()) })
	defer func() {
		if bug := fmt.Sprint(recover()); !strings.Contains(bug, "a bad tap") {
			t.Errorf("recovered %s", bug)
		}
		var end Snapshot
		r.Snapshot(&end) // no lock is held, so the books can be read
		if end.Totals.Flows[Up].In != 1 {
			t.Errorf("the books count %d datagrams, want 1", end.Totals.Flows[Up].In)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	t.Error("Run returned", r.Run(ctx))
}
