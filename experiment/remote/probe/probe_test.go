package probe

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"wirelab/experiment/remote/channel"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"
	"wirelab/lossmodel/relay"
)

const secret = "0123456789abcdef0f1e2d3c4b5a6978"

func options(t testing.TB) channel.Options {
	t.Helper()
	k, err := channel.ParseToken(secret)
	if err != nil {
		t.Fatal(err)
	}
	return channel.Options{Token: k}
}

func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// far listens, and serves one measurement.
func far(t testing.TB) (at netip.AddrPort, report func() (Report, error)) {
	t.Helper()
	l, err := channel.Listen(netip.MustParseAddrPort("127.0.0.1:0"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	type ended struct {
		report Report
		err    error
	}
	done := make(chan ended, 1)
	go func() {
		s, err := l.Accept(context.Background())
		if err != nil {
			done <- ended{err: err}
			return
		}
		r, err := Serve(context.Background(), s)
		done <- ended{r, err}
	}()
	return l.Addr(), func() (Report, error) {
		select {
		case e := <-done:
			return e.report, e.err
		case <-patient(t).Done():
			t.Fatal("the far end never ends")
		}
		return Report{}, nil
	}
}

// behind puts a relay before an address.
func behind(t testing.TB, to netip.AddrPort, seed uint64, up, down lossmodel.Spec) netip.AddrPort {
	t.Helper()
	r, err := relay.Open(relay.Options{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Server: to, Seed: seed,
		Conditions: func(relay.Client) (lossmodel.Spec, lossmodel.Spec) { return up, down }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r.Addr()
}

// spec sets keys of a link: key, value, key, value.
func spec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// measured measures through links.
func measured(t testing.TB, plan Plan, seed uint64, up, down lossmodel.Spec) (*Path, Report) {
	t.Helper()
	at, report := far(t)
	s, err := channel.Dial(patient(t), behind(t, at, seed, up, down), Purpose, options(t))
	if err != nil {
		t.Fatal(err)
	}
	path, err := Measure(patient(t), s, plan, nil)
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	r, err := report()
	if err != nil {
		t.Fatal(err)
	}
	return path, r
}

// What was set on a path is found, in both directions, as well as the fit itself says.
func TestMeasureFindsTheLink(t *testing.T) {
	plan := Plan{Duration: 2 * time.Second, Interval: time.Millisecond, Up: 100, Down: 500}
	path, r := measured(t, plan, 3, spec(t, "loss", "10%", "latency", "30ms"), spec(t, "loss", "3%", "latency", "30ms", "duplicate", "5%"))
	t.Log(r, path.Trips[0], len(path.Trips))
	for _, c := range []struct {
		name         string
		fit          measure.FitResult
		loss, copies float64
	}{
		{"up", fit(t, path, true), 0.1, 0}, {"down", fit(t, path, false), 0.03, 0.05},
	} {
		t.Log(c.name, "\n", c.fit.TOML())
	}
}

func fit(t testing.TB, p *Path, up bool) measure.FitResult {
	t.Helper()
	c := &p.Down
	if up {
		c = &p.Up
	}
	f, err := measure.Fit(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
