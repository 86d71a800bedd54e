package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// samples are values other than the default of settings that have no range and no list of values, or that depend on others.
var samples = map[string]any{
	"receiver.playout": "age quantile=99%", "receiver.playout_delay": "20ms", "receiver.playout_compare": "all", "receiver.history": 90,
	"sender.weights": "x=2, class:tank=0.5", "interest.point": "1 2 3", "traffic": "4 cubic rtt=80ms, 1 constant", "seed": uint64(math.MaxUint64),
	"data.source": "world", "crowd.profiles": "unity-4g 30%, unity-cable 70%", "crowd.rtt": "lognormal median=60ms", "crowd.jitter": "3ms",
	"data.script": "idle", "crowd.loss": "uniform min=1% max=5%", "crowd.uplink_queue": "64KB", "sender.history": 9, "crowd.clients": 7,
}

// sample returns another value of a setting than its default.
func sample(r *Row) any {
	v, isSpecial := samples[r.Key]
	p := r.Field(Default())
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

// Every setting has a default that it accepts, and keeps another value in a file, in JSON and in the text of a control.
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
		file, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f", file)
		if err != nil || !reflect.DeepEqual(r.Field(again), r.Field(c)) && r.Text(again) != r.Text(c) {
			t.Errorf("%s = %v: %v, as a file\n%s", r.Key, sample(r), err, file)
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
		p := r.Field(Default())
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
		file, err := scripted.TOML()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := Parse("f", file); err != nil || c.At[0].Change.Label() != ch.Label() {
			t.Errorf("%s in a script: %v\n%s", r.Key, err, file)
		}
		for _, n := range []int{1, -1, 4} {
			if v, ok := r.Step(before, n); ok && before.Check(NewChange(r.Key, v)) != nil {
				t.Errorf("%s by %d steps is %v", r.Key, n, v)
			}
		}
	}
}

// The forms in which values may be given, and the text that they become; "" means that the value is refused.
func TestForms(t *testing.T) {
	const mirror, lte = "mirror buffer=0 tolerance=1 catchup=2% slowdown=4%", "lognormal median=60ms sigma=0.5 min=20ms max=200ms"
	for _, x := range []struct {
		key   string
		value any
		want  string
	}{
		{"sender.rate_hz", int64(60), "60"}, {"sender.rate_hz", uint64(60), "60"}, {"sender.rate_hz", 60.0, "60"}, {"sender.rate_hz", " 60 ", "60"},
		{"sender.rate_hz", 60.5, ""}, {"sender.rate_hz", "x", ""}, {"sender.rate_hz", true, ""}, {"sender.rate_hz", uint64(1) << 40, ""},
		{"receiver.display_hz", 59.94, "59.94"}, {"receiver.display_hz", "59.9", "59.9"}, {"receiver.display_hz", "0", "0"}, {"receiver.display_hz", 0.5, ""},
		{"receiver.display_hz", math.NaN(), ""}, {"receiver.display_hz", math.Inf(1), ""}, {"duration", "1m 30s", "1m30s"}, {"duration", 60, ""}, {"duration", "60", ""},
		{"duration", "1000h1ns", ""}, {"receiver.playout_delay", "-1ns", ""}, {"receiver.playout_delay", "1h1ns", ""}, {"receiver.playout_delay", "mirror", ""},
		{"receiver.playout", "85ms", "85ms"}, {"receiver.playout", "mirror", mirror}, {"receiver.playout_compare", []any{"60ms", "mirror"}, "60ms, " + mirror},
		{"budget", "256kbps", "256"}, {"budget", " 256 ", "256"}, {"budget", 0, "off"}, {"budget", math.NaN(), ""}, {"seed", 1.5, ""}, {"seed", -1, ""},
		{"seed", "18446744073709551615", "18446744073709551615"}, {"seed", "18446744073709551616", ""}, {"data.loop", "true", "true"}, {"data.loop", "0", "false"},
		{"data.loop", 1, ""}, {"data.loop", "maybe", ""}, {"data.source", " world ", "world"}, {"data.source", "  ", ""}, {"data.source", 3, ""}, {"data.script", "randm", ""},
		{"crowd.rtt", "60ms", "60ms"}, {"crowd.rtt", "link", "link"}, {"crowd.rtt", lte, lte}, {"crowd.rtt", "fast", ""}, {"crowd.jitter", "uniform min=9ms max=8ms", ""},
		{"crowd.jitter", "uniform max=8ms", "uniform min=0ms max=8ms"}, {"crowd.loss", "2.5%", "2.5%"}, {"crowd.loss", "NaN%", ""}, {"crowd.baseline", "every", "every ticks=2"},
		{"crowd.baseline", "every ticks=0", ""}, {"crowd.profiles", "unity-cable 70%,unity-4g 30%", "unity-cable 70%, unity-4g 30%"},
		{"crowd.profiles", "unity-4g 30%, unity-4g 70%", ""}, {"crowd.uplink_rate", "2tbit", ""}, {"interest.point", "1 2", ""}, {"interest.point", "1 2 1e10", ""},
		{"sender.weights", 3, ""}, {"sender.budget", "64kbit", "64kbit"}, {"sender.budget", 64_000, ""}, {"messages.burst", "off", "off"}, {"sender.redundancy", "none", "none"},
	} {
		c := Default()
		err := c.Set(x.key, x.value)
		if text := findSetting(x.key).Text(c); (err == nil) != (x.want != "") || err == nil && text != x.want {
			t.Errorf("%s = %v: %s, %v; want %q", x.key, x.value, text, err, x.want)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), x.key+": ") || strings.Contains(err.Error(), "\n") || !reflect.DeepEqual(c.Values(), Default().Values())) {
			t.Errorf("%s = %v: %v; the configuration is %v", x.key, x.value, err, c.Values())
		}
	}
	for seed, want := range map[uint64]any{1<<53 - 1: int64(1<<53 - 1), 1 << 53: "9007199254740992"} { // JSON keeps numbers below 2^53
		if got := seedValue(seed); got != want {
			t.Errorf("seed %d is written as %#v, want %#v", seed, got, want)
		}
	}
}

// Steps of a control go along its ladder, stop at its ends, and report whether anything changes. The gauge is 0 and 1 there.
func TestControlSteps(t *testing.T) {
	step := func(key string, from any, n int) (any, bool, float64) {
		c := Default()
		if err := c.Set(key, from); err != nil {
			t.Fatal(err)
		}
		row := findSetting(key)
		v, changed := row.Step(c, n)
		gauge := -1.0
		if level, ok := row.Level(c); ok {
			gauge = level
		}
		return v, changed, gauge
	}
	for _, x := range []struct {
		key     string
		from    any
		n       int
		want    any
		changed bool
		gauge   float64
	}{
		{"sender.every", 1, 1, int64(1), false, 1}, {"sender.every", 1, -1, int64(2), true, 1}, {"sender.every", 60, -1, int64(60), false, 0},
		{"sender.every", 60, 1, int64(30), true, 0}, {"sender.every", 5, 1, int64(4), true, 6.0 / 9}, {"sender.every", 5, -1, int64(6), true, 6.0 / 9},
		{"budget", "off", -1, "off", false, 0}, {"budget", "off", 1, 8.0, true, 0}, {"budget", 256, 1, 384.0, true, 8.0 / 15},
		{"budget", 10_000, 1, 10_000.0, false, 1}, {"budget", 1_000_000, 1, 10_000.0, false, 1},
		{"receiver.playout_delay", "5ms", -1, "0s", true, -1}, {"receiver.playout_delay", "0s", -1, "0s", false, -1},
		{"receiver.playout_delay", "3ms", -1, "0s", true, -1}, {"receiver.playout_delay", "85ms", 2, "95ms", true, -1},
		{"receiver.interpolation", "linear", 1, "hermite", true, -1}, {"receiver.interpolation", "hermite", 1, "linear", true, -1},
	} {
		v, changed, gauge := step(x.key, x.from, x.n)
		if v != x.want || changed != x.changed || math.Abs(gauge-x.gauge) > 1e-9 {
			t.Errorf("%s from %v by %d: %v, %v, gauge %.3f, want %v, %v, %.3f", x.key, x.from, x.n, v, changed, gauge, x.want, x.changed, x.gauge)
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

// The rows of a link show the downlink unless they are of the uplink, and setting a row of both directions sets both.
func TestLinkRows(t *testing.T) {
	for _, info := range lossmodel.Keys() {
		for _, dir := range []Direction{BothDirections, DownOnly, UpOnly} {
			c := Default()
			row := LinkRow(info, dir)
			if _, hasLevel := row.Level(c); row.HasSteps(c) == (len(info.Ladder) == 0 && len(info.Choices) == 0) || hasLevel == (len(info.Ladder) < 2) {
				t.Errorf("%s: steps %v, level %v", row.Key, row.HasSteps(c), hasLevel)
			}
			if !row.HasSteps(c) {
				continue
			}
			next, changed := row.Step(c, 1)
			if !changed {
				next, changed = row.Step(c, -1)
			}
			if err := row.Set(c, next); err != nil || !changed && fmt.Sprint(next) != row.Text(c) {
				t.Errorf("%s = %v: %v", row.Key, next, err)
			}
			d := Default()
			down, up := c.Down != d.Down, c.Up != d.Up
			if changed && (down != (dir != UpOnly) || up != (dir != DownOnly)) {
				t.Errorf("%s changes down: %v, up: %v", row.Key, down, up)
			}
			if row.Text(c) != fmt.Sprint(next) {
				t.Errorf("%s shows %s, was set to %v", row.Key, row.Text(c), next)
			}
		}
	}
	if UpOnly.Other() != DownOnly || DownOnly.Other() != UpOnly || BothDirections.Other() != UpOnly || LinkValue(Default(), DownOnly, "bogus") != "?" {
		t.Error("directions or the value of an unknown key are wrong")
	}
	// A netem line governs all keys except its own and mtu: exactly those that cannot be set beside it.
	for _, info := range lossmodel.Keys() {
		c := Default()
		if err := c.Set("down.netem", "loss 1%"); err != nil {
			t.Fatal(err)
		}
		values := slices.Concat(info.Ladder, info.Choices)
		if len(values) == 0 {
			continue
		}
		refused := slices.ContainsFunc(values, func(v string) bool { return c.Clone().Set("down."+info.Key, v) != nil })
		if refused != GovernedByNetem(info) {
			t.Errorf("%s beside netem: refused %v", info.Key, refused)
		}
		row := LinkRow(info, DownOnly)
		next, _ := row.Step(c, 1)
		if next == nil {
			t.Errorf("%s has no step beside netem", info.Key)
		}
	}
	// The parameters of a loss model have rows: those that are percentages or numbers of packets.
	c := Default()
	if err := c.Set("link.loss", "gilbert-elliott p=2% r=30%"); err != nil {
		t.Fatal(err)
	}
	info := lossmodel.Keys()[0]
	var names []string
	for _, row := range LossParamRows(c, info, DownOnly, BothDirections) {
		names = append(names, row.Name)
		if row.Name != "p" {
			continue
		}
		next, changed := row.Step(c, 1)
		if row.Text(c) != "2%" || next != "gilbert-elliott p=3% r=30%" && !strings.Contains(fmt.Sprint(next), "p=3% r=30%") || !changed {
			t.Errorf("p is %s, a step gives %v, %v", row.Text(c), next, changed)
		}
		if err := row.Set(c, "4%"); err != nil || row.Text(c) != "4%" || c.Up != c.Down {
			t.Errorf("p is set to %s: %v", row.Text(c), err)
		}
	}
	if strings.Join(names, " ") != "p r h k" || len(LossParamRows(Default(), info, DownOnly, DownOnly)) != 0 {
		t.Errorf("rows of %v", names)
	}
	if _, changed := LossParamRows(c, info, UpOnly, UpOnly)[2].Step(c, -9); changed {
		t.Error("a step below 0 % changes h")
	}
	if err := c.Set("up.loss", "pattern bits=01"); err != nil || len(LossParamRows(c, info, UpOnly, UpOnly)) != 0 {
		t.Errorf("a pattern has no steps: %v", err)
	}
}

// A parameter's row has the value that was set or the default, steps within its bounds, and a level from 0 to 1.
func TestParamRows(t *testing.T) {
	lo, hi := 2.0, 12.0
	whole := encoders.ParamInfo{Name: "small", Type: "int", Min: &lo, Max: &hi, Default: int64(4), Unit: "bits"}
	c := Default()
	row := ParamRow(whole)
	if level, ok := row.Level(c); row.Text(c) != "4" || row.Show(c) != "4 bits" || row.Min != 2 || row.Max != 12 || !ok || math.Abs(level-0.2) > 1e-12 {
		t.Errorf("%s, %s, %g to %g, level %g", row.Text(c), row.Show(c), row.Min, row.Max, level)
	}
	if err := c.Set("encoder.params.small", int64(12)); err != nil {
		t.Fatal(err)
	}
	if level, _ := row.Level(c); level != 1 || Default().Encoder.Params != nil {
		t.Errorf("level %g at the largest value; default %v", level, Default().Encoder.Params)
	}
	if next, changed := row.Step(c, 1); next != int64(12) || changed {
		t.Errorf("a step above the bound: %v, %v", next, changed)
	}
	if next, changed := row.Step(c, -1); next != int64(11) || !changed {
		t.Errorf("a step down: %v, %v", next, changed)
	}
	for i, info := range []encoders.ParamInfo{{Name: "x", Type: "float", Min: &lo, Default: 3.0}, {Name: "x", Type: "float", Max: &hi, Default: 3.0}, {Name: "x", Type: "float", Default: 3.0}, {Name: "x", Type: "float", Min: &lo, Max: &lo, Default: 2.0}} {
		row := ParamRow(info)
		if _, ok := row.Level(c); ok || row.Min != 0 != (i == 3) {
			t.Errorf("%+v has a level, or bounds %g", info, row.Min)
		}
	}
	if next := stepParam(encoders.ParamInfo{Type: "float", Min: &lo}, 2.0, -1); next != 2.0 {
		t.Errorf("below the only bound: %v", next)
	}
	if next := stepParam(encoders.ParamInfo{Type: "float", Max: &hi}, 12.0, -1); next != 11.9 {
		t.Errorf("a float without a range steps by 0.1: %v", next)
	}
	text := ParamRow(encoders.ParamInfo{Name: "x", Type: "string", Default: ""})
	if text.HasSteps(c) || text.Show(c) != "none" {
		t.Errorf("text has a step, or is shown as %q", text.Show(c))
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
		5.3}, {encoders.ParamInfo{Type: "bool"}, false, 1, true}, {encoders.ParamInfo{Type: "string"}, "x", 1, "x"}} {
		if got := stepParam(c.info, c.now, c.n); got != c.want {
			t.Errorf("%v by %d is %v, want %v", c.now, c.n, got, c.want)
		}
	}
}

// Whole numbers from 0 on are accepted in every type; a float64 only where it is exact.
func TestToUint(t *testing.T) {
	for _, x := range []struct {
		v    any
		want uint64
		ok   bool
	}{{int64(0), 0, true}, {int64(-1), 0, false}, {int(0), 0, true}, {int(-1), 0, false}, {uint64(math.MaxUint64), math.MaxUint64, true}, {0.0, 0, true}, {-1.0, 0, false}, {1.5, 0, false},
		{float64(1<<53 - 1), 1<<53 - 1, true}, {float64(1 << 53), 0, false}, {" 7 ", 7, true}, {"-7", 0, false}, {nil, 0, false}, {true, 0, false}} {
		if got, ok := toUint(x.v); ok != x.ok || ok && got != x.want {
			t.Errorf("%T %v: %d, %v; want %d, %v", x.v, x.v, got, ok, x.want, x.ok)
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
