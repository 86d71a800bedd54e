package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/testkit"
)

// Every packet with a reference from before a loop point is marked, not only the first packet after
// it, because all of them are large. The test determines these packets from the sequence numbers:
// tick n is frame n of the source, which restarts every 200 frames.
func TestPacketsAcrossLoopPoint(t *testing.T) {
	const round = 200
	for _, settings := range [][]string{{}, {"down.loss", "30%", "up.loss", "30%"}, {"sender.every", "3"}} {
		src := newPathCubes(60, uniformPath)
		src.round = round
		c := config.Default()
		c.Encoder.Name = "relative-position"
		for _, s := range [][]string{{"link.latency", "50ms"}, settings} {
			testkit.Set(t, c, s...)
		}
		s := mustOpen(t, c, src, Options{KeepPackets: 4096})
		mustRun(t, s, 14*time.Second)
		marked, seams := map[int64]int{}, 0
		for _, r := range s.View(1 << 14).Lanes[0].Packets {
			if r.Copy > 0 {
				continue
			}
			base := r.Seq - uint64(r.Baseline)
			first := r.Seq/round > 0 && r.Seq%round < uint64(c.Sender.Every)
			want := first || r.Baseline > 0 && base/round != r.Seq/round
			if r.CrossesLoop != want || r.Seam != first {
				t.Errorf("%v: packet %d on %d: across %v, first %v", settings, r.Seq, base, r.CrossesLoop, r.Seam)
			}
			if want {
				marked[int64(r.Sent/meters.SamplePeriod)]++
			}
			if first {
				seams++
			}
		}
		total := 0
		for _, x := range s.lanes[0].meter.Samples() {
			total += x.CrossingLoop
			if n := marked[int64((x.T-1)/meters.SamplePeriod)]; n != x.CrossingLoop {
				t.Errorf("%v: %d packets across by %v, want %d", settings, x.CrossingLoop, x.T, n)
			}
		}
		if seams != 4 || total < 2*seams {
			t.Errorf("%v: %d packets across %d seams", settings, total, seams)
		}
	}
}
