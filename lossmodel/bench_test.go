package lossmodel

import (
	"fmt"
	"testing"
	"time"

	"wirelab/internal/seed"
)

// benchmarkLink sends and receives b.N packets of 450 bytes, one a millisecond.
func benchmarkLink(b *testing.B, spec Spec) {
	l := linkOf(b, spec, 1)
	data := make([]byte, 450)
	now := time.Duration(0)
	step := func() {
		now += ms
		l.Send(now, data, 0)
		for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
		}
	}
	for range 10_000 {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func BenchmarkPerfectLink(b *testing.B)     { benchmarkLink(b, DefaultSpec()) }
func BenchmarkFullPipeline(b *testing.B)    { benchmarkLink(b, everything(b)) }
func BenchmarkFullestPipeline(b *testing.B) { benchmarkLink(b, fullest(b)) }

// BenchmarkModels shows what each model costs by itself.
func BenchmarkModels(b *testing.B) {
	for _, pairs := range [][]string{
		{"loss", "5%"}, {"loss", "gilbert mean=5% burst=2"}, {"loss", "gilbert-elliott p=1% r=20% h=50%"},
		{"loss", "four-state p13=1% p31=20%"}, {"loss", "pattern bits=0001"}, {"trace", "capture.csv"}, {"trace", "capture.csv by=time"},
		{"distribution", "normal"}, {"distribution", "pareto"}, {"distribution", "paretonormal"}, {"distribution", "exponential"},
		{"distribution", "gamma", "jitter_shape", "16"}, {"distribution", "table", "delay_table", "-1 0 3"},
		{"rate", "50mbit"}, {"rate_trace", "line.trace"}, {"corrupt_ber", "1e-06"}, {"reorder", "5%", "reorder_distance", "3"},
	} {
		b.Run(fmt.Sprint(pairs), func(b *testing.B) {
			if pairs[0] == "distribution" {
				pairs = append(pairs, "latency", "50ms±10ms")
			}
			benchmarkLink(b, specOf(b, pairs...))
		})
	}
}

// BenchmarkMillionInFlight sends a packet and receives one while n are under way:
// the time must grow like the depth of the heap, not like n.
func BenchmarkMillionInFlight(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := linkOf(b, specOf(b, "latency", "1000s", "jitter", "1000s"), 1)
			data := make([]byte, 16)
			for range n {
				l.Send(0, data, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				due, _ := l.Next()
				l.Receive(due)
				l.Send(max(due-500*time.Second, l.now), data, 0)
			}
		})
	}
}

func BenchmarkHeap(b *testing.B) {
	var h heap
	for i := range uint64(10_000) {
		h.push(entry{due: int64(seed.Derive(i, 0) >> 20), seq: i})
	}
	seq := uint64(len(h))
	for b.Loop() {
		e := h.pop()
		h.push(entry{due: e.due + int64(seed.Derive(seq, 0)>>20), seq: seq})
		seq++
	}
}

func BenchmarkSet(b *testing.B) {
	s := DefaultSpec()
	for b.Loop() {
		if err := s.Set("latency", "50ms±10ms"); err != nil {
			b.Fatal(err)
		}
	}
}
