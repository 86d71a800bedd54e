package lossmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/lossmodel/netem"
)

// fullLine uses every feature of netem.
const fullLine = "delay 50ms 10ms distribution normal loss gemodel 1% 20% 90% 0.1% " +
	"duplicate 2% corrupt 3% reorder 5% gap 3 rate 20mbit 14 limit 40 seed 7"

// netemGolden is the hash of a link's fates with fullLine. It must be the same on every platform
// and in every version.
const netemGolden = "c51e393c68e707ac9c39b5f6f746531a"

// A link with a netem line makes the decisions of its Qdisc.
func TestLinkMatchesQdisc(t *testing.T) {
	l := newLink(t, newSpec(t, "netem", fullLine, "mtu", "off"), 1)
	p, err := netem.Parse(fullLine)
	if err != nil {
		t.Fatal(err)
	}
	q, book := netem.New(p, 0), newAccountant(t, l)
	causes := [...]Cause{0: None, netem.Isolated: Loss, netem.Burst: Burst, netem.Full: Queue}
	rng := rand.New(rand.NewPCG(1, 1))
	now, seen := time.Duration(0), map[Cause]int{}
	for i := range 50_000 {
		now += time.Duration(rng.IntN(2_000_000))
		size := rng.IntN(1200)
		d, v := q.Enqueue(int64(now), size+42), l.Send(now, pseudoRandomData(nil, uint64(i), size), uint64(i))
		if v.Lost != causes[d.Packet.Outcome] || v.Lost == None && v.Due != time.Duration(d.Packet.Due) {
			t.Fatalf("packet %d: %+v, netem decided %+v", i, v, d)
		}
		if d.Duplicated != (v.Copies == 1) || d.Duplicated && v.CopyLost[0] != causes[d.Copy.Outcome] {
			t.Fatalf("packet %d: %+v, netem decided %+v", i, v, d)
		}
		seen[v.Lost]++
		book.buf, book.sizes = pseudoRandomData(nil, uint64(i), size), append(book.sizes, size)
		book.sent++
		book.copies += v.Copies
		for _, cause := range append([]Cause{v.Lost}, v.CopyLost[:v.Copies]...) {
			if cause != None {
				book.lost++
			}
		}
		book.receive(now)
	}
	book.close()
	book.receive(now + time.Hour)
	book.close()
	if seen[Loss] == 0 || seen[Burst] == 0 || seen[Queue] == 0 {
		t.Errorf("not every outcome occurred: %v", seen)
	}
}

// The fates of a link with fullLine have a fixed hash.
func TestNetemGolden(t *testing.T) {
	l, sum := newLink(t, newSpec(t, "netem", fullLine), 1), sha256.New()
	note := func(values ...uint64) {
		for _, v := range values {
			_ = binary.Write(sum, binary.LittleEndian, v)
		}
	}
	for i := range 20_000 {
		now := time.Duration(i) * 987_654
		v := l.Send(now, pseudoRandomData(nil, uint64(i), i%1400), uint64(i))
		note(uint64(v.Lost), uint64(v.Due), uint64(v.Copies), uint64(v.CopyLost[0]))
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			note(d.Tag, uint64(d.Due), uint64(d.Copy), uint64(d.Flipped))
			sum.Write(d.Data)
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)[:16]); got != netemGolden {
		t.Errorf("fates hash to %s, want %s", got, netemGolden)
	}
}

// A link with a netem line does not allocate.
func TestNetemNoAllocations(t *testing.T) {
	l := newLink(t, newSpec(t, "netem", fullLine), 1)
	step := newStepper(l, ms, 450)
	for range 100_000 {
		step()
	}
	if n := testing.AllocsPerRun(50_000, step); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

// The queue gauge counts what the limit counts, including packets being delayed.
func TestNetemGauges(t *testing.T) {
	l := newLink(t, newSpec(t, "netem", "delay 10ms limit 7"), 1)
	for i := range 7 {
		l.Send(time.Duration(i)*ms, nil, 0)
		if g := l.Gauges(time.Duration(i) * ms); g.Queue.Packets != i+1 {
			t.Errorf("packet %d: %+v", i, g)
		}
	}
	l.Send(7*ms, nil, 0) // dropped
	if g := l.Gauges(12*ms + 1); g.Queue.Packets != 4 || g.Peak.Packets != 7 {
		t.Errorf("after three departures: %+v", g)
	}
	if g := l.Gauges(time.Second); g.Queue.Packets != 0 || g.Peak.Packets != 7 {
		t.Errorf("a second later: %+v", g)
	}
}

func BenchmarkNetem(b *testing.B) { benchmarkLink(b, newSpec(b, "netem", fullLine)) }

// The key netem accepts lines and commands of tc and formats them canonically.
func TestNetemKey(t *testing.T) {
	s := DefaultSpec()
	for _, c := range []struct{ text, want string }{
		{"delay 50ms 10ms loss 1 seed 1", "delay 50ms 10ms loss 1% seed 1"},
		{"tc qdisc add dev eth0 root netem loss 5%", "loss 5%"},
		{" off ", "off"},
	} {
		if err := s.Set("netem", c.text); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Get("netem"); got != c.want {
			t.Errorf("%q is formatted as %q, want %q", c.text, got, c.want)
		}
		checkRoundTrip(t, s)
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{"", `netem: got "", expected a line of tc's netem`},
		{true, "netem: got true, expected a line"},
		{"delay 5x", `netem: got "5x" after "delay", expected a time`},
		{"delay", `netem: got nothing after "delay", expected a time`},
		{"dealy 5ms", `netem: got "dealy", expected one of limit`},
		{"ecn", `netem: got "ecn", expected a loss option too`},
	} {
		before := s
		if err := s.Set("netem", c.value); err == nil || !strings.HasPrefix(err.Error(), c.want) || s != before {
			t.Errorf("%v: %v, want %s", c.value, err, c.want)
		}
	}
	var ke *KeyError
	if err := s.Set("netem", "dealy 5ms"); !errors.As(err, &ke) {
		t.Error(err)
	} else if name, known := ke.Unknown(); name != "dealy" || !strings.Contains(strings.Join(known, " "), "delay") {
		t.Errorf("unknown %q of %v", name, known)
	}
}

// While a line is on, changes to the keys that it replaces are refused. Earlier values take
// effect again when it is off.
func TestNetemRefusesOtherKeys(t *testing.T) {
	s := newSpec(t, "loss", "5%", "burst", "2", "latency", "20ms", "netem", "delay 9ms")
	for key, value := range map[string]any{"loss": "1%", "burst": "off", "latency": "30ms", "rate": "1mbit", "corrupt": "1%",
		"reorder.delay": "3ms", "loss.model": "bernoulli", "delay": map[string]any{"jitter": "1ms"},
		"duplicate": map[string]any{"copies": 3}} {
		before := s
		if err := s.Set(key, value); err == nil || !strings.Contains(err.Error(), `netem to be "off" first`) || s != before {
			t.Errorf("%s = %v: %v", key, value, err)
		}
	}
	if err := s.Nudge("loss", 1); err == nil {
		t.Error("Nudge of loss returned no error")
	}
	for key, value := range map[string]string{"loss": "5%", "latency": "20ms", "mtu": "576", "netem": "delay 8ms"} {
		if err := s.Set(key, value); err != nil {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	checkRoundTrip(t, s)
	if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "loss 5%") && !strings.Contains(w, "latency 20ms") {
		t.Errorf("warnings %q do not list the inactive keys", w)
	}
	if err := s.SetAll(map[string]any{"netem": "off", "loss": "3%"}); err != nil {
		t.Error(err)
	}
	if v := s.Values(); v["latency"] != "20ms" || v["netem"] != "off" || v["loss"] != "3%" || s.NetemWarnings() != nil {
		t.Errorf("after netem: %v, %q", v, s.Warnings())
	}
	other := DefaultSpec()
	if err := other.SetAll(map[string]any{"netem": "loss 1% 25%", "loss": "3%"}); err != nil {
		t.Error(err)
	}
	if w := strings.Join(other.Warnings(), "\n"); !strings.Contains(w, "netem loss:") || !strings.Contains(w, "loss 3%") {
		t.Errorf("warnings %q", w)
	}
}

// Parameters that no line can express are refused.
func TestValidateNetem(t *testing.T) {
	for name, change := range map[string]func(*netem.Params){
		"not on":    func(p *netem.Params) { *p = netem.Params{Limit: 5} },
		"odd time":  func(p *netem.Params) { p.Delay.Latency = 5 },
		"too long":  func(p *netem.Params) { p.Delay.Latency = time.Hour },
		"negative":  func(p *netem.Params) { p.Delay.Latency = -ms },
		"no gap":    func(p *netem.Params) { p.Delay.Latency, p.Reorder.Probability = ms, 9 },
		"no table":  func(p *netem.Params) { p.Delay.Latency, p.Delay.Jitter, p.Delay.Distribution = ms, ms, 9 },
		"no model":  func(p *netem.Params) { p.Loss.Model, p.Loss.Probability = 9, 1 },
		"no jitter": func(p *netem.Params) { p.Delay.Latency, p.Delay.Distribution = ms, 1 }, // normal
	} {
		p := netem.Params{On: true, Limit: 9}
		change(&p)
		s := DefaultSpec()
		s.Netem = p
		var ke *KeyError
		if err := s.Validate(); !errors.As(err, &ke) || ke.Key != "netem" {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := DefaultSpec()
	s.Netem = netem.Params{On: true, Limit: 9, Gap: 1}
	s.Netem.Delay.Latency, s.Netem.Reorder.Probability = 5*ms, 77
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// A change of the line keeps packets in flight and the state of the loss model, also when it is
// off in between. The other stages keep their state too.
func TestReshapeWithNetem(t *testing.T) {
	l := newLink(t, newSpec(t, "netem", "loss gemodel 50% 0.001% delay 100ms seed 1"), 1)
	reshape := func(key, value string) {
		t.Helper()
		spec := l.Spec()
		if err := spec.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := l.Reshape(spec); err != nil {
			t.Fatal(err)
		}
	}
	first := l.Send(0, nil, 1)
	if first.Lost != None || first.Due != 100*ms {
		t.Fatalf("%+v", first)
	}
	for l.Send(0, nil, 2).Lost == None {
	}
	reshape("netem", "loss gemodel 40% 0.002% delay 1ms seed 1")
	if v := l.Send(ms, nil, 3); v.Lost != Burst {
		t.Errorf("the change ended the burst: %+v", v)
	}
	reshape("netem", "off")
	if v := l.Send(2*ms, nil, 4); v.Lost != None || v.Due != 2*ms {
		t.Errorf("off: %+v", v)
	}
	reshape("netem", "loss gemodel 50% 0.001% delay 100ms seed 1")
	if v := l.Send(3*ms, nil, 5); v.Lost != Burst {
		t.Errorf("switching off and on ended the burst: %+v", v)
	}
	for due, ok := l.Next(); ok; due, ok = l.Next() {
		if d, _ := l.Receive(due); d.Tag == 1 && d.Due != first.Due {
			t.Errorf("due time changed to %v", d.Due)
		}
	}

	still, moved := newLink(t, allStagesSpec(t), 3), newLink(t, allStagesSpec(t), 3)
	for i := range 4000 {
		now := time.Duration(i) * ms
		if i == 1000 || i == 1500 {
			spec := moved.Spec()
			line := map[int]string{1000: fullLine, 1500: "off"}[i]
			if err := spec.Set("netem", line); err != nil {
				t.Fatal(err)
			}
			if err := moved.Reshape(spec); err != nil {
				t.Fatal(err)
			}
		}
		if i < 1000 || i >= 1500 {
			a := still.Send(now, nil, 0)
			b := moved.Send(now, nil, 0)
			if a.Lost != b.Lost || a.Copies != b.Copies {
				t.Fatalf("packet %d: %+v and %+v", i, a, b)
			}
		} else {
			moved.Send(now, nil, 0)
		}
	}
}

// Without a seed in the line the decisions follow from the session's seed and the link's name.
func TestNetemWithoutSeed(t *testing.T) {
	fates := func(seed uint64, name string) (list string) {
		l, err := NewLink(newSpec(t, "netem", "loss 50%"), seed, name)
		if err != nil {
			t.Fatal(err)
		}
		for range 64 {
			list += fmt.Sprint(uint8(l.Send(0, nil, 0).Lost))
		}
		return list
	}
	a := fates(1, "down")
	if a != fates(1, "down") || a == fates(2, "down") || a == fates(1, "up") {
		t.Error("sessions or directions share decisions, or decisions are not reproducible")
	}
}
