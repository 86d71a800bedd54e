package remote

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/panics"
)

// some returns a setup that is taken on.
func some() *setup {
	s := frame.Cubes(5)
	return &setup{Version: protocolVersion, Schema: *s, RateHz: 60, History: 64, DisplayMilliHz: 60_000, Playout: 50 * time.Millisecond,
		Encoder: "rotor", Initial: frame.Frame{Table: initial(s)}}
}

// initial returns values that a schema allows.
func initial(s *frame.Schema) []int32 {
	t := make([]int32, s.Cells())
	for i := range t {
		t[i] = max(s.Fields[i%len(s.Fields)].Min, 0)
	}
	return t
}

func TestSetupTravels(t *testing.T) {
	want := some()
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

// What would cost the far end memory or time, or makes no sense, is refused in a sentence.
func TestSetupsThatAreRefused(t *testing.T) {
	for says, spoil := range map[string]func(*setup){
		"version 7":     func(s *setup) { s.Version = 7 },
		"take more":     func(s *setup) { s.Schema.Rows, s.Initial.Table = 1<<20, nil },
		"a history":     func(s *setup) { s.History = 4000 },
		"a second":      func(s *setup) { s.Schema.TickHz = 0 },
		"a display":     func(s *setup) { s.DisplayMilliHz = math.MaxInt32 },
		"playout":       func(s *setup) { s.Playout = -1 },
		"delivered":     func(s *setup) { s.Schema.Delivery = frame.Every },
		"knows no":      func(s *setup) { s.Encoder = "nobody's" },
		"is none for":   func(s *setup) { s.Encoder = "receiver-adaptive" },
		"no kind":       func(s *setup) { s.Schema.Fields[0].Kind = 99 },
		"out of range":  func(s *setup) { s.Initial.Table[0] = 1 << 30 },
		"names of more": func(s *setup) { s.Schema.Name = strings.Repeat("x", 1000) },
		"digests":       func(s *setup) { s.DigestBits = 7 },
	} {
		s := some()
		spoil(s)
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseSetup(data); !errors.Is(err, errSetup) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", says, err)
		}
	}
	bomb := some()
	bomb.Initial.Body = make([]byte, maxRaw)
	if _, err := bomb.encode(); !errors.Is(err, errSetup) {
		t.Errorf("a setup of %d bytes: %v", maxRaw, err)
	}
}

func FuzzSetup(f *testing.F) {
	data, err := some().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSetup(data)
		if err == nil {
			endpoint.NewReceiver(&s.Schema, &s.Initial, nil, s.options())
		} else if !errors.Is(err, errSetup) && !errors.Is(err, errProtocol) {
			t.Errorf("no typed error: %v", err)
		}
	})
}

func FuzzReport(f *testing.F) {
	r := report{first: 300, display: meters.DisplayCounts{Shown: 9, Late: 1}, records: []record{
		{number: 7, at: 5 * time.Millisecond, decoded: true, taken: 3, frame: engine.Fingerprint{1, 2}},
		{number: 5, at: 4 * time.Millisecond, outcome: endpoint.Corrupt}}}
	msg, n := r.append(nil, 0)
	if n != 2 {
		f.Fatal(n)
	}
	f.Add(msg[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again report
		if err := m.parse(data); err != nil {
			if !errors.Is(err, errProtocol) {
				t.Errorf("no typed error: %v", err)
			}
			return
		}
		if msg, n := m.append(nil, 0); n == len(m.records) {
			if err := again.parse(msg[1:]); err != nil || !reflect.DeepEqual(m, again) {
				t.Errorf("%v: %+v became %+v", err, m, again)
			}
		}
	})
}

func FuzzRecording(f *testing.F) {
	var r recording
	r.ack(5, &event{number: 1, took: 3, timed: true, data: []byte("ack")})
	r.arrival(9, &event{number: 1, took: 3, record: record{decoded: true}})
	r.arrival(9, &event{isCounts: true, display: meters.DisplayCounts{Shown: 1}})
	f.Add(r.events)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Replay(&engine.Remote{Version: protocolVersion, Events: data})
		if err != nil {
			return
		}
		var again recording
		for i := range l.played.acks {
			again.ack(l.played.acks[i].at, &l.played.acks[i])
		}
	})
}

// What makes no sense changes nothing at the far end, and is counted.
func TestOddMessages(t *testing.T) {
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
	s := crowded(t, configured(t, map[string]any{"duration": "300ms"}), link)
	for stream := range uint8(9) {
		_ = near.Send(stream, []byte{link.session, 9, 9})
		_ = end.Send(stream, []byte{link.session, 9, 9})
	}
	if err := link.Drive(t.Context(), s, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	lawful(t, s.Result())
	cancel()
	if out := <-served; out.Odd == 0 || link.malformed == 0 || out.Frames != s.Result().Totals.Sent {
		t.Errorf("%d and %d odd messages; %d frames", out.Odd, link.malformed, out.Frames)
	}
}

// liar is a far end that changes what it reports.
type liar struct {
	*pipe
	spoil func(*report)
}

func (l *liar) Send(stream uint8, payload []byte) error {
	if stream == streamReport {
		var r report
		if err := r.parse(payload[1:]); err == nil {
			l.spoil(&r)
			payload, _ = r.append(nil, payload[0])
		}
	}
	return l.pipe.Send(stream, payload)
}

// A far end whose frames are others than what was sent has decoded wrongly, although the
// receiver here has not.
func TestWrongAtTheFarEnd(t *testing.T) {
	for name, spoil := range map[string]func(*record){
		"frame":  func(r *record) { r.frame[3] ^= 1 },
		"number": func(r *record) { r.taken++ },
	} {
		near, end := newPipe(0)
		go func() {
			_, _ = Serve(t.Context(), &liar{end, func(r *report) {
				for i := range r.records {
					if r.records[i].number == 5 {
						spoil(&r.records[i])
					}
				}
			}}, noFiles)
		}()
		link := NewLink(near, "there")
		s := crowded(t, configured(t, map[string]any{"duration": "300ms"}), link)
		if err := link.Drive(t.Context(), s, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if x := s.Result().Totals; x.Wrong != 1 || x.Decoded != x.Sent-1 {
			t.Errorf("%s: %d wrong of %d, %d decoded", name, x.Wrong, x.Sent, x.Decoded)
		}
	}
}

// Whoever falls silent, leaves or refuses ends the session in a sentence.
func TestEndings(t *testing.T) {
	begin := func(serve bool) (*pipe, *Link, error) {
		near, end := newPipe(0)
		if serve {
			go func() { _, _ = Serve(t.Context(), end, noFiles) }()
		}
		link := NewLink(near, "there")
		_, err := engine.NewSession(t.Context(), configured(t, map[string]any{"duration": "300ms", "data.source": "world"}), engine.Options{Network: link})
		return near, link, err
	}
	if near, link, err := begin(true); err != nil {
		t.Fatal(err)
	} else {
		near.close(context.Canceled)
		var x *engine.NetworkError
		if err := link.Err(); !errors.As(err, &x) || !strings.Contains(err.Error(), "there: the far end is gone") {
			t.Errorf("got %v", err)
		}
	}
	if near, link, err := begin(true); err != nil {
		t.Fatal(err)
	} else { // of this process: no error of the network
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
	if err == nil || !strings.Contains(err.Error(), "there: the far end says: it refuses the session") {
		t.Errorf("got %v", err)
	}
}
