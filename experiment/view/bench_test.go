package view

import (
	"fmt"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// BenchmarkFill measures what a packet to one client costs a server: an ack and a call of Fill. charlie, 901 cubes,
// 60 Hz, acks after 4 ticks. An operation is one packet.
func BenchmarkFill(b *testing.B) {
	src, err := dataset.Open(b.Context(), testkit.DataFile(b, "cubes/charlie.bin.zst"), dataset.Options{Loop: true})
	if err != nil {
		b.Fatal(err)
	}
	var frames []*frame.Frame
	for range 1200 {
		f := src.Schema().NewFrame()
		if err := src.Next(f); err != nil {
			b.Fatal(err)
		}
		f.Tick = uint32(len(frames))
		frames = append(frames, f)
	}
	frames = frames[300:]
	for _, kbps := range []int{24, 64, 128, 256} {
		for _, name := range []string{"relative-orientation", "adaptive"} {
			b.Run(fmt.Sprintf("%s/kbps=%d", name, kbps), func(b *testing.B) { benchmarkFill(b, src.Schema(), frames, name, kbps*1000/60/8-5) })
		}
	}
}

func benchmarkFill(b *testing.B, s *frame.Schema, frames []*frame.Frame, name string, limit int) {
	codec, err := table.ByName(name)
	if err != nil {
		b.Fatal(err)
	}
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	filler, client := NewFiller(s), NewClient(s, frames[0])
	server := NewServer(filler, frames[0])
	changed := make([]frame.Rows, len(frames))
	for i := range frames {
		changed[i] = frame.NewRows(s.Rows)
		changed[i].SetDiffering(frames[i].Table, frames[max(0, i-1)].Table, len(s.Fields))
	}
	var acks [5][]byte
	got := s.NewFrame()
	rows, encodings := 0, 0
	b.ReportAllocs()
	step := func(n int) {
		cur := frames[n%len(frames)]
		if ack := acks[(n+1)%5]; len(ack) > 0 {
			if _, err := server.HandleAck(ack); err != nil {
				b.Fatal(err)
			}
		}
		filler.Advance(cur, changed[n%len(frames)])
		acked, _ := server.Acked()
		coding := Coding{Encoder: enc, Tick: cur.Tick, RefTick: frames[int(acked)%len(frames)].Tick}
		p, err := filler.Fill(server, uint64(n), coding, limit, nil)
		if err != nil {
			b.Fatal(err)
		}
		rows, encodings = rows+p.Rows, encodings+p.Encodings
		b.StopTimer()
		ref, _ := client.Reference(p.Ack, 0, frames[0].Tick)
		got.Tick = cur.Tick
		memo, err := dec.Decode(got, p.Payload, []encoders.Ref{ref}, client.SpareMemo(0))
		if err != nil || !got.Equal(p.View) {
			b.Fatal("wrong", err)
		}
		client.Apply(uint64(n), p.Ack, got, memo, 0)
		acks[n%5] = client.AppendAck(acks[n%5][:0], 0)
		b.StartTimer()
	}
	for n := range 100 {
		step(n)
	}
	rows, encodings = 0, 0
	b.ResetTimer()
	for n := range b.N {
		step(100 + n)
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
	b.ReportMetric(float64(encodings)/float64(b.N), "encodings/op")
}
