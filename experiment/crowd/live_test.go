package crowd

import (
	"math"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// TestViewsDoNotChangeRuns checks that a run that is shown has the digest and the figures of one that is not, and that
// the samples add up to the totals.
func TestViewsDoNotChangeRuns(t *testing.T) {
	for _, settings := range [][]string{
		{"crowd.clients", "600", "crowd.rtt", "uniform min=20ms max=200ms", "crowd.loss", "3%", "sender.every", "2"},
		{"crowd.clients", "20", "down.loss", "2%", "down.burst", "3", "down.duplicate", "5%", "down.corrupt", "2%", "crowd.uplink_rate", "3mbit", "crowd.uplink_queue", "20KB"},
	} {
		c := configure(t, append([]string{"duration", "3s"}, settings...)...)
		want, err := Run(t.Context(), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var last *engine.Snapshot
		live, err := OpenLive(t.Context(), c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for at := meters.SamplePeriod; at <= c.Duration; at += meters.SamplePeriod {
			if err := live.RunUntil(at); err != nil {
				t.Fatal(err)
			}
			last = live.View(1)
		}
		got, err := live.Finish()
		if err != nil || got.Digest != want.Digest {
			t.Fatalf("%v: digest %s, want %s", err, got.Digest, want.Digest)
		}
		var sum engine.CrowdSample
		byAge, wait := int32(0), time.Duration(0)
		for _, s := range last.Crowd.Samples {
			sum.Packets, sum.Lost, sum.Encodings, wait = sum.Packets+s.Packets, sum.Lost+s.Lost, sum.Encodings+s.Encodings, max(wait, s.Wait)
			for _, n := range s.ByAge {
				byAge += n
			}
		}
		wire, inCharts := 0.0, 0.0 // of all clients in the last 2 s, in kilobits
		for _, c := range last.Crowd.Clients {
			wire += 2 * c.WireKbps.Or(0)
		}
		for _, s := range last.Crowd.Samples[len(last.Crowd.Samples)-20:] {
			inCharts += float64(s.WireBits) / 1000
		}
		if math.Abs(wire-inCharts) > inCharts/1e6 {
			t.Errorf("the clients have %v kbit on the wire, the charts %v", wire, inCharts)
		}
		if int64(sum.Packets) != want.Totals.Sent || byAge != int32(sum.Packets) || sum.Lost == 0 {
			t.Errorf("samples have %d packets, %d by age, %d lost; the run sent %d", sum.Packets, byAge, sum.Lost, want.Totals.Sent)
		}
		if peak := want.Totals.Crowd.UplinkPeakMS; (wait > 0) != (peak != nil) || peak != nil && wait.Seconds()*1000 < peak.Or(0)/2 {
			t.Errorf("the longest wait is %v, want %v", wait, peak)
		}
		for _, p := range last.Crowd.Packets {
			if p.Outcome == packetlog.Decoded && p.Arrived <= p.Sent || p.Wire <= p.Payload || p.Payload == 0 {
				t.Errorf("%+v", p)
			}
		}
	}
}
