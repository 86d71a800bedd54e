package crowd

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/testkit"
)

// charlie is a real recording in the reference data next to the repository.
const charlie = "../../../shared/data/cubes/charlie.bin.zst"

// BenchmarkTick measures a tick on one core: the CPU time that it takes by part, and the memory of a
// client. An operation is one tick.
func BenchmarkTick(b *testing.B) {
	if _, err := os.Stat(charlie); err != nil {
		b.Skipf("the recording %s is not here", charlie)
	}
	for _, encoder := range []string{"relative-orientation", "adaptive", "delta-adaptive", "kinetic-lite"} {
		for _, baseline := range []string{"newest", "every ticks=2"} {
			for _, clients := range []string{"1", "10", "100", "1000", "10000"} {
				policy, _, _ := strings.Cut(baseline, " ")
				b.Run(fmt.Sprintf("%s/%s/clients=%s", encoder, policy, clients), func(b *testing.B) {
					benchmarkTick(b, configure(b, "duration", "1h", "data.source", charlie, "encoder.name", encoder, "crowd.clients", clients,
						"crowd.baseline", baseline, "crowd.rtt", "lognormal median=60ms sigma=0.6 min=20ms max=200ms", "crowd.loss", "uniform max=5%",
						"crowd.jitter", "uniform min=1ms max=10ms"))
				})
			}
		}
	}
}

// BenchmarkBudget measures a tick of clients under a budget on one core: charlie at 20 Hz and 64 kbit/s,
// unless the name says otherwise. The server's work is choose, encode and server.
func BenchmarkBudget(b *testing.B) {
	if _, err := os.Stat(charlie); err != nil {
		b.Skipf("the recording %s is not here", charlie)
	}
	for _, x := range []struct{ encoder, clients, key, value string }{
		{"relative-orientation", "1000", "sender.budget", "64kbit"},
		{"relative-orientation", "1000", "sender.budget", "24kbit"},
		{"relative-orientation", "1000", "sender.budget", "256kbit"},
		{"relative-orientation", "100", "sender.budget", "64kbit"},
		{"relative-orientation", "1000", "crowd.budget", "32mbit"},
		{"adaptive", "1000", "sender.budget", "64kbit"},
		{"delta-adaptive", "100", "sender.budget", "64kbit"},
		{"kinetic-lite", "100", "sender.budget", "64kbit"},
	} {
		b.Run(fmt.Sprintf("%s/clients=%s/%s=%s", x.encoder, x.clients, x.key, x.value), func(b *testing.B) {
			benchmarkTick(b, configure(b, "duration", "1h", "data.source", charlie, "data.loop", "true", "sender.rate_hz", "20", "encoder.name", x.encoder,
				"crowd.clients", x.clients, x.key, x.value, "crowd.rtt", "lognormal median=60ms sigma=0.6 min=20ms max=200ms", "crowd.loss", "uniform max=5%",
				"crowd.jitter", "uniform min=1ms max=10ms"))
		})
	}
}

// benchmarkTick measures b.N ticks of a crowd.
func benchmarkTick(b *testing.B, c *config.Config) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // package testing sets it for each benchmark
	b.ReportAllocs()
	r, err := newSession(b.Context(), c, Options{Clock: testkit.CPUTime})
	if err != nil {
		b.Fatal(err)
	}
	step := func() {
		if err := r.Step(); err != nil {
			b.Fatal(err)
		}
	}
	for range 240 { // the recording begins at rest
		if err := r.source.Next(r.schema.NewFrame()); err != nil {
			b.Fatal(err)
		}
	}
	for range 60 { // acks arrive, and slices grow
		step()
	}
	r.measurements = measurements{}
	for i := range r.shards {
		r.shards[i].timed = engine.CrowdCPU{}
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
	b.ReportMetric(float64(r.elapsed.Sum)/1000/float64(r.packets), "all-µs")
	if r.views == nil {
		b.ReportMetric(float64(r.clientBytes())/float64(c.Crowd.Clients), "B/client")
		return
	}
	b.ReportMetric(t.TickUS.ChooseUS.Or(0), "choose-µs")
	v := r.viewFigures(r.Now())
	b.ReportMetric(v.Encodings.Or(0), "tries")
	before := testkit.HeapBytes()
	for i := range r.shards {
		r.shards[i].filler = nil
		for k := range r.shards[i].clients {
			r.shards[i].clients[k].viewer.sender = nil
		}
	}
	b.ReportMetric(float64(before-testkit.HeapBytes())/float64(c.Crowd.Clients), "B/client")
	runtime.KeepAlive(r)
}

// clientBytes returns the memory of all clients, with what they have in flight.
func (r *session) clientBytes() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		n += len(s.clients)*clientBytes + cap(s.previous)*4 + int(unsafe.Sizeof(*s))
		for _, list := range append(s.packets.slots, s.packets.free...) {
			n += cap(list) * packetBytes
		}
		for _, list := range append(s.acks.slots, s.acks.free...) {
			n += cap(list) * ackBytes
		}
	}
	return n
}
