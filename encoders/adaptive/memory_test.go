package adaptive

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"wirelab/dataset/frame"
)

// noise is bytes of so many kinds, all alike: what fills statistics the fastest.
func noise(kinds, n int) []byte {
	rng := rand.New(rand.NewPCG(2, uint64(kinds)))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rng.IntN(kinds))
	}
	return text
}

// A client takes no more than it may at order 1, whatever is sent: 16 kB of statistics,
// 64 kB in all. Only try_all keeps a packet besides.
func TestMemory(t *testing.T) {
	inputs := map[string][]byte{"prose": prose(t)}
	for _, kinds := range []int{16, 26, 32, 40, 64, 256} {
		inputs[fmt.Sprintf("noise of %d", kinds)] = noise(kinds, 100_000)
	}
	for name, text := range inputs {
		for _, size := range []int{500, 4000} {
			p := defaults()
			p.Ask = 1 + size/4000
			k := newTalk(t, p, 3)
			k.say(text[:min(len(text), 30*10*size/3)], size, 1)
			for _, e := range []*endpoint{&k.snd.endpoint, &k.rcv.endpoint} {
				statistics, all := e.gauges()[1].Value, e.gauges()[2].Value
				if statistics > 16<<10 || all > 64<<10 {
					t.Errorf("%s by %d: %.0f bytes of statistics, %.0f in all", name, size, statistics, all)
				}
			}
		}
	}
}

// What an end says of its memory is what the heap says.
func TestMemoryOnTheHeap(t *testing.T) {
	const clients = 24
	text := prose(t)
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	newSender(defaults()) // the trained model is shared, and read once
	before := heap()
	talks := make([]*talk, clients)
	said := 0
	for i := range talks {
		talks[i] = newTalk(t, defaults(), uint64(i))
		talks[i].say(text, 400, 3)
		talks[i].packets, talks[i].reports = nil, nil
		for _, e := range []*endpoint{&talks[i].snd.endpoint, &talks[i].rcv.endpoint} {
			said += int(e.gauges()[2].Value)
		}
	}
	took := heap() - before
	runtime.KeepAlive(talks)
	t.Logf("%d clients, both ends: %d bytes each, %d on the heap", clients, said/clients, took/clients)
	if took < said*9/10 || took > said*12/10+clients*4096 {
		t.Errorf("%d bytes are on the heap; the ends speak of %d", took, said)
	}
}

// What statistics by batch save: kept by message, as in the article, those of the same
// messages take four times the memory and more.
func TestStatisticsByBatch(t *testing.T) {
	text := prose(t)
	k := newTalk(t, defaults(), 1)
	k.up = 1 // nothing is asked for, everything waits
	const size = 500
	k.say(text, size, 4)
	s := &k.snd.batches
	byBatch, byMessage, messages := 0, 0, 0
	for i := range s.all {
		b := &s.all[i]
		byBatch += 4 * len(b.sums)
		for place := range s.size {
			if b.used && b.seen>>place&1 == 1 {
				perRound := (len(text) + size - 1) / size
				n := (int(b.id)*s.size + place) % perRound
				one, _ := s.of(nil, start, text[n*size:min(len(text), (n+1)*size)])
				byMessage, messages = byMessage+4*len(one), messages+1
			}
		}
	}
	t.Logf("%d messages wait: %d bytes by batch, %d by message", messages, byBatch, byMessage)
	if messages < (maxAge+1)*s.size-s.size || byMessage < 3*byBatch {
		t.Errorf("%d messages wait: %d bytes by batch, %d by message", messages, byBatch, byMessage)
	}
}

// BenchmarkClients is a server that speaks with a thousand clients at 1 kB a second
// each, both ends in one process: an operation is one second of all of them. The
// memory is an end's, as the heap has it.
func BenchmarkClients(b *testing.B) {
	text := prose(b)
	for order := range orders {
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

// BenchmarkMessage is one message of 500 bytes, both ends, in a conversation that has
// lasted.
func BenchmarkMessage(b *testing.B) {
	text := prose(b)
	for order := range orders {
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
