package relay

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// testTimeout limits waits for events that normally happen at once.
const testTimeout = time.Minute

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

// newSocket returns a UDP socket on a loopback address.
func newSocket(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback()))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadBuffer(socketBuffer) // otherwise a busy machine drops datagrams
	t.Cleanup(func() { c.Close() })
	return c
}

func localAddr(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }

// newEchoServer returns a socket that returns every datagram to its sender.
func newEchoServer(t testing.TB) *net.UDPConn {
	c := newSocket(t)
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

// startRelay opens and runs a relay with taps.
func startRelay(t testing.TB, o Options, taps ...Tap) (r *Relay, stop func() Totals) {
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
	return r, runRelay(t, r)
}

// runRelay runs a relay. stop ends it and returns its totals.
func runRelay(t testing.TB, r *Relay) (stop func() Totals) {
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

// waitFor waits until holds returns true for the totals.
func waitFor(t testing.TB, r *Relay, what string, holds func(*Totals) bool) Totals {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(time.Millisecond) {
		now := r.Totals()
		if holds(&now) {
			return now
		}
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for %s; up %v in, %v out; down %v in, %v out", what, now.Flows[Up].In, now.Flows[Up].Out, now.Flows[Down].In, now.Flows[Down].Out)
		}
	}
}

// waitForRoom waits until few of the sent datagrams are in socket buffers, so that the system
// does not drop any. The server must echo.
func waitForRoom(t testing.TB, r *Relay, sent int) {
	t.Helper()
	waitFor(t, r, "room in the buffers", func(now *Totals) bool {
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

// receive waits for a datagram and returns its payload and its sender.
func receive(t testing.TB, c *net.UDPConn) (string, netip.AddrPort) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(testTimeout))
	buf := make([]byte, 1<<16)
	n, from, err := c.ReadFromUDPAddrPort(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n]), from
}

// newSpec returns the default spec with settings given as key, value pairs.
func newSpec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	testkit.Set(t, &s, pairs...)
	return s
}

// constantConditions returns the same conditions for all clients.
func constantConditions(up, down lossmodel.Spec) Conditions {
	return func(Client) (lossmodel.Spec, lossmodel.Spec) { return up, down }
}

// eventCopy is an event with its own copy of the payload.
type eventCopy struct {
	Event
	data string
}

// eventLog stores all events.
type eventLog struct {
	mu     sync.Mutex
	events []eventCopy
}

func (n *eventLog) add(e *Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, eventCopy{*e, string(e.Data)})
}
