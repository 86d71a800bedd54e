package lossmodel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/random"
)

// decisionRecorder wraps a stage and records its decisions.
type decisionRecorder struct {
	specStage
	packet int
	log    map[[2]int]string // by packet and copy
}

func (r *decisionRecorder) Apply(now time.Duration, size int, f *Fate) {
	before := *f
	f.Lost = None // record the decision also for packets lost earlier
	r.specStage.Apply(now, size, f)
	if f.Copy == 0 {
		r.packet++
	}
	r.log[[2]int{r.packet, f.Copy}] = fmt.Sprint(f.Lost, f.Delay-before.Delay,
		f.Copies[len(before.Copies):], f.Corrupt[len(before.Corrupt):])
	if before.Lost != None {
		f.Lost = before.Lost
	}
}

// stageNames lists the stages in the order of the pipeline.
var stageNames = func() (names []string) {
	for _, row := range stages().rows {
		if row.newStage != nil && !row.replaces {
			names = append(names, string(row.name))
		}
	}
	return names
}()

// recordDecisions wraps all stages except rate, whose decisions depend on the load.
func recordDecisions(l *Link) map[string]*decisionRecorder {
	all := map[string]*decisionRecorder{}
	for i, name := range stageNames {
		if name == "rate" {
			continue
		}
		r := &decisionRecorder{specStage: l.pipe.stages[i], log: map[[2]int]string{}}
		l.pipe.stages[i], all[name] = r, r
	}
	l.pipe.reshape(&l.spec)
	return all
}

// Changing a parameter of one stage, or switching it off and on, changes no decision of another
// stage.
func TestReshapeLeavesOtherStages(t *testing.T) {
	changes := map[string][]string{
		"loss": {"0%", "1%", "30%", "gilbert-elliott p=1% r=20% h=50% k=99%", "four-state p13=1% p31=30%",
			"correlated p=10% rho=25%", "periodic every=7", "pattern bits=00101", "pattern file=pattern.txt",
			"trace file=capture.csv", "trace file=losses.csv", "5%"},
		"burst":              {"off", "5", "2"},
		"latency":            {"0ms", "200ms", "10ms"},
		"jitter":             {"0ms", "40ms", "10ms"},
		"distribution":       {"uniform", "pareto", "gamma", "paretonormal", "exponential", "normal"},
		"jitter_shape":       {"0.5", "16", "2"},
		"delay_table":        {"-1 0 1", "off", "table.dist"},
		"delay_trace":        {"capture.csv", "off", "capture.csv by=time"},
		"spike_every":        {"500ms", "0ms", "2s"},
		"spike_height":       {"40ms", "0ms", "5ms"},
		"spike_length":       {"3ms", "0ms"},
		"burst_delay":        {"30ms", "0ms"},
		"reorder_distance":   {"3", "off", "1"},
		"duplicate_trace":    {"capture.csv", "off", "capture.csv by=time"},
		"corrupt_ber":        {"0.001", "off", "1e-06"},
		"queue_packets":      {"3", "off"},
		"rate_overhead":      {"14", "-28", "0"},
		"rate_burst":         {"10KB", "off"},
		"rate_cell":          {"48", "off"},
		"rate_trace":         {"line.trace", "off"},
		"rate_cell_overhead": {"5", "0"},
		"jitter_correlation": {"50%", "0%", "99%"},
		"keep_order":         {"on", "off"},
		"reorder":            {"0%", "50%", "5%"},
		"reorder_delay":      {"1ms", "80ms"},
		"duplicate":          {"0%", "60%", "5%"},
		"duplicate_copies":   {"8", "1", "2"},
		"duplicate_delay":    {"0ms", "70ms"},
		"corrupt":            {"0%", "70%", "5%"},
		"corrupt_bits":       {"64", "1"},
		"rate":               {"off", "64kbit", "1gbit"},
		"queue":              {"2KB", "off"},
		"mtu":                {"576", "off"},
	}
	for _, info := range Keys() {
		if info.Key == "netem" {
			continue // netem replaces all other stages
		}
		values := changes[info.Key]
		if values == nil {
			values = append(slices.Concat(info.Ladder, info.Choices), info.Default)
		}
		for name, base := range map[string]Spec{"everything": allStagesSpec(t), "fullest": allFeaturesSpec(t)} {
			t.Run(info.Key+"/"+name, func(t *testing.T) { checkOtherStagesUnchanged(t, info, base, values) })
		}
	}
}

// checkOtherStagesUnchanged changes one key while packets are sent and compares the decisions of
// the other stages with those of an unchanged link.
func checkOtherStagesUnchanged(t *testing.T, info KeyInfo, base Spec, values []string) {
	still, moved := newLink(t, base, 9), newLink(t, base, 9)
	a, b := recordDecisions(still), recordDecisions(moved)
	rng := rand.New(rand.NewPCG(1, 1))
	now := time.Duration(0)
	packets := testkit.Choose(4000, 700)
	for i := range packets {
		if i%100 == 99 {
			spec := moved.Spec()
			if err := spec.Set(info.Key, values[(i/100)%len(values)]); err != nil {
				t.Fatal(err)
			}
			if err := moved.Reshape(spec); err != nil {
				t.Fatal(err)
			}
		}
		now += time.Duration(rng.IntN(3)) * ms
		data := make([]byte, rng.IntN(1400))
		still.Send(now, data, uint64(i))
		moved.Send(now, data, uint64(i))
	}
	for _, name := range stageNames {
		if name != info.Stage && a[name] != nil && len(a[name].log) > 0 { // a stage that is off makes no decisions
			compareLogs(t, name, a[name].log, b[name].log, packets)
		}
	}
}

// A change that is reverted before the next packet has no effect on the state of any model.
func TestReshapeAndBack(t *testing.T) {
	elsewhere := newSpec(t, "loss", "gilbert-elliott p=30% r=30%", "latency", "99ms", "distribution", "exponential", "jitter", "50ms",
		"jitter_correlation", "99%", "duplicate", "100%", "corrupt", "100%", "rate", "9mbit", "reorder", "100%", "spike_every", "3ms")
	for _, pairs := range [][]string{
		{"loss", "gilbert-elliott p=5% r=20% h=10% k=99%"}, {"loss", "four-state p13=5% p31=30% p32=20% p23=30% p14=3%"},
		{"loss", "correlated p=20% rho=60%"}, {"loss", "periodic every=9"}, {"loss", "pattern bits=00101011"}, {"trace", "capture.csv"},
		{"latency", "50ms±10ms", "distribution", "normal", "jitter_correlation", "80%"},
		{"latency", "50ms±10ms", "jitter_correlation", "80%"},
		{"latency", "50ms±10ms", "distribution", "gamma", "keep_order", "on"}, {"rate", "1mbit", "rate_burst", "9KB", "queue", "20KB"},
		{"rate_trace", "line.trace", "queue", "off"}, {"reorder", "10%", "reorder_distance", "2"}, {"corrupt_ber", "0.001"},
	} {
		spec := newSpec(t, pairs...)
		still, moved := newLink(t, spec, 3), newLink(t, spec, 3)
		away := elsewhere
		if pairs[0] == "rate" || pairs[0] == "rate_trace" {
			away.Rate = Rate{BitsPerSecond: spec.Rate.BitsPerSecond, Trace: spec.Rate.Trace,
				QueuePackets: 1} // the rate's remainder is reset by a change
		}
		for i := range testkit.Choose(3000, 1000) {
			now, data := time.Duration(i)*4*ms, make([]byte, 400)
			for _, s := range []Spec{away, spec} {
				if err := moved.Reshape(s); err != nil {
					t.Fatal(err)
				}
			}
			if a, b := still.Send(now, data, 0), moved.Send(now, data, 0); a != b {
				t.Fatalf("%v: packet %d: %+v, after a reverted change %+v", pairs, i, a, b)
			}
		}
	}
}

// compareLogs checks that two recorders have equal decisions for all datagrams and for the copies
// that both made, at least minimum of them.
func compareLogs(t *testing.T, stage string, a, b map[[2]int]string, minimum int) {
	t.Helper()
	common := 0
	for key, x := range a {
		y, ok := b[key]
		if key[1] == 0 && !ok {
			t.Fatalf("%s: packet %d is missing in one log", stage, key[0])
		}
		if ok && x != y {
			t.Fatalf("%s: packet %d copy %d: decision %s, after the change %s", stage, key[0], key[1], x, y)
		}
		if ok {
			common++
		}
	}
	if common < minimum {
		t.Fatalf("%s: only %d decisions compared", stage, common)
	}
}

// arrival is a delivery with its own copy of the data.
type arrival struct {
	Delivery
	data []byte
}

// arrivals receives all packets in flight.
func arrivals(l *Link) []arrival {
	var all []arrival
	drain(l, func(d Delivery) {
		data := bytes.Clone(d.Data)
		d.Data = nil
		all = append(all, arrival{d, data})
	})
	return all
}

// Reshape does not change packets in flight. There is no queue here, because Reshape re-times packets in a queue: see
// TestRetimedQueue.
func TestReshapeKeepsInFlight(t *testing.T) {
	send := func() *Link {
		spec := allStagesSpec(t)
		if err := spec.Set("rate", "off"); err != nil {
			t.Fatal(err)
		}
		l := newLink(t, spec, 5)
		for i := range 500 {
			l.Send(time.Duration(i)*ms, pseudoRandomData(nil, uint64(i), 700), uint64(i))
		}
		return l
	}
	want := arrivals(send())
	for _, other := range []Spec{DefaultSpec(), newSpec(t, "loss", "100%", "latency", "10s", "rate", "1kbit", "queue",
		"100B"),
		newSpec(t, "keep_order", "on", "jitter", "5ms", "mtu", "68")} {
		l := send()
		if err := l.Reshape(other); err != nil {
			t.Fatal(err)
		}
		got := arrivals(l)
		if !slices.EqualFunc(got, want, func(a, b arrival) bool {
			return bytes.Equal(a.data, b.data) && a.Tag == b.Tag && a.Due == b.Due && a.Sent == b.Sent &&
				a.Copy == b.Copy && a.Flipped == b.Flipped
		}) {
			t.Errorf("reshaping to %v changed what was in flight", other.Values())
		}
	}
}

// A burst continues after a change of parameters. A refused spec changes nothing.
func TestReshapeKeepsState(t *testing.T) {
	l := newLink(t, newSpec(t, "loss", "50%", "burst", "100000"), 1)
	for l.Send(0, nil, 0).Lost == None {
	}
	if err := l.Reshape(newSpec(t, "loss", "49%", "burst", "100000")); err != nil {
		t.Fatal(err)
	}
	if v := l.Send(0, nil, 0); v.Lost != Burst {
		t.Errorf("the burst ended with the change: %v", v.Lost)
	}
	before := l.Spec()
	bad := before
	bad.Loss = loss.Gilbert{Mean: 0.6, Burst: 1}
	if err := l.Reshape(bad); err == nil || l.Spec() != before {
		t.Errorf("an inconsistent spec: error %v, spec %v", err, l.Spec().Values())
	}
}

// The links of a session and the stages of a link have different random streams.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, seed := range []uint64{0, 1, 7} {
		for _, link := range []string{"down", "up"} {
			for _, stage := range stageNames {
				s := random.NewStream(seed, link+"."+stage)
				name := fmt.Sprint(seed, link, stage)
				word := s.Next(0)
				if other, ok := seen[word]; ok {
					t.Errorf("%s and %s share a stream", name, other)
				}
				seen[word] = name
			}
		}
	}
}
