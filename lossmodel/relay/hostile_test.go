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

// socket6 is a socket on the loopback of IPv6.
func socket6(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("there is no IPv6 here:", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// IPv6 carries datagrams that are larger than the links know: they are counted and told.
func TestTooLarge(t *testing.T) {
	r, stop := start(t, Options{Listen: netip.MustParseAddrPort("[::1]:0"), Server: local(socket6(t))})
	defer stop()
	send(t, socket6(t), r.Addr(), make([]byte, lossmodel.MaxDatagram+20))
	now := until(t, r, "one too large", func(now *Totals) bool { return now.Oversize == 1 })
	if deviations := now.Deviations(); now.Flows[Up].In != 0 || len(deviations) != 1 || !strings.Contains(deviations[0], "1 were larger than IPv4 carries") {
		t.Errorf("%d in, told: %q", now.Flows[Up].In, deviations)
	}
}

// What comes from the server's own address, or from the relay's, would go round for ever.
func TestNothingGoesRound(t *testing.T) {
	server := echo(t)
	r, stop := start(t, Options{Server: local(server)})
	send(t, server, r.Addr(), []byte("round"))
	send(t, r.listen, r.Addr(), []byte("and round"))
	now := until(t, r, "two refusals", func(now *Totals) bool { return now.Refused == 2 })
	if now.Joined != 0 || now.Flows[Up].In != 0 {
		t.Errorf("%d clients, %d in", now.Joined, now.Flows[Up].In)
	}
	if words := now.Remarks(); len(words) != 1 || !strings.Contains(words[0], "refused 2 of more clients") {
		t.Errorf("remarks: %q", words)
	}
	stop()
	for at, own := range map[string]bool{"127.0.0.1:5": true, "127.0.0.1:6": false, "10.0.0.1:5": false, "[::1]:5": true} {
		if isAt(netip.MustParseAddrPort(at), netip.MustParseAddrPort("0.0.0.0:5")) != own {
			t.Errorf("%s: expected %t of what listens everywhere", at, own)
		}
	}
}

// A server for which the system gives no socket: who it concerns is told, nobody is admitted.
func TestNoSocket(t *testing.T) {
	socket6(t)
	r, stop := start(t, Options{Server: netip.MustParseAddrPort("[fe80::1]:9")}) // of no interface
	send(t, socket(t), r.Addr(), []byte("x"))
	now := until(t, r, "a datagram", func(now *Totals) bool { return now.NoSocket+now.Flows[Up].In == 1 })
	if now.Flows[Up].In == 1 {
		t.Skip("the system gives a socket for an address of no interface")
	}
	was := Totals{}
	second := now.Since(&was)
	if line := Line(now.At, &second, nil); !strings.HasPrefix(line, "!") || !strings.Contains(line, "no socket for 1") {
		t.Error(line)
	}
	if stop(); len(r.slots) != 0 || now.Joined != 0 {
		t.Errorf("%d slots, %d joined", len(r.slots), now.Joined)
	}
}

// Many clients with links of their own: each lane is where it belongs among those that
// something is due on, and none is left there when all is quiet.
func TestManyLanes(t *testing.T) {
	const clients, each = 150, 4
	server := echo(t)
	r, stop := start(t, Options{Server: local(server), MaxClients: clients, Conditions: func(c Client) (up, down lossmodel.Spec) {
		return spec(t, "latency", fmt.Sprintf("%dms", 1+c.Turn*7%30)), spec(t, "latency", fmt.Sprintf("%dms", 1+c.Turn*11%30), "jitter", "1ms")
	}})
	for round := range each {
		for i := range clients {
			if round == 0 {
				c := socket(t)
				send(t, c, r.Addr(), []byte{byte(i)})
				until(t, r, "a client", func(now *Totals) bool { return now.Joined > i })
			}
		}
		until(t, r, "the round before", func(now *Totals) bool { return now.Flows[Down].In == uint64(clients*(1+round)) })
		for _, c := range r.slots {
			r.mu.Lock()
			r.enter(c, Up, []byte("again"), r.clock())
			r.checkDue(t)
			r.mu.Unlock()
		}
	}
	const all = clients * (1 + each)
	now := until(t, r, "all of them", func(now *Totals) bool { return now.Flows[Down].Out == all })
	if now.Flows[Up].Out != all || len(r.lanes) != 2*clients {
		t.Errorf("%d up, %d lanes", now.Flows[Up].Out, len(r.lanes))
	}
	r.mu.Lock()
	if len(r.due) != 0 {
		t.Errorf("%d lanes wait for nothing", len(r.due))
	}
	r.mu.Unlock()
	stop()
}

// checkDue holds the lanes that something is due on to the links themselves.
func (r *Relay) checkDue(t *testing.T) {
	n := 0
	for _, l := range r.lanes {
		due, ok := l.link.Next()
		if ok {
			n++
		}
		if ok != (l.place >= 0) || ok && (r.due[l.place] != l || l.due != due || r.due[0].due > due) {
			t.Fatalf("a lane due at %v (%t) is at place %d with %v", due, ok, l.place, l.due)
		}
	}
	if n != len(r.due) || n > 0 && r.armed > r.due[0].due {
		t.Fatalf("%d lanes of %d; the timer goes off at %v", len(r.due), n, r.armed)
	}
}

// Where there is no timerfd the runtime's timer does.
func TestCoarseTimer(t *testing.T) {
	server := echo(t)
	r, err := Open(Options{Server: local(server), Listen: loopback(), Conditions: both(spec(t, "latency", "5ms"), spec(t, "latency", "1ms"))})
	if err != nil {
		t.Fatal(err)
	}
	r.timer.close()
	r.timer = newCoarseTimer()
	stop := run(t, r)
	client := socket(t)
	for i := range 20 {
		send(t, client, r.Addr(), []byte{byte(i)})
		if got, _ := receive(t, client); got != string(rune(i)) {
			t.Errorf("%d came back as %q", i, got)
		}
	}
	if now := stop(); now.Flows[Down].Out != 20 || now.Flows[Up].Took.Quantile(0) < 5*time.Millisecond {
		t.Errorf("%d came back, up in %v", now.Flows[Down].Out, now.Flows[Up].Took.Quantile(0))
	}
}

// A client that sends to one of many addresses is answered from that one: its socket may be deaf
// to others.
func TestAnswersFromWhereItWasAsked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the system chooses, and 127.0.0.2 is nowhere")
	}
	server := echo(t)
	for _, listen := range []string{"0.0.0.0:0", "[::]:0"} {
		for _, at := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
			t.Run(listen+" "+at, func(t *testing.T) {
				if strings.Contains(listen+at, "::") {
					socket6(t)
				}
				if at == "::1" && listen != "[::]:0" {
					t.Skip("of the other family")
				}
				r, stop := start(t, Options{Listen: netip.MustParseAddrPort(listen), Server: local(server)})
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
