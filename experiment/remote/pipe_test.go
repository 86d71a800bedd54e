package remote

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	nearAddr = netip.MustParseAddrPort("192.0.2.1:1000")
	endAddr  = netip.MustParseAddrPort("192.0.2.2:1000")
)

// newPipe returns both sides of a connection within this process. Datagrams are dropped and swapped with
// their successor, each with probability loss.
func newPipe(t *testing.T, loss float64) (near, end *Conn) {
	t.Helper()
	near, end = newStoppedPipe(t, loss)
	near.start(time.Minute)
	end.start(time.Minute)
	t.Cleanup(func() { _, _ = near.Close(), end.Close() })
	return near, end
}

// newStoppedPipe is newPipe without goroutines, so messages stay queued.
func newStoppedPipe(t *testing.T, loss float64) (near, end *Conn) {
	a, b := net.Pipe()
	keys := make([]byte, keyMaterial)
	keys[0] = 1
	near, end = newConn(t.Context(), a, &meteredConn{}, keys, SessionPurpose, true), newConn(t.Context(), b, &meteredConn{}, keys, SessionPurpose, false)
	near.write = lossyWrite(end, nearAddr, loss)
	end.write = lossyWrite(near, endAddr, loss)
	return near, end
}

// lossyWrite returns a function that delivers datagrams to a connection.
func lossyWrite(to *Conn, from netip.AddrPort, loss float64) func(b []byte) error {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, uint64(from.Addr().As4()[3])))
	var held []byte
	return func(b []byte) error {
		mu.Lock()
		lost, hold := rng.Float64() < loss, rng.Float64() < loss
		deliver := [][]byte{b, held}
		held = nil
		if hold {
			deliver, held = deliver[1:], slices.Clone(b)
		}
		mu.Unlock()
		for _, b := range deliver {
			if !lost && b != nil {
				to.handleDatagram(b, from, time.Now())
			}
		}
		return nil
	}
}

// newTestListener starts a listener on a loopback address.
func newTestListener(t *testing.T, o Options) (*Listener, *Identity) {
	t.Helper()
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), id, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, id
}

// dialListener returns both sides of a connection over sockets.
func dialListener(t *testing.T, l *Listener, id *Identity, purpose Purpose) (near, end *Conn) {
	t.Helper()
	near, err := Dial(t.Context(), l.Addr(), id.Token(), purpose)
	if err != nil {
		t.Fatal(err)
	}
	end, err = l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), end.Close() })
	return near, end
}
