package lossmodel

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What people write, and what the spec then says.
func TestSetReads(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		get   string // "" = the key
		want  string
	}{
		{"loss", "5%", "", "5%"},
		{"loss", " 0.5 % ", "", "0.5%"},
		{"loss", "0.07%", "", "0.07%"},
		{"loss", "100%", "", "100%"},
		{"loss", 0, "", "0%"},
		{"loss", 0.0, "", "0%"},
		{"loss", "0", "", "0%"},
		{"loss", "off", "", "0%"},
		{"loss.mean", "3%", "loss", "3%"},
		{"loss.p", "3%", "loss", "3%"},
		{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": 2.0}, "burst", "2"},
		{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": int64(4)}, "burst", "4"},
		{"loss", map[string]any{"model": "gilbert", "mean": "5%"}, "burst", "off"},
		{"loss", map[string]any{"mean": "5%", "burst": "2.5"}, "burst", "2.5"},
		{"loss", map[string]any{"p": "5%"}, "", "5%"},
		{"loss", map[string]any{"model": "bernoulli", "p": "0%"}, "", "0%"},
		{"burst", 1, "", "1"},
		{"burst", "2.50", "", "2.5"},
		{"loss.burst", 3.0, "burst", "3"},
		{"latency", "50ms", "", "50ms"},
		{"latency", "1.5 s", "", "1.5s"},
		{"latency", "250us", "", "250us"},
		{"latency", "250µs", "", "250us"},
		{"latency", "1234567ns", "", "1.234567ms"},
		{"latency", "20msec", "", "20ms"},
		{"latency", "1h", "", "3600s"},
		{"latency", 20 * time.Millisecond, "", "20ms"},
		{"latency", "50ms±10ms", "jitter", "10ms"},
		{"latency", "50ms ± 10ms", "latency", "50ms"},
		{"latency", "50ms+-10ms", "jitter", "10ms"},
		{"latency", "50ms +/- 10ms", "jitter", "10ms"},
		{"latency", "50ms 10ms", "jitter", "10ms"},
		{"latency", "50 ms", "latency", "50ms"},
		{"delay.jitter", "4ms", "jitter", "4ms"},
		{"distribution", "normal", "", "normal"},
		{"keep_order", true, "", "on"},
		{"keep_order", "off", "", "off"},
		{"checksum", "false", "", "off"},
		{"reorder", map[string]any{"p": "5%", "delay": "7ms"}, "reorder_delay", "7ms"},
		{"reorder.delay", "8ms", "reorder_delay", "8ms"},
		{"duplicate", map[string]any{"p": "5%", "copies": 3}, "duplicate_copies", "3"},
		{"corrupt", map[string]any{"p": "1%", "checksum": false}, "checksum", "off"},
		{"rate", "5mbit", "", "5mbit"},
		{"rate", "1.5 Mbit/s", "", "1.5mbit"},
		{"rate", "780kbit", "", "780kbit"},
		{"rate", "64kbps", "", "64kbit"},
		{"rate", "64 Kb/s", "", "64kbit"},
		{"rate", "80KB/s", "", "640kbit"},
		{"rate", "1MBps", "", "8mbit"},
		{"rate", "1kibit", "", "1.024kbit"},
		{"rate", "12345bit", "", "12.345kbit"},
		{"rate", "off", "", "off"},
		{"rate", map[string]any{"rate": "2mbit", "queue": "10KB"}, "queue", "10KB"},
		{"queue", "64KiB", "", "64KiB"},
		{"queue", "64kB", "", "64KB"},
		{"queue", "1500B", "", "1.5KB"},
		{"queue", "1MiB", "", "1MiB"},
		{"queue", "off", "", "off"},
		{"mtu", 1280, "", "1280"},
		{"mtu", "576", "", "576"},
		{"mtu", "1400B", "", "1400"},
		{"mtu", "off", "", "off"},
		{"mtu", 65535, "", "off"},
	} {
		s := DefaultSpec()
		if c.get == "" {
			c.get = c.key
		}
		if err := s.Set(c.key, c.value); err != nil {
			t.Errorf("%s = %v: %v", c.key, c.value, err)
		} else if got, _ := s.Get(c.get); got != c.want {
			t.Errorf("%s = %v: %s is %s, want %s", c.key, c.value, c.get, got, c.want)
		}
	}
}

// Nonsense is refused, the message says what was expected, and nothing changes.
func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		key      string
		value    any
		expected string
	}{
		{"loss", "140%", "a percentage from 0% to 100%"},
		{"loss", "-1%", "a percentage"},
		{"loss", "5", "a percentage"},
		{"loss", 0.05, "a percentage"},
		{"loss", "NaN%", "a percentage"},
		{"loss", "1e1%", "a percentage"},
		{"loss", "%", "a percentage"},
		{"loss", "", "a percentage"},
		{"loss", true, "a percentage"},
		{"loss", nil, "a percentage"},
		{"loss", map[string]any{"model": "gilbert"}, "a percentage"},
		{"loss", map[string]any{"model": "gilbert", "mean": "60%", "burst": 1.0}, "at least 1.5 packets at a mean loss of 60%"},
		{"loss", map[string]any{"model": "gilbert", "mean": "5%", "burst": 0.5}, "a mean run of lost packets from 1"},
		{"loss", map[string]any{"model": "gilbrt", "mean": "5%"}, "one of bernoulli, gilbert"},
		{"loss", map[string]any{"model": "bernoulli", "burst": 2}, `unknown parameter of the loss model bernoulli "burst"`},
		{"burst", 0.99, "a mean run of lost packets from 1"},
		{"burst", 0, "a mean run"},
		{"burst", math.NaN(), "a mean run"},
		{"burst", math.Inf(1), "a mean run"},
		{"latency", "-5ms", "a time from 0 to 1h"},
		{"latency", "50", "a time"},
		{"latency", 50, "a time"},
		{"latency", "61m", "a time"},
		{"latency", "50ms±", "two of them"},
		{"latency", "50ms±-1ms", "two of them"},
		{"latency", "50ms 10", "two of them"},
		{"jitter", "10%", "a time"},
		{"distribution", "pareto", "uniform or normal"},
		{"distribution", 1, "uniform or normal"},
		{"keep_order", "maybe", `"on" or "off"`},
		{"keep_order", 1, `"on" or "off"`},
		{"duplicate_copies", 0, "a whole number of copies from 1 to 8"},
		{"duplicate_copies", 1.5, "a whole number"},
		{"corrupt_bits", 65, "a whole number of bits from 1 to 64"},
		{"rate", "0", `or "off" for no limit`},
		{"rate", 5000000, "a rate from 1kbit to 1tbit"},
		{"rate", "5m", "a rate"},
		{"rate", "5mb", "a rate"},
		{"rate", "-5mbit", "a rate"},
		{"rate", "2tbit", "a rate"},
		{"rate", "999bit", "a rate"},
		{"rate", "99999999999999999999tbit", "a rate"},
		{"queue", "0KB", `or "off" for no limit`},
		{"queue", 0, "a size"},
		{"queue", "64kb", "a size"},
		{"queue", "2000TB", "a size"},
		{"mtu", 67, "from 68 to 65535"},
		{"mtu", 1e99, "from 68 to 65535"},
		{"mtu", "1500.5", "from 68 to 65535"},
		{"checksum", map[string]any{"on": true}, `"on" or "off"`},
		{"lataency", "5ms", `unknown key "lataency": expected one of loss, burst`},
		{"loss.modle", "gilbert", `unknown key "loss.modle"`},
		{"nowhere", map[string]any{"a": 1}, `unknown key "nowhere"`},
		{"reorder", map[string]any{"p": "5%", "dealy": "1ms"}, `unknown key "reorder.dealy"`},
	} {
		s := DefaultSpec()
		err := s.Set(c.key, c.value)
		var ke *KeyError
		if !errors.As(err, &ke) || !strings.Contains(err.Error(), c.expected) {
			t.Errorf("%s = %v: %v; the message lacks %q", c.key, c.value, err, c.expected)
		}
		if s != DefaultSpec() {
			t.Errorf("%s = %v was refused, but left %v", c.key, c.value, s.Values())
		}
		if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrValue) {
			t.Errorf("%s = %v: the error wraps no sentinel", c.key, c.value)
		}
	}
}

// A caller can suggest a near name for whatever is not known.
func TestUnknownNamesItsAlternatives(t *testing.T) {
	var s Spec
	_, profileErr := ProfileByName("lt")
	_, keyErr := s.Get("latancy")
	for _, c := range []struct {
		err         error
		name, among string
	}{
		{s.Set("latancy", "1ms"), "latancy", "latency"},
		{s.Set("distribution", "nromal"), "nromal", "normal"},
		{s.Set("loss", map[string]any{"model": "gilbrt"}), "gilbrt", "gilbert"},
		{s.Set("loss", map[string]any{"model": "gilbert", "bursts": 2}), "bursts", "burst"},
		{s.Nudge("qeue", 1), "qeue", "queue"},
		{keyErr, "latancy", "latency"},
		{profileErr, "lt", "lte"},
	} {
		var u interface {
			Unknown() (name string, known []string)
		}
		if !errors.As(c.err, &u) || !errors.Is(c.err, ErrUnknown) {
			t.Errorf("%v: no alternatives", c.err)
			continue
		}
		if name, known := u.Unknown(); name != c.name || !strings.Contains(strings.Join(known, " "), c.among) {
			t.Errorf("%v: name %q, known %v", c.err, name, known)
		}
	}
	if _, known := s.Set("loss", "140%").(*KeyError).Unknown(); known != nil {
		t.Errorf("a value out of range has alternatives %v", known)
	}
}

// The order of keys does not matter: files give them in any order.
func TestSetInAnyOrder(t *testing.T) {
	keys := map[string]any{"loss": "60%", "burst": "2", "jitter": "5ms", "latency": "20ms", "rate": "1mbit", "queue": "9KB"}
	want := DefaultSpec()
	if err := want.SetAll(keys); err != nil {
		t.Fatal(err)
	}
	if want.Loss != (Gilbert{Mean: 0.6, Burst: 2}) {
		t.Fatalf("loss is %v", want.Loss)
	}
	for range 50 {
		s := DefaultSpec()
		for key, value := range keys { // in the runtime's random order
			if err := s.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
		if s != want {
			t.Fatalf("%v, want %v", s.Values(), want.Values())
		}
	}
}

// A burst waits for its loss, and survives a loss of 0.
func TestLossAndBurstTogether(t *testing.T) {
	s := DefaultSpec()
	for _, step := range []struct {
		key, value string
		want       LossModel
	}{
		{"loss", "5%", Bernoulli{0.05}},
		{"burst", "3", Gilbert{0.05, 3}},
		{"loss", "0%", Gilbert{0, 3}},
		{"loss", "7%", Gilbert{0.07, 3}},
		{"loss.model", "gilbert", Gilbert{0.07, 3}},
		{"loss.model", "bernoulli", Bernoulli{0.07}},
		{"burst", "2", Gilbert{0.07, 2}},
		{"burst", "off", Bernoulli{0.07}},
		{"loss", "0%", nil},
		{"burst", "off", nil},
	} {
		if err := s.Set(step.key, step.value); err != nil || s.Loss != step.want {
			t.Fatalf("%s = %s: %#v, %v; want %#v", step.key, step.value, s.Loss, err, step.want)
		}
	}
}

// A spec put together by hand is checked like one that was set.
func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"loss":             func(s *Spec) { s.Loss = Bernoulli{math.NaN()} },
		"burst":            func(s *Spec) { s.Loss = Gilbert{0.05, 0.5} },
		"latency":          func(s *Spec) { s.Delay.Latency = -1 },
		"jitter":           func(s *Spec) { s.Delay.Jitter = 2 * time.Hour },
		"distribution":     func(s *Spec) { s.Delay.Distribution = 9 },
		"reorder":          func(s *Spec) { s.Reorder.P = 1.1 },
		"reorder_delay":    func(s *Spec) { s.Reorder.Delay = -1 },
		"duplicate":        func(s *Spec) { s.Duplicate.P = -0.1 },
		"duplicate_copies": func(s *Spec) { s.Duplicate.Copies = 9 },
		"duplicate_delay":  func(s *Spec) { s.Duplicate.Delay = -1 },
		"corrupt":          func(s *Spec) { s.Corrupt.P = math.Inf(1) },
		"corrupt_bits":     func(s *Spec) { s.Corrupt.Bits = 0 },
		"rate":             func(s *Spec) { s.Rate.BitsPerSecond = 5 },
		"queue":            func(s *Spec) { s.Rate.Queue = -1 },
		"mtu":              func(s *Spec) { s.MTU = 0 },
	} {
		s := DefaultSpec()
		spoil(&s)
		var ke *KeyError
		if err := s.Validate(); !errors.As(err, &ke) || ke.Key != name {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewLink(s, 1, "down"); err == nil {
			t.Errorf("%s: a link was made of it", name)
		}
	}
	for _, burst := range []string{"2", "1.5", "1000000"} { // the very limit is allowed
		mean := map[string]string{"2": "66.6666666666%", "1.5": "60%", "1000000": "99.9999%"}[burst]
		specOf(t, "loss", mean, "burst", burst)
	}
}

// roundTrips demands that a spec survives text, by key and as a table of JSON.
func roundTrips(t *testing.T, s Spec) {
	t.Helper()
	doc, err := json.Marshal(s.Values())
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]any
	if err := json.Unmarshal(doc, &table); err != nil {
		t.Fatal(err)
	}
	back := DefaultSpec()
	if err := back.SetAll(table); err != nil || back != s {
		t.Fatalf("%s came back as %v, %v", doc, back.Values(), err)
	}
	again := DefaultSpec()
	for _, k := range Keys() {
		text, err := s.Get(k.Key)
		if err != nil || text != table[k.Key] {
			t.Fatalf("%s: %q and %q, %v", k.Key, text, table[k.Key], err)
		}
		if err := again.Set(k.Key, text); err != nil {
			t.Fatal(err)
		}
	}
	if again != s {
		t.Fatalf("%s came back key by key as %v", doc, again.Values())
	}
}

func TestProfilesAreSoundAndRoundTrip(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if seen[p.Name] || p.Name == "" || p.Summary == "" || p.Source == "" {
			t.Errorf("profile %+v is incomplete or there twice", p)
		}
		seen[p.Name] = true
		for _, s := range []Spec{p.Down, p.Up} {
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			roundTrips(t, s)
		}
		if got, err := ProfileByName(p.Name); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s is not found by its name: %v", p.Name, err)
		}
	}
	// Spot checks against the specification's list.
	for _, want := range []struct{ profile, down, up string }{
		{"edge", "400ms 240kbit 0%", "440ms 200kbit 0%"},
		{"very-bad", "500ms 1mbit 10%", "500ms 1mbit 10%"},
		{"wpt-3g", "150ms 1.6mbit 0%", "150ms 768kbit 0%"},
		{"starlink", "22.5ms 105mbit 0%", "22.5ms 15mbit 0%"},
		{"fiedler", "50ms off 5%", "50ms off 5%"},
		{"rfc8868-300ms-20pct", "300ms off 20%", "300ms off 20%"},
	} {
		p, err := ProfileByName(want.profile)
		if err != nil {
			t.Error(err)
			continue
		}
		if d, u := brief(p.Down), brief(p.Up); d != want.down || u != want.up {
			t.Errorf("%s: down %s, up %s; want %s and %s", p.Name, d, u, want.down, want.up)
		}
	}
}

func brief(s Spec) string {
	v := s.Values()
	return v["latency"].(string) + " " + v["rate"].(string) + " " + v["loss"].(string)
}

// What Keys says of a key is true of Set.
func TestKeysTellTheTruth(t *testing.T) {
	for _, k := range Keys() {
		stops := append([]string{k.Default}, append(k.Ladder, k.Choices...)...)
		if k.Min != "" {
			stops = append(stops, k.Min, k.Max)
		} else if len(k.Choices) == 0 {
			t.Errorf("%s has neither bounds nor choices", k.Key)
		}
		for _, stop := range stops {
			s := DefaultSpec()
			if err := s.Set(k.Key, stop); err != nil {
				t.Errorf("%s does not take %s, which Keys lists", k.Key, stop)
			} else if got, _ := s.Get(k.Key); got != stop && stop != k.Max {
				t.Errorf("%s: %s is written back as %s", k.Key, stop, got)
			}
		}
		if got, _ := DefaultSpec().Get(k.Key); got != k.Default {
			t.Errorf("%s: default %s, said to be %s", k.Key, got, k.Default)
		}
		if k.Help == "" || k.Stage == "" {
			t.Errorf("%s is not explained", k.Key)
		}
	}
}

func TestNudge(t *testing.T) {
	for _, c := range []struct {
		key, from string
		rungs     int
		want      string
	}{
		{"loss", "0%", 1, "0.1%"},
		{"loss", "5%", 2, "10%"},
		{"loss", "5%", -1, "3%"},
		{"loss", "6%", 1, "7%"},
		{"loss", "6%", 2, "10%"},
		{"loss", "6%", -1, "5%"},
		{"loss", "0%", -3, "0%"},
		{"loss", "100%", 9, "100%"},
		{"burst", "off", 1, "1.5"},
		{"burst", "1.5", -1, "off"},
		{"burst", "1.2", -1, "off"},
		{"rate", "off", -1, "1gbit"},
		{"rate", "1gbit", 1, "off"},
		{"rate", "1.6mbit", -1, "1.5mbit"},
		{"rate", "1.6mbit", 1, "2mbit"},
		{"rate", "5gbit", 1, "off"},
		{"rate", "5gbit", -1, "1gbit"},
		{"queue", "10KB", 1, "16KB"},
		{"distribution", "uniform", 1, "normal"},
		{"distribution", "normal", 1, "normal"},
		{"checksum", "on", 1, "off"},
		{"mtu", "off", -1, "9000"},
		{"mtu", "1501", 1, "9000"},
		{"latency", "50ms", 0, "50ms"},
	} {
		s := DefaultSpec()
		if err := s.Set(c.key, c.from); err != nil {
			t.Fatal(err)
		}
		if err := s.Nudge(c.key, c.rungs); err != nil {
			t.Errorf("%s: %v", c.key, err)
		}
		if got, _ := s.Get(c.key); got != c.want {
			t.Errorf("%s from %s by %d: %s, want %s", c.key, c.from, c.rungs, got, c.want)
		}
	}
}

// FuzzSet: no text makes Set panic; what it accepts reads back as the same spec,
// and makes a link if it is valid as a whole.
func FuzzSet(f *testing.F) {
	for _, k := range Keys() {
		for _, text := range append(k.Ladder, k.Default, k.Min, k.Max, "off", "", "-1", "0") {
			f.Add(k.Key, text)
		}
	}
	for _, text := range []string{"50ms±10ms", "50ms +- 10ms", "0.1 %", "5 Mbit/s", "80KB/s", "64KiB", "1.0000000000000000001%",
		"0.00000000000000000000000000000000001%", "µs", "1e5%", ".%", "9223372036854775807ns", "1gibit", "±", "1s "} {
		f.Add("latency", text)
		f.Add("loss", text)
		f.Add("rate", text)
	}
	f.Add("loss.model", "gilbert")
	f.Fuzz(func(t *testing.T, key, text string) {
		s := DefaultSpec()
		err := s.Set(key, text)
		if err != nil {
			var ke *KeyError
			if !errors.As(err, &ke) || s != DefaultSpec() {
				t.Fatalf("%v left %v", err, s.Values())
			}
			return
		}
		roundTrips(t, s)
		if s.Validate() == nil {
			if _, err := NewLink(s, 1, "down"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzSetNumber: the same for numbers.
func FuzzSetNumber(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 1.5, 64, 1500, 1e300, math.NaN(), math.Inf(1), 0.1 + 0.2, math.SmallestNonzeroFloat64} {
		for i := range Keys() {
			f.Add(uint8(i), x)
		}
	}
	f.Fuzz(func(t *testing.T, key uint8, x float64) {
		s := DefaultSpec()
		k := Keys()[int(key)%len(Keys())]
		if s.Set(k.Key, x) == nil {
			roundTrips(t, s)
		}
		s = DefaultSpec()
		s.Loss = withBurst(Bernoulli{x}, 2)
		if s.Validate() == nil {
			roundTrips(t, s)
		}
	})
}
