package relay

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// patience bounds waits that end as soon as what is waited for happens.
const patience = 30 * time.Second

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

func socket(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback()))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadBuffer(socketBuffer) // what a machine is too busy to read in time, the system drops
	t.Cleanup(func() { c.Close() })
	return c
}

func local(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }

// echo answers every datagram with itself.
func echo(t testing.TB) *net.UDPConn {
	c := socket(t)
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	return c
}

// start opens and runs a relay.
func start(t testing.TB, o Options, taps ...Tap) (r *Relay, stop func() Totals) {
	t.Helper()
	if !o.Listen.IsValid() {
		o.Listen = loopback()
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, tap := range taps {
		r.Tap(tap)
	}
	return r, run(t, r)
}

// run runs a relay; stop ends it and returns what it counted.
func run(t testing.TB, r *Relay) (stop func() Totals) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	var once sync.Once
	stop = func() Totals {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return r.Totals()
	}
	t.Cleanup(func() { stop() })
	return stop
}

// until waits for a condition on the totals.
func until(t testing.TB, r *Relay, what string, holds func(*Totals) bool) Totals {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		now := r.Totals()
		if holds(&now) {
			return now
		}
		if time.Now().After(end) {
			t.Fatalf("never came: %s; up %v %v, down %v %v", what, now.Flows[Up].In, now.Flows[Up].Out, now.Flows[Down].In, now.Flows[Down].Out)
		}
	}
}

// paced waits until few of the datagrams that were sent are in buffers of the system, which
// drops what it has no room for. The server echoes.
func paced(t testing.TB, r *Relay, sent int) {
	t.Helper()
	until(t, r, "room in the buffers", func(now *Totals) bool {
		up, down := &now.Flows[Up], &now.Flows[Down]
		return up.In == uint64(sent) && up.Out < down.In+30
	})
}

func send(t testing.TB, c *net.UDPConn, to netip.AddrPort, data []byte) {
	t.Helper()
	if _, err := c.WriteToUDPAddrPort(data, to); err != nil {
		t.Fatal(err)
	}
}

func receive(t testing.TB, c *net.UDPConn) (string, netip.AddrPort) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, 1<<16)
	n, from, err := c.ReadFromUDPAddrPort(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n]), from
}

// spec sets keys of a link: key, value, key, value.
func spec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// both is the conditions that all clients share.
func both(up, down lossmodel.Spec) Conditions {
	return func(Client) (lossmodel.Spec, lossmodel.Spec) { return up, down }
}

// note is an event with bytes of its own.
type note struct {
	Event
	data string
}

// notebook keeps all events.
type notebook struct {
	mu    sync.Mutex
	notes []note
}

func (n *notebook) tap(e *Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, note{*e, string(e.Data)})
}
