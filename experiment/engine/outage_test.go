package engine

import (
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/internal/labtest"
)

// A receiver continues within a few packets after ten minutes without packets.
func TestLongOutage(t *testing.T) {
	const packets = 36_000
	c := config.Default()
	if err := c.Set("link.latency", "20ms"); err != nil {
		t.Fatal(err)
	}
	s, err := NewSessionFromSource(c, labtest.NewCubeSource(3, 1, -1, 2), Options{KeepSamples: 10, Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	run := func(packets int) {
		t.Helper()
		if err := s.RunUntil(s.now + endpoint.TickTime(uint64(packets), 60)); err != nil {
			t.Fatal(err)
		}
	}
	useless := func() int64 {
		x := s.lanes[0].totals(s.Now())
		return x.Failed() + x.Wrong + x.Duplicate
	}
	run(300)
	if err := s.Change(config.NewChange("down.loss", "100%")); err != nil {
		t.Fatal(err)
	}
	run(packets)
	before := useless()
	if err := s.Change(config.NewChange("down.loss", "0%")); err != nil {
		t.Fatal(err)
	}
	run(60)
	newest, _ := s.lanes[0].rcv.History().Newest()
	behind := int64(s.lanes[0].snd.Seq()-1) - int64(newest)
	if n := useless() - before; n > 3 || behind < 0 || behind > 5 {
		t.Errorf("%d of 60 packets of no use after %d lost ones, the receiver is %d behind", n, packets, behind)
	}
}
