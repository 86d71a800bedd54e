package lossmodel

import (
	"reflect"
	"testing"
	"time"
)

// All profiles are complete, valid, and found by name.
func TestProfiles(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if seen[p.Name] || p.Name == "" || p.Summary == "" || p.Source == "" {
			t.Errorf("profile %+v is incomplete or a duplicate", p)
		}
		seen[p.Name] = true
		for _, s := range []Spec{p.Down, p.Up} {
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			checkRoundTrip(t, s)
		}
		if got, err := ProfileByName(p.Name); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: ProfileByName: %v", p.Name, err)
		}
	}
	// Spot checks against the specification's list.
	for _, want := range []struct{ profile, down, up string }{
		{"edge", "400ms 240kbit 0%", "440ms 200kbit 0%"},
		{"very-bad", "500ms 1mbit 10%", "500ms 1mbit 10%"},
		{"wpt-3g", "150ms 1.6mbit 0%", "150ms 768kbit 0%"},
		{"starlink", "22.5ms 105mbit 0%", "22.5ms 15mbit 0%"}, // and a spike: see below
		{"fiedler", "50ms off 5%", "50ms off 5%"},
		{"rfc8868-300ms-20pct", "300ms off 20%", "300ms off 20%"},
	} {
		p, err := ProfileByName(want.profile)
		if err != nil {
			t.Error(err)
			continue
		}
		if d, u := summarize(p.Down), summarize(p.Up); d != want.down || u != want.up {
			t.Errorf("%s: down %s, up %s; want %s and %s", p.Name, d, u, want.down, want.up)
		}
	}
}

// At the handover, every 15 s, the round-trip time of the profile starlink rises by 74 ms.
func TestStarlinkSpike(t *testing.T) {
	p, err := ProfileByName("starlink")
	if err != nil {
		t.Fatal(err)
	}
	rtt := func(at time.Duration) time.Duration {
		down, up := newLink(t, p.Down, 1), newLink(t, p.Up, 1)
		return down.Send(at, nil, 0).Due + up.Send(at, nil, 0).Due - 2*at
	}
	for at, want := range map[time.Duration]time.Duration{0: 45 * ms, 14800 * ms: 45 * ms, 14950 * ms: 119 * ms,
		15 * time.Second: 45 * ms, 29950 * ms: 119 * ms} {
		if got := rtt(at); got < want || got > want+ms {
			t.Errorf("at %v the round-trip time is %v, want %v", at, got, want)
		}
	}
}

func summarize(s Spec) string {
	v := s.Values()
	return v["latency"].(string) + " " + v["rate"].(string) + " " + v["loss"].(string)
}
