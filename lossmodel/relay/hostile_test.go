package relay

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// newSocket6 returns a socket on [::1]. It skips the test if IPv6 is not available.
func newSocket6(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("IPv6 is not available:", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Datagrams larger than IPv4 allows, which IPv6 can carry, are dropped and reported.
func TestOversizeDatagrams(t *testing.T) {
	r, stop := startRelay(t, Options{Listen: netip.MustParseAddrPort("[::1]:0"), Server: localAddr(newSocket6(t))})
	defer stop()
	send(t, newSocket6(t), r.Addr(), make([]byte, lossmodel.MaxDatagram+20))
	now := waitFor(t, r, "one too large", func(now *Totals) bool { return now.Oversize == 1 })
	if deviations := now.Deviations([2]bool{}); now.Flows[Up].In != 0 || len(deviations) != 1 || !strings.Contains(deviations[0], "1 datagrams were larger than IPv4 allows") {
		t.Errorf("%d in, deviations %q", now.Flows[Up].In, deviations)
	}
}

// Datagrams from the server's address or from the relay's own are refused, because answers would
// loop.
func TestRefusesLoops(t *testing.T) {
	server := newEchoServer(t)
	r, stop := startRelay(t, Options{Server: localAddr(server)})
	send(t, server, r.Addr(), []byte("round"))
	send(t, r.listen, r.Addr(), []byte("and round"))
	now := waitFor(t, r, "two refusals", func(now *Totals) bool { return now.Refused == 2 })
	if now.Joined != 0 || now.Flows[Up].In != 0 {
		t.Errorf("%d clients, %d in", now.Joined, now.Flows[Up].In)
	}
	if words := now.Remarks(); len(words) != 1 || !strings.Contains(words[0], "2 datagrams refused") {
		t.Errorf("remarks: %q", words)
	}
	stop()
	for at, own := range map[string]bool{"127.0.0.1:5": true, "127.0.0.1:6": false, "10.0.0.1:5": false, "[::1]:5": true} {
		if isSameEndpoint(netip.MustParseAddrPort(at), netip.MustParseAddrPort("0.0.0.0:5")) != own {
			t.Errorf("%s: expected %t for a socket that listens on all addresses", at, own)
		}
	}
}

// If the system provides no socket to the server, no client is added, and the line of the second
// reports it.
func TestNoSocket(t *testing.T) {
	newSocket6(t)
	r, stop := startRelay(t, Options{Server: netip.MustParseAddrPort("[fe80::1]:9")}) // link-local without an interface
	send(t, newSocket(t), r.Addr(), []byte("x"))
	now := waitFor(t, r, "a datagram", func(now *Totals) bool { return now.NoSocket+now.Flows[Up].In == 1 })
	if now.Flows[Up].In == 1 {
		t.Skip("the system provides a socket for a link-local address without interface")
	}
	earlier := Totals{}
	second := now.Since(&earlier)
	if line := FormatSecond(now.At, &second, [2]bool{}, nil); !strings.HasPrefix(line, "!") || !strings.Contains(line, "no socket for 1") {
		t.Error(line)
	}
	if stop(); len(r.slots) != 0 || now.Joined != 0 {
		t.Errorf("%d slots, %d joined", len(r.slots), now.Joined)
	}
}

// With many clients the heap contains exactly the lanes with datagrams in flight, in order, and
// is empty at the end.
func TestManyLanes(t *testing.T) {
	const clients, each = 150, 4
	server := newEchoServer(t)
	r, stop := startRelay(t, Options{Server: localAddr(server), MaxClients: clients, Conditions: func(c Client) (up, down lossmodel.Spec) {
		return newSpec(t, "latency", fmt.Sprintf("%dms", 1+c.Number*7%30)), newSpec(t, "latency", fmt.Sprintf("%dms", 1+c.Number*11%30), "jitter", "1ms")
	}})
	for round := range each {
		for i := range clients {
			if round == 0 {
				c := newSocket(t)
				send(t, c, r.Addr(), []byte{byte(i)})
				waitFor(t, r, "a client", func(now *Totals) bool { return now.Joined > i })
			}
		}
		waitFor(t, r, "the round before", func(now *Totals) bool { return now.Flows[Down].In == uint64(clients*(1+round)) })
		for _, c := range r.slots {
			r.mu.Lock()
			r.sendToLink(c, Up, []byte("again"), r.now())
			r.checkDue(t)
			r.mu.Unlock()
		}
	}
	const all = clients * (1 + each)
	now := waitFor(t, r, "all of them", func(now *Totals) bool { return now.Flows[Down].Out == all })
	if now.Flows[Up].Out != all || len(r.lanes) != 2*clients {
		t.Errorf("%d up, %d lanes", now.Flows[Up].Out, len(r.lanes))
	}
	r.mu.Lock()
	if len(r.dueLanes) != 0 {
		t.Errorf("%d lanes in the heap without datagrams in flight", len(r.dueLanes))
	}
	r.mu.Unlock()
	stop()
}

// checkDue compares the heap with the links.
func (r *Relay) checkDue(t *testing.T) {
	n := 0
	for _, l := range r.lanes {
		due, ok := l.link.Next()
		if ok {
			n++
		}
		if ok != (l.heapIndex >= 0) || ok && (r.dueLanes[l.heapIndex] != l || l.nextDue != due || r.dueLanes[0].nextDue > due) {
			t.Fatalf("a lane due at %v (%t) is at heap index %d with due time %v", due, ok, l.heapIndex, l.nextDue)
		}
	}
	if n != len(r.dueLanes) || n > 0 && r.timerDue > r.dueLanes[0].nextDue {
		t.Fatalf("%d lanes in the heap, expected %d; the timer fires at %v", len(r.dueLanes), n, r.timerDue)
	}
}

// The relay works with the runtime's timer.
func TestRuntimeTimer(t *testing.T) {
	server := newEchoServer(t)
	r, err := Open(Options{Server: localAddr(server), Listen: loopback(), Conditions: constantConditions(newSpec(t, "latency", "5ms"), newSpec(t, "latency", "1ms"))})
	if err != nil {
		t.Fatal(err)
	}
	r.timer.close()
	r.timer = newRuntimeTimer()
	stop := runRelay(t, r)
	client := newSocket(t)
	for i := range 20 {
		send(t, client, r.Addr(), []byte{byte(i)})
		if got, _ := receive(t, client); got != string(rune(i)) {
			t.Errorf("%d came back as %q", i, got)
		}
	}
	if now := stop(); now.Flows[Down].Out != 20 || now.Flows[Up].Delay.Quantile(0) < 5*time.Millisecond {
		t.Errorf("%d came back, up in %v", now.Flows[Down].Out, now.Flows[Up].Delay.Quantile(0))
	}
}

// A client that sends to one of several addresses is answered from that address.
func TestAnswerSourceAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux sets the source address and has 127.0.0.2")
	}
	server := newEchoServer(t)
	for _, listen := range []string{"0.0.0.0:0", "[::]:0"} {
		for _, at := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
			t.Run(listen+" "+at, func(t *testing.T) {
				if strings.Contains(listen+at, "::") {
					newSocket6(t)
				}
				if at == "::1" && listen != "[::]:0" {
					t.Skip("address of the other family")
				}
				r, stop := startRelay(t, Options{Listen: netip.MustParseAddrPort(listen), Server: localAddr(server)})
				defer stop()
				client, err := net.Dial("udp", net.JoinHostPort(at, fmt.Sprint(r.Addr().Port())))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				for _, text := range []string{"one", "two"} {
					if _, err := client.Write([]byte(text)); err != nil {
						t.Fatal(err)
					}
					if got, _ := receive(t, client.(*net.UDPConn)); got != text {
						t.Errorf("got %q", got)
					}
				}
			})
		}
	}
}
