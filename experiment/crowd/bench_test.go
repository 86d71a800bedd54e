//go:build unix

package crowd

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// charlie is a real recording in the reference data next to the repository.
const charlie = "../../../shared/data/cubes/charlie.bin.zst"

// cpuTime returns the CPU time of this process, which other processes on the machine hardly change.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTick measures a tick on one core: the CPU time that it takes by part, and the memory of a client. An operation
// is one tick.
func BenchmarkTick(b *testing.B) {
	if _, err := os.Stat(charlie); err != nil {
		b.Skipf("the recording %s is not here", charlie)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, encoder := range []string{"relative-orientation", "adaptive", "delta-adaptive", "kinetic-lite"} {
		for _, clients := range []string{"1", "10", "100", "1000", "10000"} {
			for _, share := range []string{"true", "false"} {
				if share == "false" && (clients == "10000" || encoder != "relative-orientation" && clients == "1000") {
					continue
				}
				b.Run(fmt.Sprintf("%s/clients=%s/share=%s", encoder, clients, share), func(b *testing.B) {
					b.ReportAllocs()
					c := configure(b, "duration", "1h", "data.source", charlie, "encoder.name", encoder, "crowd.clients", clients, "crowd.share", share,
						"crowd.rtt", "lognormal median=60ms sigma=0.6 min=20ms max=200ms", "crowd.loss", "uniform max=5%", "crowd.jitter", "uniform min=1ms max=10ms")
					if encoder != "relative-orientation" {
						if err := c.Set("crowd.baseline", "anchors every=2 root=16"); err != nil {
							b.Fatal(err)
						}
					}
					r, err := NewSession(b.Context(), c, Options{Clock: cpuTime})
					if err != nil {
						b.Fatal(err)
					}
					step := func() {
						if err := r.Step(); err != nil {
							b.Fatal(err)
						}
					}
					for range 240 { // the recording begins at rest, and slices grow
						step()
					}
					r.measurements = measurements{}
					for i := range r.shards {
						r.shards[i].timed.server, r.shards[i].timed.clients = 0, 0
					}
					b.ResetTimer()
					for range b.N {
						step()
					}
					t := r.timing()
					b.ReportMetric(float64(r.encodingSum)/float64(r.packets), "encodings/op")
					b.ReportMetric(float64(r.sizes.Sum)/float64(r.sizes.N), "payload-B")
					b.ReportMetric(t.TickUS.EncodeUS.Or(0), "encode-µs")
					b.ReportMetric(t.TickUS.ServerUS.Or(0), "server-µs")
					b.ReportMetric(t.TickUS.ClientsUS.Or(0), "clients-µs")
					b.ReportMetric(t.TickUS.DecodeUS.Or(0), "decode-µs")
					b.ReportMetric(float64(r.elapsed.sum)/1000/float64(r.packets), "all-µs")
					b.ReportMetric(float64(r.clientBytes())/float64(c.Crowd.Clients), "B/client")
				})
			}
		}
	}
}

// clientBytes returns the memory of all clients, with what they have in flight.
func (r *Session) clientBytes() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		n += len(s.targets)*clientBytes + cap(s.previous)*4 + int(unsafe.Sizeof(*s))
		for _, list := range append(s.packets.slots, s.packets.free...) {
			n += cap(list) * packetBytes
		}
		for _, list := range append(s.acks.slots, s.acks.free...) {
			n += cap(list) * ackBytes
		}
	}
	return n
}
