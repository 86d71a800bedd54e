package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

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
}

// A display without a rate is synchronous with the source.
func TestDisplayRate(t *testing.T) {
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
		names = append(names, row.Label)
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

// Every key in the needs of a setting exists: an unknown one would meet every need.
func TestNeedsNameSettings(t *testing.T) {
	needs := map[string]string{}
	for _, s := range Rows() {
		needs[s.Key] = s.Needs
	}
	for _, k := range lossmodel.Keys() {
		needs["down."+k.Key] = withDirection(strings.Join(k.Needs, and), DownOnly)
		needs["up."+k.Key] = withDirection(strings.Join(append(k.Needs, uplinkNeeds[k.Key]), and), UpOnly)
	}
	for key, list := range needs {
		for need := range strings.SplitSeq(list, and) {
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

func TestKeyInWords(t *testing.T) {
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
