package lossmodel

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/internal/units"
	"wirelab/lossmodel/netem"
	"wirelab/lossmodel/random"
)

// keyInfo returns the row of a key.
func keyInfo(t *testing.T, key string) KeyInfo {
	t.Helper()
	for _, k := range Keys() {
		if k.Key == key {
			return k
		}
	}
	t.Fatalf("no key %s", key)
	return KeyInfo{}
}

// A number typed for a key with a ladder is accepted with the unit that BareUnit names, or without one. Where Set accepts
// plain numbers, there is no unit. Values of the ladder are complete, so CompleteUnits leaves them as they are.
func TestBareUnits(t *testing.T) {
	want := map[string]string{"loss": "%", "jitter_correlation": "%", "latency": "ms", "spike_every": "ms", "rate": "kbit", "queue": "KB",
		"burst": "", "corrupt_ber": "", "mtu": "", "rate_overhead": "", "distribution": "", "netem": "", "delay_trace": ""}
	for _, k := range Keys() {
		unit := DefaultSpec().BareUnit(k)
		if w, ok := want[k.Key]; ok && unit != w {
			t.Errorf("%s takes numbers in %q, want %q", k.Key, unit, w)
		}
		for _, text := range k.Ladder {
			if got, err := DefaultSpec().CompleteUnits(k, []string{text}); err != nil || got != text {
				t.Errorf("%s: %s becomes %q, %v", k.Key, text, got, err)
			}
			number, rest := units.Split(text)
			spec := DefaultSpec()
			if got, err := spec.CompleteUnits(k, []string{number}); number != "" && rest == unit && (err != nil || spec.Set(k.Key, got) != nil) {
				t.Errorf("%s: %s becomes %q, which Set refuses: %v", k.Key, number, got, err)
			}
		}
	}
	for _, c := range []struct{ key, value, want string }{{"rate", "5mbit", "mbit"}, {"queue", "2MB", "MB"}, {"latency", "2s", "ms"}, {"rate", "off", "kbit"}} {
		if got := newSpec(t, c.key, c.value).BareUnit(keyInfo(t, c.key)); got != c.want {
			t.Errorf("with %s %s numbers are in %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// Each number gets its unit: both parts of a latency with jitter, and those parameters of a model that are percentages.
// Others stay, and a misspelt model is reported as one.
func TestCompleteUnits(t *testing.T) {
	for _, c := range []struct{ key, typed, want string }{
		{"loss", "5", "5%"}, {"loss", "5%", "5%"}, {"latency", "50±10", "50ms±10ms"}, {"latency", "50 10", "50ms 10ms"}, {"latency", "1s±10", "1s±10ms"},
		{"loss", "gilbert-elliott p=2 r=30% h=20", "gilbert-elliott p=2% r=30% h=20%"}, {"loss", "gilbert mean=5 burst=3", "gilbert mean=5% burst=3"},
		{"loss", "periodic every=7", "periodic every=7"}, {"corrupt_ber", "0.001", "0.001"}, {"rate", "off", "off"}, {"keep_order", "on", "on"},
		{"netem", "delay 50ms loss 1%", "delay 50ms loss 1%"},
	} {
		got, err := DefaultSpec().CompleteUnits(keyInfo(t, c.key), strings.Fields(c.typed))
		if err != nil || got != c.want {
			t.Errorf("%s %s becomes %q, %v, want %q", c.key, c.typed, got, err, c.want)
		}
	}
	_, err := DefaultSpec().CompleteUnits(keyInfo(t, "loss"), []string{"gilbrt", "mean=5"})
	if err == nil || !strings.Contains(err.Error(), "did you mean gilbert?") {
		t.Errorf("a misspelt model: %v", err)
	}
}

// CompleteWords lists models and the ladder first, then each parameter of the model until it is given. Hint describes the
// parameter that is being typed, and otherwise the model.
func TestLossWords(t *testing.T) {
	k := keyInfo(t, "loss")
	first := CompleteWords(k, nil)
	if !slices.Contains(first, "gilbert") || !slices.Contains(first, "5%") || len(first) != len(k.ModelNames())+len(k.Ladder) {
		t.Errorf("as the first word: %v", first)
	}
	for _, c := range []struct{ before, want string }{
		{"gilbert", "mean= burst="}, {"gilbert mean=5", "burst="}, {"gilbert burst=3 mean=5", ""}, {"gilbert-elliott p=1 h=5", "r= k="}, {"5%", ""},
		{"four-state p=1", "p13= p31= p32= p23= p14="},
	} {
		if got := CompleteWords(k, strings.Fields(c.before)); strings.Join(got, " ") != c.want {
			t.Errorf("after %s: %q, want %q", c.before, got, c.want)
		}
	}
	if got := CompleteWords(keyInfo(t, "keep_order"), nil); !slices.Equal(got, []string{"on", "off"}) {
		t.Errorf("for keep_order: %v", got)
	}
	for _, c := range []struct {
		typed []string
		want  string
	}{
		{[]string{"5%"}, ""},
		{[]string{"gilbert", ""}, "gilbert: bursts in which all packets are lost; takes mean= burst="},
		{[]string{"gilbert", "mean=5", "burst=3"}, "gilbert burst: mean number of packets lost in a row, or mean duration of a burst such as 30ms; off: independent losses, 1 to 1000000; default off"},
		{[]string{"gilbert", "mean"}, "gilbert mean: loss rate, 0% to 100%"}, // no default
		{[]string{"pattern", "bits=01"}, "pattern bits: 0 for an arriving packet, 1 for a lost one"},
		{[]string{"trace", "by=t"}, "trace by: packet: packet n has the outcome of row n; time: a packet has the outcome of the row sent at the same time; default packet"},
	} {
		if got := Hint(k, c.typed); got != c.want {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
}

// Every word that completion offers in a netem line is one with which the parser finds no fault at that place, a word is
// offered once, and the hint about an earlier word that is invalid is the parser's.
func TestNetemWords(t *testing.T) {
	k := keyInfo(t, "netem")
	for _, line := range []string{"", "delay 5ms", "loss", "delay 50ms 10ms distribution", "loss gemodel 1%", "limit 5 rate 1mbit"} {
		before := strings.Fields(line)
		words := CompleteWords(k, before)
		if len(words) == 0 {
			t.Errorf("nothing may follow %q", line)
		}
		for _, w := range words {
			if w == "off" {
				if line != "" {
					t.Errorf("%q is followed by off", line)
				}
				continue
			}
			_, err := netem.Parse(strings.Join(append(before, w), " ")) // may miss what w needs
			if err != nil && strings.Contains(err.Error(), fmt.Sprintf("got %q, expected one of", w)) || slices.Contains(before, w) {
				t.Errorf("%q followed by %s: %v", line, w, err)
			}
		}
	}
	if !slices.Contains(CompleteWords(k, nil), "off") {
		t.Error("off is not offered as the first word")
	}
	for _, line := range []string{"delay", "bogus", "bogus 5 delay 5ms", "limit"} { // a value is expected, or a word is invalid
		if words := CompleteWords(k, strings.Fields(line)); words != nil {
			t.Errorf("%q is followed by %v", line, words)
		}
	}
	for _, c := range []struct{ line, prefix string }{
		{"", "parameters of tc's netem"}, {"dela", "expected one of limit, latency"}, {"delay 5", "expected a time from 0"}, {"bogus d", `netem: got "bogus", expected one of`},
		{"distribution ", "expected normal, pareto, paretonormal"}, {"loss ", `expected a percentage such as "5%", or random`},
	} {
		words := strings.Split(c.line, " ")
		if got := Hint(k, words); !strings.HasPrefix(got, c.prefix) {
			t.Errorf("%q: hint %q, want %q...", c.line, got, c.prefix)
		}
	}
}

// Level is 0 at the first rung of a ladder and 1 at the last, and there is none without a ladder.
func TestLevel(t *testing.T) {
	for _, k := range Keys() {
		if len(k.Ladder) < 2 {
			if _, ok := DefaultSpec().Level(k.Key); ok {
				t.Errorf("%s has a level without a ladder", k.Key)
			}
			continue
		}
		for i, text := range k.Ladder {
			s := DefaultSpec()
			if err := s.Set(k.Key, text); err != nil {
				t.Fatal(err)
			}
			got, ok := s.Level(k.Key)
			if want := float64(i) / float64(len(k.Ladder)-1); !ok || got < want-1e-9 || got > want+1e-9 {
				t.Errorf("%s %s is at %f, %v, want %f", k.Key, text, got, ok, want)
			}
		}
	}
	if _, ok := DefaultSpec().Level("bogus"); ok {
		t.Error("an unknown key has a level")
	}
}

// A name or number that no distribution or cause has is not taken for one of them.
func TestUnknownNumbers(t *testing.T) {
	s := newSpec(t, "jitter", "5ms")
	s.Delay.Distribution = numDistributions
	if err := s.Validate(); err == nil || s.Delay.Distribution.String() != fmt.Sprintf("distribution(%d)", numDistributions) {
		t.Errorf("distribution %v: %v", s.Delay.Distribution, err)
	}
	if got := NumCauses.String(); got != fmt.Sprintf("cause(%d)", NumCauses) {
		t.Errorf("a cause beyond the last is %q", got)
	}
	for d := range numDistributions {
		s.Delay.Distribution = d
		s.Delay.Table.Quantiles = "-1 1"
		if err := s.Validate(); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// Warnings name exactly the settings that a netem line leaves without effect: those that differ from the default, except
// netem itself and mtu, which keep theirs.
func TestWarningsListReplacedKeys(t *testing.T) {
	s := newSpec(t, "mtu", "1280", "corrupt_bits", "2", "loss", "5%", "latency", "20ms")
	if got := strings.Join(s.Warnings(), "\n"); got != "corrupt_bits: has no effect; expected corrupt" {
		t.Errorf("without netem: %q", got)
	}
	s = newSpec(t, "mtu", "1280", "loss", "5%", "latency", "20ms", "netem", "limit 100")
	want := "netem replaces the other stages: loss 5%, latency 20ms will take effect when it is off"
	if got := s.Warnings(); len(got) == 0 || got[len(got)-1] != want {
		t.Errorf("%q, want %q at the end", got, want)
	}
	s = newSpec(t, "mtu", "1280", "netem", "limit 100")
	for _, w := range s.Warnings() {
		if strings.Contains(w, "replaces the other stages") {
			t.Errorf("%q, although nothing is replaced", w)
		}
	}
}

// The pool keeps free buffers of exactly maxFreeBytes in total, and drops the one that would exceed them. A buffer may exceed
// its packet by exactly maxSlack.
func TestPoolBounds(t *testing.T) {
	var p pool
	a, b := p.alloc(1), p.alloc(1)
	p.packets[a].data, p.packets[b].data = make([]byte, maxFreeBytes-10), make([]byte, 10)
	p.free(a)
	p.free(b)
	if p.freeBytes != maxFreeBytes || p.packets[a].data == nil || p.packets[b].data == nil {
		t.Errorf("%d bytes are kept of exactly %d", p.freeBytes, maxFreeBytes)
	}
	c := p.alloc(10) // b's slot
	p.packets[c].data = make([]byte, 11)
	p.free(c)
	if p.freeBytes != maxFreeBytes-10 || p.packets[c].data != nil {
		t.Errorf("%d bytes are kept after one byte too many", p.freeBytes)
	}
	for extra, kept := range []bool{true, false} {
		var p pool
		slot := p.alloc(1)
		p.packets[slot].data = make([]byte, 100+maxSlack+extra)
		p.free(slot)
		if slot = p.alloc(100); (p.packets[slot].data != nil) != kept || p.freeBytes != 0 {
			t.Errorf("a buffer with %d bytes more than a packet needs is kept: %v", maxSlack+extra, !kept)
		}
	}
}

// The send interval is the mean over the datagrams so far, then over the last eight intervals, and unknown with fewer than two
// datagrams or without time between them.
func TestSendInterval(t *testing.T) {
	var p sendInterval
	var times []time.Duration
	now := time.Duration(0)
	for i := range 40 {
		now += time.Duration(i*i%7+3) * ms
		if i == 0 {
			now = 5 * time.Second // the first datagram need not be sent at 0
		}
		times = append(times, now)
		p.add(now)
		first := max(0, i-8)
		got, ok := p.interval()
		if want := (now - times[first]) / time.Duration(max(1, i-first)); got != want || ok != (i > 0) {
			t.Fatalf("after %d datagrams %v, %v, want %v", i+1, got, ok, want)
		}
	}
	var same sendInterval
	same.add(ms)
	same.add(ms)
	if _, ok := same.interval(); ok {
		t.Error("two datagrams at one time have an interval")
	}
}

// A tc table holds integers of up to maxUnits standard deviations, each 8192, on both sides.
func TestTCTableBounds(t *testing.T) {
	for _, c := range []struct {
		value int64
		valid bool
	}{{maxUnits * tcUnit, true}, {-maxUnits * tcUnit, true}, {maxUnits*tcUnit + 1, false}, {-maxUnits*tcUnit - 1, false}} {
		points, err := parseTCTable(fmt.Appendf(nil, "%d # comment\n", c.value))
		if (err == nil) != c.valid || c.valid && points[0] != c.value*(random.One/8192) {
			t.Errorf("%d: %v, %v", c.value, points, err)
		}
	}
}
