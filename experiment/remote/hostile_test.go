package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
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
	"wirelab/lossmodel"
)

// validSetup returns a setup that the receiver accepts.
func validSetup() *setup {
	s := frame.Cubes(5)
	return &setup{Version: protocolVersion, Schema: *s, RateHz: 60, History: 64, DisplayMilliHz: 60_000, Playout: 50 * time.Millisecond,
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

// A setup is equal after encode and parseSetup.
func TestSetupRoundTrip(t *testing.T) {
	want := validSetup()
	data, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseSetup(data)
	if err != nil {
		t.Fatal(err)
	}
	got.Initial.Body = want.Initial.Body
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Setups that exceed a limit or are inconsistent are refused with a reason.
func TestRefusedSetups(t *testing.T) {
	for want, spoil := range map[string]func(*setup){
		"version 2":        func(s *setup) { s.Version = 2 },
		"exceeds 64 MB":    func(s *setup) { s.Schema.Rows, s.Initial.Table = 1<<20, nil },
		"history of 4000":  func(s *setup) { s.History = 4000 },
		"per second":       func(s *setup) { s.Schema.TickHz = 0 },
		"display rate":     func(s *setup) { s.DisplayMilliHz = math.MaxInt32 },
		"playout":          func(s *setup) { s.Playout = -1 },
		"buffer=-1":        func(s *setup) { s.Policy, s.SendNS = "mirror buffer=-1", time.Millisecond },
		"time of 0s":       func(s *setup) { s.Policy = "mirror" },
		"time of -1ns":     func(s *setup) { s.SendNS = -1 },
		"delivery mode":    func(s *setup) { s.Schema.Delivery = frame.Reliable },
		"has no encoder":   func(s *setup) { s.Encoder = "no-such-encoder" },
		"does not support": func(s *setup) { s.Encoder = "receiver-adaptive" },
		"unknown kind":     func(s *setup) { s.Schema.Fields[0].Kind = 99 },
		"out of range":     func(s *setup) { s.Initial.Table[0] = 1 << 30 },
		"is too long":      func(s *setup) { s.Schema.Name = strings.Repeat("x", 1000) },
		"-1 lanes":         func(s *setup) { s.Containers, s.MessageLanes = true, -1 },
		"3 lanes":          func(s *setup) { s.Containers, s.MessageLanes = true, container.MaxLanes+1 },
		"1 lanes":          func(s *setup) { s.MessageLanes = 1 }, // not in containers
		"2 lanes":          func(s *setup) { s.Containers, s.MessageLanes, s.Stream = true, 2, true },
		"0 lanes":          func(s *setup) { s.Containers, s.Stream = true, true },
		"no-such-policy":   func(s *setup) { s.Policy, s.SendNS = "no-such-policy", time.Millisecond },
	} {
		s := validSetup()
		spoil(s)
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseSetup(data); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	bomb := validSetup()
	bomb.Initial.Body = make([]byte, maxUnpackedBytes)
	if _, err := bomb.encode(); !errors.Is(err, errRefused) {
		t.Errorf("a setup of %d bytes: %v", maxUnpackedBytes, err)
	}
}

// Large acks among small ones occupy no more memory, once they are handled, than the queue may store.
func TestAcksOccupyLittleMemory(t *testing.T) {
	var q eventQueue
	for round := range 20 { // the small acks take the buffers of earlier large ones
		for i := range 100 * (round + 1) {
			size := 8
			if i >= 100*round {
				size = 65_000
			}
			q.push(event{data: append(q.takeBuffer(), make([]byte, size)...)})
		}
		for q.due(0) != nil {
			q.pop()
		}
	}
	bytes := 0
	for _, b := range q.freeBuffers {
		bytes += cap(b)
	}
	if bytes > maxQueuedBytes {
		t.Errorf("%d bytes for an empty queue", bytes)
	}
}

// No data make parseSetup panic, errors are typed, and an accepted setup makes a receiver.
func FuzzSetup(f *testing.F) {
	data, err := validSetup().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSetup(data)
		if err == nil {
			endpoint.NewReceiver(&s.Schema, &s.Initial, nil, s.receiverOptions())
		} else if !errors.Is(err, errRefused) && !errors.Is(err, errProtocol) {
			t.Errorf("untyped error: %v", err)
		}
	})
}

// No data make report.parse panic, and a parsed report is equal after append and parse.
func FuzzReport(f *testing.F) {
	r := report{firstRecord: 300, display: meters.DisplayCounts{Shown: 9, Late: 1}, records: []record{
		{number: 7, arrivedAt: 5 * time.Millisecond, packet: engine.PacketReport{Decoded: true, Number: 3, Frame: engine.Fingerprint{1, 2}}},
		{number: 5, arrivedAt: 4 * time.Millisecond, packet: engine.PacketReport{Outcome: endpoint.Corrupt}},
		{number: 8, arrivedAt: 6 * time.Millisecond, isContainer: true, delivered: engine.Fingerprint{3},
			packets: []engine.PacketReport{{Container: 8, Outcome: endpoint.Stale, Decoded: true, Number: 4}, {Container: 7, Outcome: endpoint.NoBaseline}}}}}
	msg, n := r.append(nil, 0)
	if n != 3 {
		f.Fatal(n)
	}
	f.Add(msg[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again report
		if err := m.parse(data); err != nil {
			if !errors.Is(err, errProtocol) {
				t.Errorf("untyped error: %v", err)
			}
			return
		}
		if msg, n := m.append(nil, 0); n == len(m.records) {
			if err := again.parse(msg[1:]); err != nil || !reflect.DeepEqual(m, again) {
				t.Errorf("%v: %+v, parsed again: %+v", err, m, again)
			}
		}
	})
}

// No data make Replay panic, and times of a replay are within the limits of sums.
func FuzzRecording(f *testing.F) {
	var r recording
	r.recordAck(5, &event{number: 1, rtt: 3, rttKnown: true, data: []byte("ack")})
	r.recordArrival(9, &event{number: 1, delay: 3, record: record{packet: engine.PacketReport{Decoded: true}}})
	r.recordArrival(9, &event{isDisplay: true, display: meters.DisplayCounts{Shown: 1}})
	f.Add(r.events)
	r.recordArrival(12, &event{number: 2, delay: math.MaxInt64, record: record{isContainer: true, delivered: engine.Fingerprint{3},
		packets: []engine.PacketReport{{Container: 8, Decoded: true, Number: 4}, {Container: 7, Outcome: endpoint.NoBaseline}}}})
	f.Add(r.events)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Replay(&engine.Remote{Version: protocolVersion, Events: data})
		if err != nil {
			return
		}
		var again recording
		for i := range l.replay.acks {
			again.recordAck(l.replay.acks[i].at, &l.replay.acks[i])
		}
		for i := range l.replay.arrivals {
			e := &l.replay.arrivals[i]
			if e.delay.Abs() > maxAge || e.reportedAt < 0 || e.at > 2*maxAge {
				t.Errorf("the delay is %v, reported at %v", e.delay, e.reportedAt)
			}
			again.recordArrival(e.at, e)
		}
	})
}

// Malformed messages are counted on both sides and have no other effect.
func TestMalformedMessages(t *testing.T) {
	near, end := newPipe(0)
	served := make(chan *servedStats, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		out, _ := Serve(ctx, end, noFiles)
		served <- out
	}()
	for stream := range uint8(9) {
		for _, msg := range [][]byte{nil, {1}, {1, 2}, bytes.Repeat([]byte{1}, 5), bytes.Repeat([]byte{255}, 2000)} {
			_ = near.Send(stream, msg)
		}
	}
	link := NewLink(near, "there")
	s := crowdSession(t, newConfig(t, map[string]any{"duration": "300ms"}), link)
	for stream := range uint8(9) {
		_ = near.Send(stream, []byte{link.session, 9, 9})
		_ = end.Send(stream, []byte{link.session, 9, 9})
	}
	if err := link.Drive(t.Context(), s, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, s.Result())
	cancel()
	if out := <-served; out.Malformed == 0 || link.malformed == 0 || out.Frames != s.Result().Totals.Sent {
		t.Errorf("malformed: %d at the receiver, %d at the sender; %d frames", out.Malformed, link.malformed, out.Frames)
	}
}

// tamperingPipe is the connection of a receiver whose reports are changed by spoil.
type tamperingPipe struct {
	*pipe
	spoil func(*report)
}

// Send implements conn. It changes reports and passes on everything else.
func (l *tamperingPipe) Send(stream uint8, payload []byte) error {
	if stream == streamReport {
		var r report
		if err := r.parse(payload[1:]); err == nil {
			l.spoil(&r)
			payload, _ = r.append(nil, payload[0])
		}
	}
	return l.pipe.Send(stream, payload)
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
		"frame":              {map[string]any{"duration": "300ms"}, func(r *record) { r.packet.Frame[3] ^= 1 }, 1, 0},
		"number":             {map[string]any{"duration": "300ms"}, func(r *record) { r.packet.Number++ }, 1, 0},
		"frame in container": {redundancy, func(r *record) { r.packets[0].Frame[3] ^= 1 }, 1, 0},
		"messages":           {messages("resend"), func(r *record) { r.delivered[3] ^= 1 }, 0, 1},
		"stream":             {messages("stream"), func(r *record) { r.delivered[3] ^= 1 }, 0, 1},
	} {
		near, end := newPipe(0)
		go func() {
			_, _ = Serve(t.Context(), &tamperingPipe{end, func(r *report) {
				for i := range r.records {
					if r.records[i].number == 5 {
						c.spoil(&r.records[i])
					}
				}
			}}, noFiles)
		}()
		link := NewLink(near, "there")
		s := crowdSession(t, newConfig(t, c.set), link)
		if err := link.Drive(t.Context(), s, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		x := s.Result().Totals
		if x.Wrong != c.wrong || x.Decoded+x.InFlight != x.Sent-c.wrong || x.Messages != nil && x.Messages.Wrong != c.message {
			t.Errorf("%s: %d wrong of %d, %d decoded; messages %+v", name, x.Wrong, x.Sent, x.Decoded, x.Messages)
		}
	}
}

// A report or a recording about a datagram of the other kind, a packet or a container, is malformed and has no effect.
func TestReportOfOtherKind(t *testing.T) {
	packet := []byte{0, 0, 1, 1, 0}
	containers := container.NewSender()
	sealed := containers.Seal(0, time.Second, packet, nil).Datagram
	for name, c := range map[string]struct {
		containers  bool
		datagram    []byte
		isContainer bool
	}{
		"packet":                {true, packet, false},
		"container":             {true, sealed, true},
		"packet without others": {false, packet, false},
		"damaged packet":        {false, []byte{0, 0, 1, 0, 0}, false},
	} {
		for _, reported := range []bool{false, true} {
			link := NewLink(nil, "there")
			link.hasContainers = c.containers
			var err error
			if link.down, err = lossmodel.NewLink(lossmodel.DefaultSpec(), 1, "down"); err != nil {
				t.Fatal(err)
			}
			link.inFlight.add(c.datagram)
			m := report{records: []record{{isContainer: reported}}}
			msg, _ := m.append(nil, 0)
			err = link.handleReport(msg[1:])
			if (err == nil) != (reported == c.isContainer) || err != nil && !errors.Is(err, errProtocol) || len(link.arrivals.events) > 0 != (err == nil) {
				t.Errorf("%s, reported as a container %t: %v, %d events", name, reported, err, len(link.arrivals.events))
			}
			link.arrivals = eventQueue{events: []event{{record: m.records[0]}}} // as in a recording
			if _, ok := (*downPath)(link).Receive(time.Second); ok != (reported == c.isContainer) {
				t.Errorf("%s, recorded as a container %t: it has arrived %t", name, reported, ok)
			}
		}
	}
}

// A container whose parts of messages are malformed is not acked, one that is repeated without the damage is.
func TestMalformedContainerIsNotAcked(t *testing.T) {
	near, end := newPipe(0)
	go func() { _, _ = Serve(t.Context(), end, noFiles) }()
	link := NewLink(near, "there")
	crowdSession(t, newConfig(t, map[string]any{"messages.rate_hz": 20, "messages.delivery": "rto"}), link)
	policy, err := container.Deliveries.Parse("rto")
	if err != nil {
		t.Fatal(err)
	}
	outbox, containers := container.NewOutbox(policy, 0), container.NewSender()
	acked := func(damage func(datagram []byte)) (number uint16, ack uint16) {
		outbox.Write(0, []byte("message"))
		number = uint16(containers.Next())
		datagram := bytes.Clone(containers.SealMessages(outbox.Datagram(0, containers.Next())).Datagram)
		damage(datagram)
		if err := near.Send(streamGame, append([]byte{link.session, byte(number), 0, 0, 0}, datagram...)); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			d, ok := near.Poll(link.in)
			if ok && d.Stream == streamAck && d.Data[1] == byte(number) {
				return number, binary.LittleEndian.Uint16(d.Data[5:])
			}
		}
		t.Fatal("no ack")
		return 0, 0
	}
	const parts = 4 // the header of a container: then the count and the lane of the first part
	for name, damage := range map[string]func([]byte){
		"lane":   func(b []byte) { b[parts+1] = 5 },
		"number": func(b []byte) { b[parts+3] = 0x40 },
		"count":  func(b []byte) { b[parts] = 2 },
	} {
		before, ack := acked(func([]byte) {})
		if ack != before {
			t.Errorf("the ack of container %d is %d", before, ack)
		}
		if number, ack := acked(damage); ack != before {
			t.Errorf("%s: the ack of malformed container %d is %d", name, number, ack)
		}
	}
}

// A failed connection, a panic in this process and a refused session each end the session with
// the right error type.
func TestSessionErrors(t *testing.T) {
	begin := func(serve bool) (*pipe, *Link, error) {
		near, end := newPipe(0)
		if serve {
			go func() { _, _ = Serve(t.Context(), end, noFiles) }()
		}
		link := NewLink(near, "there")
		_, err := engine.NewSession(t.Context(), newConfig(t, map[string]any{"duration": "300ms", "data.source": "world"}), engine.Options{Network: link})
		return near, link, err
	}
	if near, link, err := begin(true); err != nil {
		t.Fatal(err)
	} else {
		near.close(context.Canceled)
		var x *engine.NetworkError
		if err := link.Err(); !errors.As(err, &x) || !strings.Contains(err.Error(), "there: the connection to the peer failed") {
			t.Errorf("got %v", err)
		}
	}
	if near, link, err := begin(true); err != nil {
		t.Fatal(err)
	} else { // a panic in this process is not a network error
		near.close(&panics.Error{Value: "boom"})
		if err := link.Err(); !errors.As(err, new(*panics.Error)) || errors.As(err, new(*engine.NetworkError)) {
			t.Errorf("got %v", err)
		}
	}
	near, end := newPipe(0)
	go func() { _, _ = Serve(t.Context(), end, noFiles) }()
	link := NewLink(near, "there")
	s := frame.Cubes(3)
	s.TickHz = maxHz + 1
	err := link.Begin(t.Context(), s, &frame.Frame{Table: initial(s)}, config.Default())
	if err == nil || !strings.Contains(err.Error(), "there: the receiver reports: session refused") {
		t.Errorf("got %v", err)
	}
}
