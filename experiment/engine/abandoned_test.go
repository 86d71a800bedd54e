package engine

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// outage is a network whose receiver is on another machine. Datagrams that arrive from outageFrom to
// outageTo are delivered at outageTo, in a random order if shuffle is set.
type outage struct {
	Path
	rcv      *endpoint.Receiver
	reported RemoteReport
	packet   [1]PacketReport
	shuffle  bool
	held     []lossmodel.Delivery
}

const outageFrom, outageTo = time.Second, 6 * time.Second

func (p *outage) Begin(_ context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error {
	p.rcv = endpoint.NewReceiver(s, initial, c.CodecTable(), endpoint.Options{Cadence: endpoint.Cadence{TickHz: s.TickHz, RateHz: c.Sender.RateHz}, History: c.Receiver.History})
	return nil
}

func (p *outage) Connect(down, up *lossmodel.Link) (RemotePath, Path) {
	p.Path = down
	return p, &farAcks{up, p.rcv, nil}
}

// farAcks is the path of acks from a receiver on another machine.
type farAcks struct {
	Path
	rcv *endpoint.Receiver
	ack []byte
}

func (p *farAcks) Send(now time.Duration, _ []byte, tag uint64) lossmodel.Verdict {
	p.ack = p.rcv.AppendAck(p.ack[:0])
	return p.Path.Send(now, p.ack, tag)
}

func (p *outage) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	v := p.Path.Send(now, datagram, tag)
	v.Pending = true
	return v
}

func (p *outage) Next() (time.Duration, bool) {
	at, ok := p.Path.Next()
	if len(p.held) > 0 && (!ok || at > outageTo) {
		return outageTo, true
	}
	return at, ok
}

func (p *outage) Receive(now time.Duration) (lossmodel.Delivery, bool) {
	for {
		if now >= outageTo && len(p.held) > 0 {
			k := 0
			if p.shuffle {
				k = len(p.held) * 7 / 11
			}
			d := p.held[k]
			p.held = append(p.held[:k], p.held[k+1:]...)
			return p.deliver(now, d), true
		}
		d, ok := p.Path.Receive(now)
		if !ok || now < outageFrom || now >= outageTo {
			return p.deliver(now, d), ok
		}
		d.Data = bytes.Clone(d.Data)
		p.held = append(p.held, d)
	}
}

// reportDelay is how long the reports take.
const reportDelay = 15 * time.Millisecond

// deliver passes a datagram to the receiver and reports the result.
func (p *outage) deliver(now time.Duration, d lossmodel.Delivery) lossmodel.Delivery {
	if d.Data == nil {
		return d
	}
	rx := p.rcv.Receive(d.Data)
	p.packet[0] = PacketReport{Outcome: rx.Outcome, Number: uint16(rx.Seq)}
	if rx.Frame != nil {
		p.packet[0].Decoded, p.packet[0].Frame = true, new(Fingerprinter).Of(rx.Frame)
	}
	p.reported = RemoteReport{Packets: p.packet[:], Arrived: now - reportDelay, ReportedAt: now}
	return d
}

func (p *outage) Reported() *RemoteReport          { return &p.reported }
func (p *outage) RoundTrip() (time.Duration, bool) { return 0, false }
func (p *outage) Counts() (x meters.DisplayCounts, y meters.LabTraffic) {
	return x, y
}

// After an outage that is longer than networkTimeout the receiver in this process still has the same
// results as the one on the other machine, which gets the packets that were abandoned.
func TestReceiversAgreeAfterOutage(t *testing.T) {
	for name, pairs := range map[string][]string{
		"whole frames": {},
		"budget":       {"sender.budget", "64kbit"},
		"memos":        {"sender.budget", "64kbit", "encoder", "adaptive"},
	} {
		c := config.Default()
		testkit.Set(t, c, pairs...)
		if err := c.Set("link.latency", "20ms"); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, c, labtest.NewCubeSource(60, 20, -1, 1), Options{Endless: true, Network: &outage{}})
		mustRun(t, s, 10*time.Second)
		x := s.lanes[0].totals(s.Now())
		if behind := s.Now() - s.lanes[0].display.Moment(); s.View(0).World.Behind != behind-reportDelay {
			t.Errorf("%s: the picture is %v behind, expected %v less the way of the reports", name, s.View(0).World.Behind, behind)
		}
		if x.Unknown == 0 || x.Wrong != 0 || x.Remote.Differs != 0 {
			t.Errorf("%s: %d unknown, %d wrong, %d differ", name, x.Unknown, x.Wrong, x.Remote.Differs)
		}
		_ = s.Close()
	}
}

// Packets with view frames that arrive more than view.Window packets after a newer one are not used, and
// the reason says so.
func TestLateViewsAreExplained(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "link.latency", "20ms", "sender.budget", "64kbit")
	s := mustOpen(t, c, labtest.NewCubeSource(60, 20, -1, 1), Options{Endless: true, Inspect: true, Network: &outage{shuffle: true}})
	defer s.Close()
	mustRun(t, s, 8*time.Second)
	l := s.lanes[0]
	for _, incident := range l.inspector.Incidents() {
		o := &incident.Opened
		if incident.Reason.String() != "no baseline" {
			continue
		}
		if o.Inside.Err == nil || !strings.Contains(o.Inside.Err.Error(), "more than 64 packets older") || o.Inside.Newer <= o.Record.Seq+64 {
			t.Errorf("packet %d, after packet %d: %v", o.Record.Seq, o.Inside.Newer, o.Inside.Err)
		}
		if n := l.totals(s.Now()).Failures.NoBaseline; incident.N != n {
			t.Errorf("%d of %d packets without a baseline are explained", incident.N, n)
		}
		return
	}
	t.Error("no packet was too late: the test tests nothing")
}
