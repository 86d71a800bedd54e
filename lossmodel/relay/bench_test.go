package relay

import (
	"net"
	"testing"
	"time"
)

// BenchmarkForward compares the relay with a bare loop of a read and a write. The variants run in
// turns, so that other load on the machine affects all of them. Only forwarding is timed: 32
// datagrams of 1200 bytes wait in the socket. The metric NAME-of-bare is the rate relative to the
// bare loop.
func BenchmarkForward(b *testing.B) {
	bare := newForwarder(b, Options{})
	pipeline := Options{Conditions: constantConditions(newSpec(b, "loss", "1%", "burst", "2", "duplicate", "0.1%",
		"corrupt", "0.1%", "rate", "10gbit", "queue", "1MB", "reorder", "0.1%", "latency", "1us", "jitter", "1us"), newSpec(b))}
	ways := []struct {
		name string
		f    *forwarder
	}{
		{"nothing", newForwarder(b, Options{})},
		{"pipeline", newForwarder(b, pipeline)},
		{"nothing-seen", newForwarder(b, Options{})}, // with a Recent, as the dashboard uses
		{"pipeline-seen", newForwarder(b, pipeline)},
	}
	for _, w := range ways[2:] {
		w.f.r.Tap(NewRecent(2048).Tap)
	}
	var base time.Duration
	took := make([]time.Duration, len(ways))
	for n := range b.N {
		base += bare.forwardBare(b)
		for i := range ways { // rotated order: the first variant runs with colder caches
			i = (i + n) % len(ways)
			took[i] += ways[i].f.forwardRelayed(b)
		}
	}
	b.ReportMetric(float64(base.Nanoseconds())/float64(b.N*batchSize), "bare-ns/datagram")
	for i, w := range ways {
		b.ReportMetric(base.Seconds()/took[i].Seconds(), w.name+"-of-bare")
	}
	b.ReportMetric(0, "ns/op")
}

const batchSize = 32

// forwarder is a relay with a client and a server.
type forwarder struct {
	r            *Relay
	client, sink *net.UDPConn
	out          *net.UDPConn
	buf, data    []byte
}

// newForwarder opens a relay that is not run.
func newForwarder(b *testing.B, o Options) *forwarder {
	f := &forwarder{client: newSocket(b), sink: newSocket(b), buf: make([]byte, 1<<16), data: make([]byte, 1200)}
	o.Listen, o.Server = loopback(), localAddr(f.sink)
	var err error
	if f.r, err = Open(o); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.r.listen.Close(); f.r.timer.close() })
	if f.out, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(localAddr(f.sink))); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.out.Close() })
	return f
}

// fill sends a batch of datagrams to the relay.
func (f *forwarder) fill(b *testing.B) {
	for range batchSize {
		send(b, f.client, f.r.Addr(), f.data)
	}
}

// drain empties the server's socket.
func (f *forwarder) drain() {
	_ = f.sink.SetReadDeadline(time.Now().Add(100 * time.Microsecond))
	for {
		if _, err := f.sink.Read(f.buf); err != nil {
			return
		}
	}
}

// forwardBare forwards a batch without the relay and returns the time it took.
func (f *forwarder) forwardBare(b *testing.B) time.Duration {
	f.fill(b)
	begin := time.Now()
	for range batchSize {
		n, _, err := f.r.listen.ReadFromUDPAddrPort(f.buf)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.out.Write(f.buf[:n]); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(begin)
	f.drain()
	return took
}

// forwardRelayed forwards a batch through the relay and returns the time it took.
func (f *forwarder) forwardRelayed(b *testing.B) time.Duration {
	f.fill(b)
	begin := time.Now()
	for range batchSize {
		if !f.r.readClient(f.buf) {
			b.Fatal("the relay ended")
		}
	}
	took := time.Since(begin)
	f.drain()
	return took
}
