package remote

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/panics"
	"wirelab/internal/testkit"
)

// validSetup returns a setup that the receiver accepts.
func validSetup() *setup {
	s := frame.Cubes(5)
	return &setup{Schema: *s, RateHz: 60, History: 64, DisplayMilliHz: 60_000, Display: displaySettings{Timing: "50ms", SendNS: 1},
		Encoder: "rotor", Initial: frame.Frame{Table: initial(s)}}
}

// initial returns table values within the ranges of s.
func initial(s *frame.Schema) []int32 {
	t := make([]int32, s.Cells())
	for i := range t {
		t[i] = max(s.Fields[i%len(s.Fields)].Min, 0)
	}
	return t
}

// Setups that exceed a limit or are inconsistent are refused with a reason.
func TestRefusedSetups(t *testing.T) {
	for want, spoil := range map[string]func(*setup){
		"exceeds 64 MB":              func(s *setup) { s.Schema.Rows, s.History = 1<<16, 200 },
		"4000 frames in the history": func(s *setup) { s.History = 4000 },
		"frames per second":          func(s *setup) { s.Schema.TickHz = 0 },
		"mHz of the display":         func(s *setup) { s.DisplayMilliHz = math.MaxInt32 },
		"playout":                    func(s *setup) { s.Display.Timing = "-1s" },
		"buffer=-1":                  func(s *setup) { s.Display.Timing = "mirror buffer=-1" },
		"out of range":               func(s *setup) { s.Display.SendNS = 0 },
		"of the display":             func(s *setup) { s.Display.SendNS = -1 },
		"delivery mode":              func(s *setup) { s.Schema.Delivery = frame.Reliable },
		"has no encoder":             func(s *setup) { s.Encoder = "no-such-encoder" },
		"does not support":           func(s *setup) { s.Encoder = "receiver-adaptive" },
		"unknown kind":               func(s *setup) { s.Schema.Fields[0].Kind = 99 },
		"initial state":              func(s *setup) { s.Initial.Table[0] = 1 << 30 },
		"initial table":              func(s *setup) { s.Initial.Table = make([]int32, maxInitialBytes/4+1) },
		"name of the data":           func(s *setup) { s.Schema.Name = strings.Repeat("x", 1000) },
		"-1 lanes":                   func(s *setup) { s.Containers, s.MessageLanes = true, -1 },
		"3 lanes":                    func(s *setup) { s.Containers, s.MessageLanes = true, container.MaxLanes+1 },
		"1 lanes":                    func(s *setup) { s.MessageLanes = 1 }, // not in containers
		"2 lanes":                    func(s *setup) { s.Containers, s.MessageLanes, s.Stream = true, 2, true },
		"0 lanes":                    func(s *setup) { s.Containers, s.Stream = true, true },
		"no-such-policy":             func(s *setup) { s.Display.Timing = "no-such-policy" },
	} {
		s := validSetup()
		spoil(s)
		if err := s.check(); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// A peer that violates the protocol loses the connection: no invalid report changes the sender, and no
// invalid setting the receiver.
func TestInvalidMessages(t *testing.T) {
	packet := []engine.PacketReport{{}}
	for name, m := range map[string]*report{
		"datagram that was not sent": {Records: []record{{Number: 9, Packets: packet}}},
		"no packet":                  {Records: []record{{}}},
		"two packets":                {Records: []record{{Packets: make([]engine.PacketReport, 2)}}},
		"many packets":               {Records: []record{{Packets: make([]engine.PacketReport, maxPacketReports+1)}}},
		"outcome":                    {Records: []record{{Packets: []engine.PacketReport{{Outcome: endpoint.UnknownCodec + 1}}}}},
		"time":                       {Records: []record{{Packets: packet, ArrivedAt: -1}}},
		"large time":                 {Records: []record{{Packets: packet, ArrivedAt: math.MaxInt64}}},
		"records":                    {Records: make([]record, maxReportRecords+1)},
		"counter":                    {Display: meters.DisplayCounts{Late: -1}},
	} {
		near, end := newPipe(t, 0)
		link := NewLink(near, "there")
		link.session = 1
		link.inFlight.add(sentDatagram{data: []byte("sent")})
		end.send(&message{Session: 1, Report: m})
		testkit.WaitFor(t, "the end of the connection", func() bool {
			link.Poll(config.Default(), 0, time.Second, time.Now())
			return errors.Is(near.Err(), errProtocol)
		})
		if len(link.arrivals) > 0 {
			t.Errorf("%s: %d events", name, len(link.arrivals))
		}
	}
	for _, sent := range []*displaySettings{
		{Timing: "1s", SendNS: -1}, {Timing: "1s", SendNS: 1, Behind: math.MaxInt64}, {Timing: strings.Repeat(" ", 1000) + "1s", SendNS: 1},
		{Timing: "1s", SendNS: time.Hour},
	} {
		near, end := newPipe(t, 0)
		near.send(&message{Session: 1, Setup: validSetup()})
		near.send(&message{Session: 1, Display: sent})
		if _, err := Serve(t.Context(), end, noFiles); !errors.Is(err, errProtocol) {
			t.Errorf("%+v: %v", sent, err)
		}
	}
	near, end := newPipe(t, 0)
	near.send(&message{Session: 1, Setup: validSetup()})
	go func() {
		<-near.inbox // the answer
		_ = near.sendDatagram([]byte{1, 2})
	}()
	if _, err := Serve(t.Context(), end, noFiles); !errors.Is(err, errProtocol) {
		t.Errorf("a short datagram: %v", err)
	}
}

// writeSpoiled replaces writeMessages of a receiver. It changes the record of datagram 5.
func writeSpoiled(c *Conn, spoil func(*record)) {
	encoder := gob.NewEncoder(c.control)
	for {
		select {
		case <-c.open.Done():
			return
		case m := <-c.outbox:
			for i := 0; m.Report != nil && i < len(m.Report.Records); i++ {
				if r := &m.Report.Records[i]; r.Number == 5 {
					spoil(r)
				}
			}
			_ = encoder.Encode(m)
		}
	}
}

// A packet whose reported fingerprint or sequence number differs from the sender's counts as
// wrong, although the local receiver decodes it correctly; likewise messages.
func TestWrongAtRemoteReceiver(t *testing.T) {
	redundancy := map[string]any{"sender.redundancy": "repeat n=1", "duration": "300ms"}
	messages := func(delivery string) map[string]any {
		return map[string]any{"messages.rate_hz": 60, "messages.delivery": delivery, "duration": "300ms"}
	}
	for name, c := range map[string]struct {
		set            map[string]any
		spoil          func(*record)
		wrong, message int64
	}{
		"frame":              {map[string]any{"duration": "300ms"}, func(r *record) { r.Packets[0].Frame[3] ^= 1 }, 1, 0},
		"number":             {map[string]any{"duration": "300ms"}, func(r *record) { r.Packets[0].Number++ }, 1, 0},
		"frame in container": {redundancy, func(r *record) { r.Packets[0].Frame[3] ^= 1 }, 1, 0},
		"messages":           {messages("resend"), func(r *record) { r.Delivered[3] ^= 1 }, 0, 1},
		"stream":             {messages("stream"), func(r *record) { r.Delivered[3] ^= 1 }, 0, 1},
	} {
		near, end := newStoppedPipe(t, 0)
		near.start(time.Minute)
		go func() { end.fail(end.readMessages()) }()
		go writeSpoiled(end, c.spoil)
		go func() { _, _ = Serve(t.Context(), end, noFiles) }()
		link := NewLink(near, "there")
		s := crowdSession(t, newConfig(t, c.set), link)
		if err := link.Drive(t.Context(), s, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		_ = near.Close()
		x := s.Result().Totals
		if x.Wrong != c.wrong || x.Decoded+x.InFlight != x.Sent-c.wrong || x.Messages != nil && x.Messages.Wrong != c.message {
			t.Errorf("%s: %d wrong of %d, %d decoded; messages %+v", name, x.Wrong, x.Sent, x.Decoded, x.Messages)
		}
	}
}

// A failed connection, a panic in this process and a refused session each end the session with
// the right error type.
func TestSessionErrors(t *testing.T) {
	for want, cause := range map[string]error{"there: the connection to the peer failed": context.Canceled, "there: the peer closed the session": io.EOF,
		"internal error: boom": &panics.Error{Value: "boom"}} {
		near, _ := newPipe(t, 0)
		near.fail(cause)
		err := NewLink(near, "there").Err()
		isNetwork := errors.As(err, new(*engine.NetworkError))
		if !strings.Contains(err.Error(), want) || isNetwork == errors.As(err, new(*panics.Error)) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
	for want, spoil := range map[string]func(*setup){
		"packets per second": func(s *setup) { s.RateHz = maxHz + 1 },
		"was not given":      func(s *setup) { s.Files = []setupFile{{"a.zdict", ""}} },
	} {
		near, end := newPipe(t, 0)
		go func() { _, _ = Serve(t.Context(), end, noFiles) }()
		link, refused := NewLink(near, "there"), validSetup()
		spoil(refused)
		link.reset()
		err := link.sendSetup(t.Context(), refused)
		if err == nil || !strings.Contains(err.Error(), "there: the receiver reports: session refused") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
