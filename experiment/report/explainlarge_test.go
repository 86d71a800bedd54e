package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// meansBefore returns the means over the 64 packets before seq, computed from the records.
func (x *problemSession) meansBefore(seq uint64) (payload, changed, baseline float64) {
	const n = 64
	for k := seq - n; k < seq; k++ {
		r := x.packets.record(x.T, k)
		payload, changed, baseline = payload+float64(r.Payload)/n, changed+float64(r.Changed)/n, baseline+float64(r.Baseline)/n
	}
	return payload, changed, baseline
}

func (x *problemSession) sentenceHead(rec *packetlog.Record) string {
	payload, _, _ := x.meansBefore(rec.Seq)
	return fmt.Sprintf("packet %d has %s bytes, %.1f times the mean: ", rec.Seq, units.Thousands(int64(rec.Payload)),
		float64(rec.Payload)/payload)
}

// shakenCrowd is a crowd in which all cubes occasionally move at once.
type shakenCrowd struct{ *labtest.CubeSource }

func (s shakenCrowd) Next(f *frame.Frame) error {
	if s.Moving = 10; s.Tick%200 == 199 {
		s.Moving = 400
	}
	return s.CubeSource.Next(f)
}

func TestExplainMoreChanged(t *testing.T) {
	x := runWithProblems(t, 5*time.Second, shakenCrowd{labtest.NewCubeSource(100, 10, -1, 1)})
	i := x.newestIncident("large: more changed")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	_, changed, _ := x.meansBefore(rec.Seq)
	x.checkSentence(i, "%s%d of 100 rows differ from its baseline, usually %.0f", x.sentenceHead(rec), rec.Changed, changed)
	if rec.Seq != 199 || i.N != 1 {
		t.Errorf("packet %d, one of %d", rec.Seq, i.N)
	}
}

func TestExplainOldBaseline(t *testing.T) {
	x := runWithProblems(t, 3*time.Second, labtest.NewCubeSource(200, 5, -1, 1), "link.latency", "30ms")
	x.change(config.NewChange("up.loss", "100%"))
	x.run(3*time.Second + 700*time.Millisecond)
	x.change(config.NewChange("up.loss", "0%"))
	x.run(5 * time.Second)
	i := x.newestIncident("large: old baseline")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	_, _, baseline := x.meansBefore(rec.Seq)
	vain, under := 0, 0
	for seq := rec.Seq - uint64(rec.Baseline) + 1; seq < rec.Seq; seq++ {
		switch r := x.packets.record(t, seq); {
		case r.Arrived > rec.Sent || r.Arrived > 3*time.Second+700*time.Millisecond:
			under++
		default:
			vain++
		}
	}
	if vain < 10 {
		t.Fatalf("%d acks were lost: nothing is tested", vain)
	}
	x.checkSentence(i, "%sits baseline is snapshot %d, %d packets before instead of the usual %.0f: of the packets since, %d had their acks lost, %d are not acknowledged yet",
		x.sentenceHead(rec), rec.Seq-uint64(rec.Baseline), rec.Baseline, baseline, vain, under)
}

func TestExplainSwap(t *testing.T) {
	t.Run("to a costlier encoder", func(t *testing.T) {
		x := runWithProblems(t, 3*time.Second, newCrowd(1), "encoder.name", "relative-orientation")
		x.change(config.NewChange("encoder.name", "raw"))
		first := x.nextSeq()
		x.run(4 * time.Second)
		i := x.newestIncident("large: swapped")
		rec := x.packets.record(t, i.Opened.Record.Seq)
		x.checkSentence(i, "%sthe encoder was swapped from relative-orientation to raw %d packets before", x.sentenceHead(rec), rec.Seq-first)
	})
	t.Run("to one that has learnt nothing yet", func(t *testing.T) {
		// Cubes fly straight on, which an adaptive encoder learns.
		x := runWithProblems(t, 3*time.Second, newFlight(), "encoder.name", "adaptive", "link.latency", "20ms")
		first := x.nextSeq()
		x.change(config.NewChange("encoder.name", "kinetic-lite"))
		x.run(4 * time.Second)
		for seq := first; ; seq++ {
			o := x.s.Opened(packetlog.ID{Seq: seq})
			if o.Gone {
				t.Fatal("no packet lacked the memory of its baseline")
			}
			if o.Inside.WithoutMemo {
				if rec := x.packets.record(t, seq); o.Inside.Previous != "adaptive" || rec.Epoch != 1 ||
					x.packets.record(t, seq-uint64(rec.Baseline)).Epoch != 0 {
					t.Errorf("packet %d of epoch %d lacks the memory of one of epoch %d", seq, rec.Epoch,
						x.packets.record(t, seq-uint64(rec.Baseline)).Epoch)
				}
				want := fmt.Sprintf("the encoder was swapped from adaptive to kinetic-lite %s, and has no memo for snapshot %d yet",
					map[bool]string{true: "with this packet", false: words.Count(o.Inside.Age, "packet") + " before"}[o.Inside.Age == 0],
					seq-uint64(o.Record.Baseline))
				if got := Explain(o, reasonNamed(t, "large: swapped"), x.s.Config()); !strings.HasSuffix(got, want) ||
					uint64(o.Inside.Age) > seq-first {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				break
			}
		}
	})
}

// newFlight returns a crowd in which every fourth cube flies without end.
func newFlight() *labtest.CubeSource { return labtest.NewCubeSource(100, 20, -1, 3) }

func TestExplainLoopPoint(t *testing.T) {
	if labtest.RaceEnabled {
		t.Skip("two minutes of the demo take long under the race detector, and nothing races here")
	}
	c := config.Default()
	if err := c.Set("data.source", "demo"); err != nil {
		t.Fatal(err)
	}
	c.Data.Loop = true
	s, err := engine.NewSession(t.Context(), c, engine.Options{Inspect: true, Endless: true, KeepPackets: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 120 {
		if err := s.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
		for _, i := range s.View(0).Lanes[0].Incidents {
			if i.Reason.String() == "large: seam" {
				if !i.Opened.Record.CrossesLoop {
					t.Error("the recording did not restart")
				}
				return
			}
		}
	}
	t.Fatal("the demo restarted without a large packet")
}

func TestExplainNoAck(t *testing.T) {
	// The uplink fails for longer than the histories reach.
	x := runWithProblems(t, 3*time.Second, labtest.NewCubeSource(200, 5, -1, 1), "sender.history", "30", "receiver.history", "30")
	x.change(config.NewChange("up.loss", "100%"))
	x.run(4 * time.Second)
	i := x.newestIncident("large: no ack")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	if rec.Baseline != 0 {
		t.Errorf("it builds on one %d back", rec.Baseline)
	}
	x.checkSentence(i, "%sno valid ack has arrived, so its baseline is the initial state", x.sentenceHead(rec))
}
