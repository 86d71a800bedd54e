package lossmodel

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// checkRoundTrip checks that a spec survives conversion to text, key by key and as a JSON table.
func checkRoundTrip(t *testing.T, s Spec) {
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

// No text makes Set panic. An accepted text reads back as the same spec, and a valid spec makes a
// link.
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
	f.Add("netem", "delay 50ms 10ms loss gemodel 1% 20% reorder 5% gap 3 rate 5mbit 14 seed 1")
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
		checkRoundTrip(t, s)
		if s.Validate() == nil {
			if _, err := NewLinkWith(testFiles, s, 1, "down"); err != nil && !errors.Is(err, tracefile.ErrFile) {
				t.Fatal(err)
			}
		}
	})
}

// FuzzSetNumber is FuzzSet for numbers.
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
			checkRoundTrip(t, s)
		}
		s = DefaultSpec()
		s.Loss = loss.WithBurst(loss.Bernoulli{P: x}, loss.BurstLength{Packets: 2})
		if s.Validate() == nil {
			checkRoundTrip(t, s)
		}
	})
}
