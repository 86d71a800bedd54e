package lossmodel

import (
	"fmt"
	"testing"
	"time"

	"wirelab/internal/seed"
)

// newStepper returns a function that sends a packet of size bytes at the end of each interval, and receives what has arrived.
func newStepper(l *Link, interval time.Duration, size int) func() {
	now, data := time.Duration(0), make([]byte, size)
	return func() {
		now += interval
		l.Send(now, data, 0)
		for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
		}
	}
}

// benchmarkLink sends and receives b.N packets of 450 bytes at 1 ms intervals.
func benchmarkLink(b *testing.B, spec Spec) {
	l := newLink(b, spec, 1)
	step := newStepper(l, ms, 450)
	for range 10_000 {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func BenchmarkPerfectLink(b *testing.B)     { benchmarkLink(b, DefaultSpec()) }
func BenchmarkFullPipeline(b *testing.B)    { benchmarkLink(b, allStagesSpec(b)) }
func BenchmarkFullestPipeline(b *testing.B) { benchmarkLink(b, allFeaturesSpec(b)) }

// BenchmarkModels measures each model alone.
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
			benchmarkLink(b, newSpec(b, pairs...))
		})
	}
}

// BenchmarkMillionInFlight sends and receives a packet with n packets in flight. The time must
// grow with log n.
func BenchmarkMillionInFlight(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newLink(b, newSpec(b, "latency", "1000s", "jitter", "1000s"), 1)
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

// BenchmarkHeap measures a push and a pop.
func BenchmarkHeap(b *testing.B) {
	var h heap
	for i := range uint64(10_000) {
		h.push(heapEntry{due: int64(seed.Derive(i, 0) >> 20), seq: i})
	}
	seq := uint64(len(h))
	for b.Loop() {
		e := h.pop()
		h.push(heapEntry{due: e.due + int64(seed.Derive(seq, 0)>>20), seq: seq})
		seq++
	}
}

// BenchmarkSet measures setting a key.
func BenchmarkSet(b *testing.B) {
	s := DefaultSpec()
	for b.Loop() {
		if err := s.Set("latency", "50ms±10ms"); err != nil {
			b.Fatal(err)
		}
	}
}
