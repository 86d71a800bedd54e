package relay

import (
	"net"
	"testing"
	"time"
)

// BenchmarkForward puts the relay beside a bare loop of a read and a write, in turns, so
// that whatever else the machine does happens to all of them. Only the forwarding is
// timed: 32 datagrams of 1200 bytes wait in the socket before it begins. x-of-bare is how
// many datagrams a second go through for each of the bare loop; what the pipeline holds
// back leaves with those after it.
func BenchmarkForward(b *testing.B) {
	bare := newForwarder(b, Options{})
	pipeline := Options{Conditions: both(spec(b, "loss", "1%", "burst", "2", "duplicate", "0.1%",
		"corrupt", "0.1%", "rate", "10gbit", "queue", "1MB", "reorder", "0.1%", "latency", "1us", "jitter", "1us"), spec(b))}
	ways := []struct {
		name string
		f    *forwarder
	}{
		{"nothing", newForwarder(b, Options{})},
		{"pipeline", newForwarder(b, pipeline)},
		{"nothing-seen", newForwarder(b, Options{})}, // as with the dashboard
		{"pipeline-seen", newForwarder(b, pipeline)},
	}
	for _, w := range ways[2:] {
		w.f.r.Tap(NewRecent(2048).Tap)
	}
	var base time.Duration
	took := make([]time.Duration, len(ways))
	for n := range b.N {
		base += bare.bare(b)
		for i := range ways { // in another order each time: the first is not as warm as the last
			i = (i + n) % len(ways)
			took[i] += ways[i].f.relayed(b)
		}
	}
	b.ReportMetric(float64(base.Nanoseconds())/float64(b.N*burst), "bare-ns/datagram")
	for i, w := range ways {
		b.ReportMetric(base.Seconds()/took[i].Seconds(), w.name+"-of-bare")
	}
	b.ReportMetric(0, "ns/op")
}

const burst = 32

// forwarder is a client, a server and what is between them.
type forwarder struct {
	r            *Relay
	client, sink *net.UDPConn
	out          *net.UDPConn
	buf, data    []byte
}

func newForwarder(b *testing.B, o Options) *forwarder {
	f := &forwarder{client: socket(b), sink: socket(b), buf: make([]byte, 1<<16), data: make([]byte, 1200)}
	o.Listen, o.Server = loopback(), local(f.sink)
	var err error
	if f.r, err = Open(o); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.r.listen.Close(); f.r.timer.close() })
	if f.out, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(local(f.sink))); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.out.Close() })
	return f
}

func (f *forwarder) fill(b *testing.B) {
	for range burst {
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

func (f *forwarder) bare(b *testing.B) time.Duration {
	f.fill(b)
	begin := time.Now()
	for range burst {
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

func (f *forwarder) relayed(b *testing.B) time.Duration {
	f.fill(b)
	begin := time.Now()
	for range burst {
		if !f.r.readClient(f.buf) {
			b.Fatal("the relay ended")
		}
	}
	took := time.Since(begin)
	f.drain()
	return took
}
