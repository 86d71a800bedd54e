package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"wirelab/encoders"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// samples are values other than the default of settings that have no range and no list of values, or
// that depend on others.
var samples = map[string]any{
	"receiver.playout": "age quantile=99%", "receiver.playout_delay": "20ms", "receiver.playout_compare": "all", "receiver.history": 90,
	"sender.weights": "x=2, class:tank=0.5", "interest.point": "1 2 3", "traffic": "4 cubic rtt=80ms, 1 constant", "seed": uint64(math.MaxUint64),
	"data.source": "world", "crowd.profiles": "unity-4g 30%, unity-cable 70%", "crowd.rtt": "lognormal median=60ms", "crowd.jitter": "3ms",
	"data.script": "idle", "crowd.loss": "uniform min=1% max=5%", "crowd.uplink_queue": "64KB", "sender.history": 9, "crowd.clients": 7,
}

// sample returns another value of a setting than its default.
func sample(r *Row) any {
	v, isSpecial := samples[r.Key]
	p := r.field(Default())
	isSet, isBool := p.(*bool)
	switch {
	case isSpecial:
		return v
	case len(r.Options) > 0:
		return r.Options[len(r.Options)-1].Name
	case isBool:
		return !*isSet
	}
	return r.value(p, r.Max)
}

// baseFor returns a configuration in which the other settings allow that of a row to change.
func baseFor(t *testing.T, r *Row) *Config {
	c := Default()
	if strings.HasPrefix(r.Key, "crowd.") {
		testkit.Set(t, c, "crowd.clients", "2", "crowd.uplink_rate", "1gbit")
	}
	if r.Key == "traffic" {
		testkit.Set(t, c, "down.rate", "5mbit")
	}
	return c
}

// Every setting has a default that it accepts, and keeps another value in a file, in JSON and in the
// text of a control.
func TestEveryRowKeepsItsValue(t *testing.T) {
	for i := range Rows() {
		r := &Rows()[i]
		c := baseFor(t, r)
		if text := r.Text(c); text != "" && (r.Set(c, text) != nil || r.Show(c) != r.Show(baseFor(t, r))) {
			t.Errorf("%s: the default %s becomes %s", r.Key, text, r.Text(c))
		}
		if err := c.Set(r.Key, sample(r)); err != nil || r.Text(c) == r.Text(Default()) {
			t.Errorf("%s = %v is %s: %v", r.Key, sample(r), r.Text(c), err)
		}
		// Writing either playout key sets both: they are one setting.
		if written := c.Values().Text(r.Key); written != r.Text(c) && r.Short != "playout_delay" && r.Short != "playout" {
			t.Errorf("%s = %v is written as %q", r.Key, sample(r), written)
		}
		again := reread(t, c)
		again.origin = c.origin
		if !reflect.DeepEqual(again, c) {
			t.Errorf("%s = %v: read from a file as\n%+v, want\n%+v", r.Key, sample(r), again, c)
		}
		data, err := json.Marshal(c.Values())
		var values Values
		if err != nil || json.Unmarshal(data, &values) != nil {
			t.Fatal(err)
		}
		if again, err := values.Config("f"); err != nil || !maps.Equal(again.Settings(), c.Settings()) {
			t.Errorf("%s = %v: %v, as JSON %s", r.Key, sample(r), err, data)
		}
		if level, ok := r.Level(c); r.Show(c) == "" || ok && !(level >= 0 && level <= 1) {
			t.Errorf("%s is shown as %q at %g", r.Key, r.Show(c), level)
		}
	}
}

// Every number is accepted at the ends of its range and refused beyond, with the key and what is expected.
func TestEveryRowChecksItsRange(t *testing.T) {
	numbers := 0
	for i := range Rows() {
		r := &Rows()[i]
		p := r.field(Default())
		if r.Max == 0 {
			continue
		}
		numbers++
		step := 1.0
		for n, ok := range map[float64]bool{r.Min: true, r.Max: true, r.Max + step: false, r.Min - step: r.Zero != "" && r.Min == step} {
			c := Default()
			v := r.value(p, n)
			err := c.Set(r.Key, v)
			if ok != (err == nil) || ok && r.Text(c) != r.Text(c.Clone()) {
				t.Errorf("%s = %v: %v", r.Key, v, err)
			}
			if want := r.Key + ": " + quoteValue(v) + " is invalid; expected " + r.ExpectedText(); err != nil && err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			if strings.Contains(r.ExpectedText(), "e+") {
				t.Errorf("%s: the range has an exponent: %s", r.Key, r.ExpectedText())
			}
			if err != nil && r.Text(c) != r.Text(Default()) {
				t.Errorf("%s was refused and is %s", r.Key, r.Text(c))
			}
		}
	}
	if numbers < 25 {
		t.Errorf("only %d settings are numbers", numbers)
	}
}

// A setting with a short name can be changed during a session, by both names, and undone; others are refused.
func TestEveryRowChangesOrIsRefused(t *testing.T) {
	for i := range Rows() {
		r := &Rows()[i]
		var ch, byShort Change
		if r.Short == "" {
			if err := ch.Set(r.Key, sample(r)); err == nil || !strings.HasPrefix(err.Error(), r.Key+": cannot be changed during a run") {
				t.Errorf("%s: %v", r.Key, err)
			}
			continue
		}
		before := baseFor(t, r)
		after := before.Clone()
		if ch.Set(r.Key, sample(r)) != nil || byShort.Set(r.Short, sample(r)) != nil || !reflect.DeepEqual(ch, byShort) || after.Apply(ch) != nil {
			t.Errorf("%s: %v, as %s %v", r.Key, ch, r.Short, byShort)
		}
		if r.Key == "crowd.clients" && before.Check(NewChange(r.Key, 0)) == nil {
			t.Error("a change ends the crowd")
		}
		if r.Text(after) == r.Text(before) || !strings.HasPrefix(ch.Label(), r.Short+" ") || ch.Restarts() != r.Restarts || ch.TouchedKeys() != r.Key {
			t.Errorf("%s changes to %s by %q, touches %q", r.Key, r.Text(after), ch.Label(), ch.TouchedKeys())
		}
		var again Change
		if data, err := json.Marshal(ch); err != nil || json.Unmarshal(data, &again) != nil || again.Label() != ch.Label() {
			t.Errorf("%s in JSON: %v, %v", r.Key, again, err)
		}
		if undone := after.Clone(); undone.Apply(before.Undo(after)) != nil || r.Show(undone) != r.Show(before) || !undone.SameLive(before) {
			t.Errorf("%s is undone to %v", r.Key, undone.Values())
		}
		scripted := before.Clone()
		scripted.At = []StampedChange{Stamp(1e9, ch)}
		if got := reread(t, scripted).At[0].Change.Label(); got != ch.Label() {
			t.Errorf("%s in a script: %s", r.Key, got)
		}
		for _, n := range []int{1, -1, 4} {
			if v, ok := r.Step(before, n); ok && before.Check(NewChange(r.Key, v)) != nil {
				t.Errorf("%s by %d steps is %v", r.Key, n, v)
			}
		}
	}
}

// The forms in which values may be given, and the text that they become. A refused value changes nothing.
func TestForms(t *testing.T) {
	data, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		key, rest, _ := strings.Cut(line, " = ")
		value, want, _ := strings.Cut(strings.TrimSpace(rest), " => ")
		var table map[string]any
		if err := toml.Unmarshal([]byte("v = "+value), &table); err != nil {
			t.Fatal(err)
		}
		c := Default()
		err := c.Set(key, table["v"])
		if text := findSetting(key).Text(c); (err != nil) != (want == "refused") || err == nil && text != want {
			t.Errorf("%s = %s: %s, %v; want %s", key, value, text, err, want)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), key+": ") || strings.Contains(err.Error(), "\n") || !reflect.DeepEqual(c.Values(), Default().Values())) {
			t.Errorf("%s = %s: %v; the configuration is %v", key, value, err, c.Values())
		}
	}
	for seed, want := range map[uint64]any{1<<53 - 1: int64(1<<53 - 1), 1 << 53: "9007199254740992"} { // JSON keeps numbers below 2^53
		if got := seedValue(seed); got != want {
			t.Errorf("seed %d is written as %#v, want %#v", seed, got, want)
		}
	}
}

// Steps of a control go along its ladder, stop at its ends, and report whether anything changes. The
// level is 0 and 1 there.
func TestControlSteps(t *testing.T) {
	for step, want := range map[string]string{
		"sender.every 1 +1": "1 false at 1.000", "sender.every 1 -1": "2 true at 1.000", "sender.every 60 -1": "60 false at 0.000",
		"sender.every 60 +1": "30 true at 0.000", "sender.every 5 +1": "4 true at 0.667", "sender.every 5 -1": "6 true at 0.667",
		"budget off -1": "off false at 0.000", "budget off +1": "8 true at 0.000", "budget 256 +1": "384 true at 0.533",
		"budget 10000 +1": "10000 false at 1.000", "budget 1000000 +1": "10000 false at 1.000", "sender.budget 70kbit -1": "64kbit true at 0.583",
		"receiver.playout 5ms -1": "0s true at 0.000", "receiver.playout 0s -1": "0s false at 0.000", "receiver.playout 3ms -1": "0s true at 0.000",
		"receiver.playout 85ms +2": "95ms true at 0.000", "receiver.playout mirror +1": "85ms true at 0.000",
		"receiver.interpolation linear +1": "hermite true at 0.000", "receiver.interpolation hermite +1": "linear true at 0.000",
		"seed 7 +1": "<nil> false at 0.000",
	} {
		words := strings.Fields(step)
		c := Default()
		testkit.Set(t, c, words[0], words[1])
		n, err := strconv.Atoi(words[2])
		if err != nil {
			t.Fatal(err)
		}
		row := findSetting(words[0])
		v, changed := row.Step(c, n)
		level, _ := row.Level(c)
		if got := fmt.Sprintf("%v %v at %.3f", v, changed, level); got != want {
			t.Errorf("%s: %s, want %s", step, got, want)
		}
	}
	c := Default()
	if c.DisplayMilliHz(20) != 20_000 {
		t.Error("a display without a rate is synchronous with the source")
	}
	if c.Receiver.DisplayMilliHz = 1; c.DisplayMilliHz(20) != 1 {
		t.Error("a rate of the display is used")
	}
}

// The rows of a link show the downlink unless they are of the uplink, and setting a row of both
// directions sets both. A netem line governs all keys except its own and mtu: exactly those that cannot
// be set beside it.
func TestLinkRows(t *testing.T) {
	for _, info := range lossmodel.Keys() {
		for _, dir := range []Direction{BothDirections, DownOnly, UpOnly} {
			c := Default()
			row := LinkRow(info, dir)
			next, changed := row.Step(c, 1)
			if !changed {
				next, changed = row.Step(c, -1)
			}
			if !changed {
				continue
			}
			if err := c.Set(row.Key, next); err != nil || row.Text(c) != fmt.Sprint(next) {
				t.Errorf("%s = %v: %v, shown as %s", row.Key, next, err, row.Text(c))
			}
			d := Default()
			if c.Down != d.Down != (dir != UpOnly) || c.Up != d.Up != (dir != DownOnly) {
				t.Errorf("%s changes another direction", row.Key)
			}
		}
		c := Default()
		testkit.Set(t, c, "down.netem", "loss 1%")
		values := slices.Concat(info.Ladder, info.Choices)
		refused := slices.ContainsFunc(values, func(v string) bool { return c.Clone().Set("down."+info.Key, v) != nil })
		if row := LinkRow(info, DownOnly); len(values) > 0 && (refused != GovernedByNetem(info) || !row.HasSteps(c)) {
			t.Errorf("%s beside netem: refused %v, steps %v", info.Key, refused, row.HasSteps(c))
		}
	}
	if UpOnly.Other() != DownOnly || DownOnly.Other() != UpOnly || BothDirections.Other() != UpOnly || LinkValue(Default(), DownOnly, "bogus") != "?" {
		t.Error("directions or the value of an unknown key are wrong")
	}
}

// The parameters of a loss model that are percentages or numbers of packets have rows. A step sets the
// whole model.
func TestLossParamRows(t *testing.T) {
	c := Default()
	testkit.Set(t, c, "link.loss", "gilbert-elliott p=2% r=30%")
	info := lossmodel.Keys()[0]
	list := LossParamRows(c, info, DownOnly, BothDirections)
	var names []string
	for _, row := range list {
		names = append(names, row.Name)
	}
	if strings.Join(names, " ") != "p r h k" || len(LossParamRows(Default(), info, DownOnly, DownOnly)) != 0 {
		t.Fatalf("rows of %v", names)
	}
	if next, changed := list[0].Step(c, 1); list[0].Text(c) != "2%" || !strings.Contains(fmt.Sprint(next), "p=3% r=30%") || !changed {
		t.Errorf("p is %s, a step gives %v, %v", list[0].Text(c), next, changed)
	}
	if _, changed := list[2].Step(c, -9); changed {
		t.Error("a step below 0 % changes h")
	}
	if err := c.Set("up.loss", "pattern bits=01"); err != nil || len(LossParamRows(c, info, UpOnly, UpOnly)) != 0 {
		t.Errorf("a pattern has no steps: %v", err)
	}
}

// A parameter's row has the value that was set or the default, and a level from 0 to 1 between its bounds.
func TestParamRows(t *testing.T) {
	lo, hi := 2.0, 12.0
	c := Default()
	testkit.Set(t, c, "encoder.params.small", any(int64(7)))
	for want, info := range map[string]encoders.ParamInfo{
		"7 bits at 0.5 of 2 to 12": {Name: "small", Type: "int", Min: &lo, Max: &hi, Default: int64(4), Unit: "bits"},
		"12 at 1 of 2 to 12":       {Name: "x", Type: "float", Min: &lo, Max: &hi, Default: 12.0},
		"3 at 0 of 0 to 0":         {Name: "x", Type: "float", Min: &lo, Default: 3.0},
		"2 at 0 of 2 to 2":         {Name: "x", Type: "float", Min: &lo, Max: &lo, Default: 2.0},
		"none at 0 of 0 to 0":      {Name: "x", Type: "string", Default: ""},
	} {
		row := ParamRow(info)
		level, _ := row.Level(c)
		if got := fmt.Sprintf("%s at %g of %g to %g", row.Show(c), level, row.Min, row.Max); got != want || row.HasSteps(c) == (info.Type == "string") {
			t.Errorf("%s, steps %v; want %s", got, row.HasSteps(c), want)
		}
	}
}

func TestStepLossParam(t *testing.T) {
	share, packets := lossmodel.ParamInfo{Unit: "%", Min: "0%"}, lossmodel.ParamInfo{Unit: "packets"}
	for _, c := range []struct {
		p    lossmodel.ParamInfo
		now  string
		n    int
		want string
	}{
		{share, "1%", 1, "2%"}, {share, "0%", -1, "0%"}, {share, "100%", 4, "100%"}, {share, "6%", 1, "7%"}, {share, "?", 1, "?"},
		{packets, "3", 1, "4"}, {packets, "1", -4, "1"},
		{lossmodel.ParamInfo{Unit: "%", Min: "-100%"}, "0%", -1, "-5%"}, {lossmodel.ParamInfo{Unit: "%", Min: "-100%"}, "90%", 4, "95%"},
	} {
		if got := stepLossParam(c.p, c.now, c.n); got != c.want {
			t.Errorf("%s by %d is %s, want %s", c.now, c.n, got, c.want)
		}
	}
}

func TestStepParam(t *testing.T) {
	lo, hi := 2.0, 8.0
	whole := encoders.ParamInfo{Type: "int", Min: &lo, Max: &hi}
	real := encoders.ParamInfo{Type: "float", Min: &lo, Max: &hi}
	zero, one := 0.0, 1.0
	share := encoders.ParamInfo{Type: "float", Min: &zero, Max: &one}
	for _, c := range []struct {
		info encoders.ParamInfo
		now  any
		n    int
		want any
	}{{share, 0.1, 1, 0.15}, {share, 0.25, 1, 0.3}, {share, 0.3, -6, 0.0}, {whole, 7, 1, int64(8)}, {whole, int64(8), 1, int64(8)}, {whole, 3, -4, int64(2)}, {real, 5.0, 1,
		5.3}, {encoders.ParamInfo{Type: "float", Min: &lo}, 2.0, -1, 2.0}, {encoders.ParamInfo{Type: "float", Max: &hi}, 8.0, 1, 8.0}, {encoders.ParamInfo{Type: "float"}, 2.0, -1, 1.9}, {encoders.ParamInfo{Type: "bool"}, false, 1, true}, {encoders.ParamInfo{Type: "string"}, "x", 1, "x"}} {
		if got := stepParam(c.info, c.now, c.n); got != c.want {
			t.Errorf("%v by %d is %v, want %v", c.now, c.n, got, c.want)
		}
	}
}

// Every key in the needs of a setting exists: an unknown one would meet every need.
func TestNeedsNameSettings(t *testing.T) {
	needs := map[string][]string{}
	for _, s := range Rows() {
		needs[s.Key] = s.Needs
	}
	for _, k := range lossmodel.Keys() {
		needs["down."+k.Key] = withDirection(k.Needs, DownOnly)
		needs["up."+k.Key] = withDirection(append(k.Needs, uplinkNeeds[k.Key]), UpOnly)
	}
	for key, list := range needs {
		for _, need := range list {
			for _, alternative := range strings.Split(need, " or ") {
				name := strings.TrimPrefix(strings.TrimPrefix(alternative, "a setting of "), "a change of ")
				name, _, _ = strings.Cut(name, " ")
				if _, standard := Default().textOf(name); standard == "" && need != "" {
					t.Errorf("%s needs %q: %q is no key", key, need, name)
				}
			}
		}
	}
}

// The short names of the dashboard's commands stand for keys.
func TestFullKey(t *testing.T) {
	for name, want := range map[string]string{
		"loss": "link.loss", "loss.mean": "link.loss.mean", "trace": "link.trace", "every": "sender.every", "playout": "receiver.playout",
		"clients": "crowd.clients", "params.small": "encoder.params.small", "down.loss": "down.loss", "budget": "budget", "seed": "seed", "foo": "foo",
	} {
		if got := FullKey(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestKeyInWords(t *testing.T) {
	for key, want := range map[string]string{
		"down.loss": "downlink loss", "up.latency": "uplink latency", "link.rate": "link rate", "encoder.name": "encoder",
		"encoder.params.z_small": "encoder z_small", "sender.every": "send every n-th frame", "seed": "seed", "data.cubes": "data cubes",
	} {
		if got := KeyInWords(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	seen := map[string]string{}
	keys := knownKeys()
	for _, k := range lossmodel.Keys() {
		keys = append(keys, "link."+k.Key)
	}
	for _, key := range keys {
		words := KeyInWords(key)
		if before, ok := seen[words]; ok && before != key {
			t.Errorf("%s and %s both are %q", before, key, words)
		}
		if strings.ContainsAny(words, "._") {
			t.Errorf("%s is %q", key, words)
		}
		seen[words] = key
	}
}
