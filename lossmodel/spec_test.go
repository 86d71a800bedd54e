package lossmodel

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"wirelab/internal/setting"
	"wirelab/lossmodel/loss"
)

// Keys can be set in any order.
func TestSetInAnyOrder(t *testing.T) {
	keys := map[string]any{"loss": "60%", "burst": "2", "jitter": "5ms", "latency": "20ms", "rate": "1mbit", "queue": "9KB"}
	want := DefaultSpec()
	if err := want.SetAll(keys); err != nil {
		t.Fatal(err)
	}
	if want.Loss != (loss.Gilbert{Mean: 0.6, Burst: 2}) {
		t.Fatalf("loss is %v", want.Loss)
	}
	for range 50 {
		s := DefaultSpec()
		for key, value := range keys { // random order of a map
			if err := s.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
		if s != want {
			t.Fatalf("%v, want %v", s.Values(), want.Values())
		}
	}
}

// A burst can be set before its loss and survives a loss of 0.
func TestLossAndBurstTogether(t *testing.T) {
	s := DefaultSpec()
	for _, step := range []struct {
		key, value string
		want       loss.Model
	}{
		{"loss", "5%", loss.Bernoulli{P: 0.05}},
		{"burst", "3", loss.Gilbert{Mean: 0.05, Burst: 3}},
		{"loss", "0%", loss.Gilbert{Mean: 0, Burst: 3}},
		{"loss", "7%", loss.Gilbert{Mean: 0.07, Burst: 3}},
		{"loss.model", "gilbert", loss.Gilbert{Mean: 0.07, Burst: 3}},
		{"loss.model", "bernoulli", loss.Bernoulli{P: 0.07}},
		{"burst", "2", loss.Gilbert{Mean: 0.07, Burst: 2}},
		{"burst", "off", loss.Bernoulli{P: 0.07}},
		{"loss", "0%", nil},
		{"burst", "off", nil},
	} {
		if err := s.Set(step.key, step.value); err != nil || s.Loss != step.want {
			t.Fatalf("%s = %s: %#v, %v; want %#v", step.key, step.value, s.Loss, err, step.want)
		}
	}
}

// Number returns values in the unit of the key.
func TestNumber(t *testing.T) {
	s := newSpec(t, "loss", "12.5%", "burst", "3", "latency", "1.5s", "rate", "1.5mbit", "queue", "64KiB", "distribution",
		"normal")
	for key, want := range map[string]float64{"loss": 12.5, "burst": 3, "latency": 1500, "rate": 1500, "queue": 65536,
		"distribution": 1, "keep_order": 0, "mtu": 1500, "duplicate_copies": 1, "jitter": 0} {
		if got, ok := s.Number(key); !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", key, got, ok, want)
		}
	}
	if _, ok := s.Number("lost"); ok {
		t.Error("Number of an unknown key is ok")
	}
}

// Validate refuses specs with invalid or inconsistent fields.
func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"loss":             func(s *Spec) { s.Loss = loss.Bernoulli{P: math.NaN()} },
		"burst":            func(s *Spec) { s.Loss = loss.Gilbert{Mean: 0.05, Burst: 0.5} },
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
			t.Errorf("%s: NewLink returned no error", name)
		}
	}
	for _, burst := range []string{"2", "1.5", "1000000"} { // the limits are valid
		mean := map[string]string{"2": "66.6666666666%", "1.5": "60%", "1000000": "99.9999%"}[burst]
		newSpec(t, "loss", mean, "burst", burst)
	}
}

// Errors about unknown names list the known ones.
func TestErrorAlternatives(t *testing.T) {
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
		if !errors.As(c.err, &u) || !errors.Is(c.err, setting.ErrUnknown) {
			t.Errorf("%v: no alternatives", c.err)
			continue
		}
		if name, known := u.Unknown(); name != c.name || !strings.Contains(strings.Join(known, " "), c.among) {
			t.Errorf("%v: name %q, known %v", c.err, name, known)
		}
	}
	if _, known := s.Set("loss", "140%").(*KeyError).Unknown(); known != nil {
		t.Errorf("an out-of-range value has alternatives %v", known)
	}
}

// Users of the package can name the types of all fields.
func TestSpecTypesAreExported(t *testing.T) {
	spec := reflect.TypeFor[Spec]()
	for i := range spec.NumField() {
		name := spec.Field(i).Type.Name()
		if unicode.IsLower(rune(name[0])) && spec.Field(i).Type.PkgPath() != "" {
			t.Errorf("%s has the unexported type %s", spec.Field(i).Name, name)
		}
	}
}
