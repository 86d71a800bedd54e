package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// BenchmarkFill measures what packets under a budget cost a server: Advance, the acks, and a call of Fill for each client.
// cpu-ns/packet is the CPU time of the process. charlie, 901 cubes, 2 % loss each way. An operation is one packet of a session at 60 Hz, whose acks arrive after 4
// ticks, or one tick of a crowd at 20 Hz with round trips of 1 to 4 ticks.
func BenchmarkFill(b *testing.B) {
	for _, kbps := range []int{24, 64, 128, 256} {
		for _, name := range []string{"relative-orientation", "adaptive"} {
			b.Run(fmt.Sprintf("%s/kbps=%d", name, kbps), func(b *testing.B) { newLoad(b, name, 1, 1, 300, kbps, 2).benchmark(b) })
		}
	}
	b.Run("crowd", func(b *testing.B) { newLoad(b, "relative-orientation", 1000, 3, 60, 64, 2).benchmark(b) })
}

// load is what a server does for some clients, with the acks that it receives.
type load struct {
	schema  *frame.Schema
	codec   *encoders.Codec
	clients int
	limit   int // bytes of a payload
	frames  []*frame.Frame
	changed []frame.Rows
	acks    [][][]byte // that arrive before packet n of client c, at n*clients+c
}

// newLoad simulates the clients for some ticks. The packets contain every stride-th frame, and losePercent of the packets
// and acks are lost.
func newLoad(t testing.TB, codec string, clients, stride, ticks, kbps, losePercent int) *load {
	src, err := dataset.Open(t.Context(), testkit.DataFile(t, "cubes/charlie.bin.zst"), dataset.Options{Loop: true})
	if err != nil {
		t.Fatal(err)
	}
	l := &load{schema: src.Schema(), clients: clients, limit: kbps*1000*stride/60/8 - 5}
	if l.codec, err = table.ByName(codec); err != nil {
		t.Fatal(err)
	}
	for n := range 300 + ticks*stride {
		f := l.schema.NewFrame()
		if err := src.Next(f); err != nil {
			t.Fatal(err)
		}
		if n >= 300 && n%stride == 0 {
			f.Tick = uint32(len(l.frames))
			l.frames = append(l.frames, f)
		}
	}
	for i, f := range l.frames {
		l.changed = append(l.changed, frame.NewRows(l.schema.Rows))
		l.changed[i].SetDiffering(f.Table, l.frames[max(0, i-1)].Table, len(l.schema.Fields))
	}
	l.acks = make([][][]byte, len(l.frames)*clients)
	l.simulate(t, losePercent)
	return l
}

// simulate sets acks.
func (l *load) simulate(t testing.TB, losePercent int) {
	_, dec, err := l.codec.New(l.schema, l.codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	clients := make([]*Client, l.clients)
	for c := range clients {
		clients[c] = NewClient(l.schema, l.frames[0])
	}
	got := l.schema.NewFrame()
	r := newServing(t, l)
	for n := range l.frames {
		r.advance(n)
		for c, client := range clients {
			p := r.packet(t, n, c)
			if rng.IntN(100) < losePercent {
				continue
			}
			ref, _ := client.Reference(p.Ack, 0, 0)
			got.Tick = l.frames[n].Tick
			memo, err := dec.Decode(got, p.Payload, []encoders.Ref{ref}, client.SpareMemo(0))
			if err != nil || !got.Equal(p.View) {
				t.Fatal("wrong", err)
			}
			client.Apply(uint64(n), p.Ack, got, memo, 0)
			roundTrip := 4
			if l.clients > 1 {
				roundTrip = 1 + c%4
			}
			if at := (n+roundTrip)*l.clients + c; at < len(l.acks) && rng.IntN(100) >= losePercent {
				l.acks[at] = append(l.acks[at], slices.Clone(client.AppendAck(nil, 0)))
			}
		}
	}
}

// serving is the server of a load.
type serving struct {
	*load
	encoder         encoders.Encoder
	filler          *Filler
	servers         []*Server
	rows, encodings int
	bytes, full     int // of payloads that left rows out, and the number of these
}

func newServing(t testing.TB, l *load) *serving {
	enc, _, err := l.codec.New(l.schema, l.codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	r := &serving{load: l, encoder: enc, filler: NewFiller(l.schema)}
	for range l.clients {
		r.servers = append(r.servers, NewServer(r.filler, l.frames[0]))
	}
	return r
}

func (r *serving) advance(n int) { r.filler.Advance(r.frames[n], r.changed[n]) }

// packet handles the acks of client c, and makes its packet n.
func (r *serving) packet(t testing.TB, n, c int) Packet {
	s := r.servers[c]
	for _, ack := range r.acks[n*r.clients+c] {
		if _, err := s.HandleAck(ack); err != nil {
			t.Fatal(err)
		}
	}
	acked, _ := s.Acked()
	p, err := r.filler.Fill(s, uint64(n), Coding{Encoder: r.encoder, Tick: r.frames[n].Tick, RefTick: r.frames[acked].Tick}, r.limit, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.rows, r.encodings = r.rows+p.Rows, r.encodings+p.Encodings
	if p.Left > 0 {
		r.bytes, r.full = r.bytes+len(p.Payload), r.full+1
	}
	return p
}

// benchmark serves the clients for b.N ticks. The first third of each repetition is not timed.
func (l *load) benchmark(b *testing.B) {
	b.ReportAllocs()
	rows, encodings, bytes, full, cpu := 0, 0, 0, 0, time.Duration(0)
	b.ResetTimer()
	for done := 0; done < b.N; {
		b.StopTimer()
		r, started := newServing(b, l), time.Duration(0)
		for n := 0; n < len(l.frames) && done < b.N; n++ {
			if n == len(l.frames)/3 {
				r.rows, r.encodings, r.bytes, r.full = 0, 0, 0, 0
				started = testkit.CPUTime()
				b.StartTimer()
			}
			r.advance(n)
			for c := range r.servers {
				r.packet(b, n, c)
			}
			if n >= len(l.frames)/3 {
				done++
			}
		}
		bytes, full = bytes+r.bytes, full+r.full
		rows, encodings, cpu = rows+r.rows, encodings+r.encodings, cpu+testkit.CPUTime()-started
	}
	packets := float64(b.N * l.clients)
	b.ReportMetric(float64(cpu.Nanoseconds())/packets, "cpu-ns/packet")
	b.ReportMetric(float64(rows)/packets, "rows/packet")
	b.ReportMetric(float64(encodings)/packets, "encodings/packet")
	b.ReportMetric(float64(bytes)/float64(max(full*l.limit, 1)), "full")
}
