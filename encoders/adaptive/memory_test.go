package adaptive

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"wirelab/dataset/frame"
)

// randomBytes returns n uniformly distributed bytes of the given number of values, which fill
// statistics fastest.
func randomBytes(kinds, n int) []byte {
	rng := rand.New(rand.NewPCG(2, uint64(kinds)))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rng.IntN(kinds))
	}
	return text
}

// At order 1 an endpoint takes at most 16 kB of statistics and 64 kB in all, whatever is sent.
func TestMemory(t *testing.T) {
	inputs := map[string][]byte{"prose": readDeclaration(t)}
	for _, kinds := range []int{16, 26, 32, 40, 64, 256} {
		inputs[fmt.Sprintf("noise of %d", kinds)] = randomBytes(kinds, 100_000)
	}
	for name, text := range inputs {
		for _, size := range []int{500, 4000} {
			p := defaults()
			p.MinBatches = 1 + size/4000
			k := newConversation(t, p, 3)
			k.sendText(text[:min(len(text), 30*10*size/3)], size, 1)
			for _, e := range []*endpoint{&k.sender.endpoint, &k.receiver.endpoint} {
				statistics, all := e.gauges()[1].Value, e.gauges()[2].Value
				if statistics > 16<<10 || all > 64<<10 {
					t.Errorf("%s by %d: %.0f bytes of statistics, %.0f in all", name, size, statistics, all)
				}
			}
		}
	}
}

// The memory that the gauges report agrees with the heap.
func TestMemoryOnTheHeap(t *testing.T) {
	const clients = 24
	text := readDeclaration(t)
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	newSender(defaults()) // decodes the pretrained model, which is shared
	before := heap()
	talks := make([]*conversation, clients)
	reported := 0
	for i := range talks {
		talks[i] = newConversation(t, defaults(), uint64(i))
		talks[i].sendText(text, 400, 3)
		talks[i].packets, talks[i].reports = nil, nil
		for _, e := range []*endpoint{&talks[i].sender.endpoint, &talks[i].receiver.endpoint} {
			reported += int(e.gauges()[2].Value)
		}
	}
	took := heap() - before
	runtime.KeepAlive(talks)
	t.Logf("%d clients, both ends: %d bytes each, %d on the heap", clients, reported/clients, took/clients)
	if took < reported*9/10 || took > reported*12/10+clients*4096 {
		t.Errorf("%d bytes are on the heap; the gauges report %d", took, reported)
	}
}

// Statistics by batch take less than a third of the memory of statistics by message, as the article
// keeps them.
func TestBatchesSaveMemory(t *testing.T) {
	text := readDeclaration(t)
	k := newConversation(t, defaults(), 1)
	k.lossUp = 1 // nothing is asked for, everything waits
	const size = 500
	k.sendText(text, size, 4)
	s := &k.sender.batches
	byBatch, byMessage, messages := 0, 0, 0
	for i := range s.entries {
		b := &s.entries[i]
		byBatch += 4 * len(b.counts)
		for place := range s.size {
			if b.used && b.counted>>place&1 == 1 {
				perRound := (len(text) + size - 1) / size
				n := (int(b.id)*s.size + place) % perRound
				one, _ := s.countChunk(nil, startContext, text[n*size:min(len(text), (n+1)*size)])
				byMessage, messages = byMessage+4*len(one), messages+1
			}
		}
	}
	t.Logf("%d messages pending: %d bytes by batch, %d by message", messages, byBatch, byMessage)
	if messages < (maxAge+1)*s.size-s.size || byMessage < 3*byBatch {
		t.Errorf("%d messages pending: %d bytes by batch, %d by message", messages, byBatch, byMessage)
	}
}

// BenchmarkClients measures a thousand clients at 1 kB/s each, both endpoints in one process. One
// operation is one second of all clients. The memory is that of one endpoint, on the heap.
func BenchmarkClients(b *testing.B) {
	text := readDeclaration(b)
	for order := range numOrders {
		b.Run(fmt.Sprintf("order%d", order), func(b *testing.B) {
			p := defaults()
			p.Order = order
			type client struct {
				s *sender
				r *receiver
			}
			clients := make([]client, 1000)
			newSender(p)
			var was, is runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&was)
			for i := range clients {
				clients[i] = client{newSender(p), newReceiver(p)}
			}
			var buf, report []byte
			f, got := &frame.Frame{}, &frame.Frame{}
			second := func() {
				for range 2 {
					for _, c := range clients {
						at := int(f.Tick) * 500 % (len(text) - 500)
						f.Body = append(f.Body[:0], text[at:at+500]...)
						buf, _, _ = c.s.Encode(buf[:0], f, nil, nil, nil)
						got.Tick = f.Tick
						if _, err := c.r.Decode(got, buf, nil, nil); err != nil {
							b.Fatal(err)
						}
						report = c.r.Report(report[:0])
						_ = c.s.Learn(report)
					}
					f.Tick++
				}
			}
			for range 50 { // until every client has all its models and batches
				second()
			}
			for b.Loop() {
				second()
			}
			runtime.GC()
			runtime.ReadMemStats(&is)
			b.ReportMetric(float64(is.HeapAlloc-was.HeapAlloc)/2/float64(len(clients)), "bytes/end")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(2*len(clients)), "us/message")
			runtime.KeepAlive(clients)
		})
	}
}

// BenchmarkMessage measures one message of 500 bytes, encoded and decoded, in a long conversation.
func BenchmarkMessage(b *testing.B) {
	text := readDeclaration(b)
	for order := range numOrders {
		b.Run(fmt.Sprintf("order%d", order), func(b *testing.B) {
			p := defaults()
			p.Order = order
			s, r := newSender(p), newReceiver(p)
			var buf, report []byte
			f, got := &frame.Frame{}, &frame.Frame{}
			b.ReportAllocs()
			b.SetBytes(500)
			for b.Loop() {
				f.Tick++
				got.Tick = f.Tick
				at := int(f.Tick) * 500 % (len(text) - 500)
				f.Body = append(f.Body[:0], text[at:at+500]...)
				buf, _, _ = s.Encode(buf[:0], f, nil, nil, nil)
				if _, err := r.Decode(got, buf, nil, nil); err != nil {
					b.Fatal(err)
				}
				report = r.Report(report[:0])
				_ = s.Learn(report)
			}
		})
	}
}
