package report

import (
	"errors"
	"testing"
	"time"

	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
)

// The age of the missing reference is explained by the round trip, or by the packets since if those were lost or
// failed and the age exceeds the round trip by more than one packet.
func TestRoundTripText(t *testing.T) {
	// The baseline is 9 packets before packet 20. At 60 packets per second, 100 ms are 6 packets, and so 7 with the
	// packet that has begun.
	base := inspector.Inside{}
	base.Missing, base.BaseSent, base.BaseAcked = 11, time.Second, 1100*time.Millisecond
	base.AfterBaseline.Lost = 2
	const plain, blamed = "the round trip takes 9 packets", "9 packets have passed, although the round trip takes 7: of the packets since, 2 were lost"
	for _, c := range []struct {
		what string
		edit func(*inspector.Inside)
		want string
	}{
		{"lost packets", func(*inspector.Inside) {}, blamed},
		{"one more packet than the round trip", func(in *inspector.Inside) { in.BaseAcked += 20 * time.Millisecond }, plain},
		{"nothing lost", func(in *inspector.Inside) { in.AfterBaseline.Lost = 0 }, plain},
		{"a lost ack", func(in *inspector.Inside) { in.AfterBaseline.Lost, in.AfterBaseline.AckLost = 0, 1 },
			"9 packets have passed, although the round trip takes 7: of the packets since, 1 had its ack lost"},
		{"a failed packet", func(in *inspector.Inside) { in.AfterBaseline.Lost, in.AfterBaseline.Failed = 0, 1 },
			"9 packets have passed, although the round trip takes 7: of the packets since, 1 could not be decoded"},
		{"all", func(in *inspector.Inside) {
			in.AfterBaseline.Failed, in.AfterBaseline.AckLost, in.AfterBaseline.InFlight = 3, 2, 2
		}, blamed + ", 3 could not be decoded, 2 had their acks lost, 2 are not acknowledged yet"},
		{"as many lost as failed", func(in *inspector.Inside) { in.AfterBaseline.Failed, in.AfterBaseline.AckLost = 2, 4 },
			blamed + ", 2 could not be decoded, 4 had their acks lost"},
		{"an unknown ack", func(in *inspector.Inside) { in.BaseAcked = 0 }, plain},
		{"a second reference", func(in *inspector.Inside) { in.Missing = 12 }, "the round trip takes 8 packets"},
	} {
		in := base
		c.edit(&in)
		e := explained{Record: &packetlog.Record{Seq: 20, Baseline: 9}, In: &in, rate: 60}
		if got := e.RoundTrip(); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	in := inspector.Inside{Header: 10}
	in.Base = inspector.BasePending
	e := explained{Record: &packetlog.Record{Payload: 90, Sent: 3, Arrived: 10}, In: &in}
	if e.Bits() != 800 || e.Delay() != 7 || !e.BasePending() || e.LostAt() != "" || e.FullQueue() != nil || e.Problem() != "no reason given" {
		t.Errorf("%d bits, %v", e.Bits(), e.Delay())
	}
	if in.Base, in.Err = inspector.BaseUnknown, errors.New("endpoint: too short"); e.BasePending() || e.Problem() != "too short" {
		t.Errorf("problem %q", e.Problem())
	}
	for d, want := range map[time.Duration]string{-1: "0 ms", 0: "0.0 ms", 1500 * time.Microsecond: "1.5 ms", 25 * time.Millisecond: "25 ms"} {
		if got := millis(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
