package config

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every numeric setting accepts exactly the values of its documented range.
func TestRangesOfSettings(t *testing.T) {
	for _, x := range []struct {
		key          string
		valid, wrong []any
	}{
		{"sender.rate_hz", []any{1, 1000, int64(60), uint64(60), 60.0, " 60 "}, []any{0, 1001, -1, 60.5, "x", "-1", true, uint64(1) << 40, float64(1 << 53), -1.0}},
		{"sender.every", []any{1, 60}, []any{0, 61}},
		{"sender.history", []any{2, 255}, []any{0, 256}},
		{"receiver.history", []any{255}, []any{0, 256}},
		{"sender.block", []any{minBlock, 1400}, []any{minBlock - 1, 1401}},
		{"sender.window", []any{1, maxWindow}, []any{0, maxWindow + 1}},
		{"data.cubes", []any{1, 65535}, []any{0, 65536}},
		{"data.message", []any{1, 16383}, []any{0, 16384}},
		{"receiver.display_hz", []any{0, 1, 1000, 59.94}, []any{0.999, 1000.001, -1}},
		{"duration", []any{"0s", "1000h", "1m 30s"}, []any{"1000h1ns", "-1s", 60, "60"}},
		{"receiver.playout_delay", []any{"0s", "85ms"}, []any{"1h1ns", "-1ns"}},
		{"budget", []any{"off", 0, 1_000_000, "256kbps", " 256 "}, []any{-1, 1_000_001, "x", math.NaN()}},
		{"seed", []any{0, uint64(math.MaxUint64), "18446744073709551615"}, []any{-1, 1.5, "18446744073709551616"}},
		{"data.loop", []any{true, false, "true", "0"}, []any{1, "maybe"}},
		{"data.source", []any{"demo", " world "}, []any{"", "  ", 3}},
	} {
		for _, v := range x.valid {
			c := Default()
			if err := c.Set(x.key, v); err != nil {
				t.Errorf("%s = %v: %v", x.key, v, err)
			} else if err := c.Validate(); err != nil {
				t.Errorf("%s = %v is not valid: %v", x.key, v, err)
			}
		}
		for _, v := range x.wrong {
			c := Default()
			if c.Set(x.key, v) == nil {
				t.Errorf("%s = %v is accepted", x.key, v)
			}
			if !reflect.DeepEqual(c.Values(), Default().Values()) {
				t.Errorf("%s = %v, refused, changed the configuration", x.key, v)
			}
		}
	}
}

// A seed is written as a number below 2^53, which JSON keeps, and as text from there on.
func TestSeedInJSON(t *testing.T) {
	for seed, want := range map[uint64]any{7: int64(7), 1<<53 - 1: int64(1<<53 - 1), 1 << 53: "9007199254740992", math.MaxUint64: "18446744073709551615"} {
		if got := seedValue(seed); got != want {
			t.Errorf("seed %d is written as %#v, want %#v", seed, got, want)
		}
	}
}

// validate returns the error of a configuration that TOML text describes, or "".
func validate(t *testing.T, text string) string {
	t.Helper()
	if _, err := Parse("x.toml", []byte(text)); err != nil {
		return err.Error()
	}
	return ""
}

// repeatText returns n lines, each of which is format with its number.
func repeatText(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// numbers returns n values of a TOML list.
func numbers(n int) string { return "[" + strings.TrimSuffix(repeatText("%d,", n), ",") + "]" }

// Sweeps, searches and histories are accepted at exactly their limits and refused one beyond. An empty want means accepted.
func TestLimits(t *testing.T) {
	axis := func(key, values string) string { return "[[sweep]]\nkey = \"" + key + "\"\nvalues = " + values + "\n" }
	search := func(over string) string {
		return "[search]\nminimise = \"payload_kbps\"\n[search.over]\n" + over + "\n"
	}
	for name, x := range map[string]struct{ text, want string }{
		"runs at the limit":         {axis("data.cubes", "[1,2,3,4,5,6,7,8,9,10]") + axis("data.message", "[1,2,3,4,5,6,7,8,9,10]") + "[[sweep]]\nrepeat = 1000\n", ""},
		"a run too many":            {axis("data.cubes", "[1,2,3,4,5,6,7,8,9,10,11]") + axis("data.message", "[1,2,3,4,5,6,7,8,9,10]") + "[[sweep]]\nrepeat = 1000\n", "110 points with 1000 seeds each are 110000 runs"},
		"repeat above the limit":    {"[[sweep]]\nrepeat = 1001\n", "1 to 1000"},
		"repeat of none":            {"[[sweep]]\nrepeat = 0\n", "1 to 1000"},
		"a repeat of 1":             {axis("data.cubes", "[1]") + "[[sweep]]\nrepeat = 1\n", ""},
		"repeat twice":              {"[[sweep]]\nrepeat = 2\n[[sweep]]\nrepeat = 3\n", "sweep[1].repeat: repeat is set twice"},
		"repeat with a key":         {"[[sweep]]\nrepeat = 2\nkey = \"data.cubes\"\n", "sweep[0].repeat: repeat applies to the whole grid"},
		"repeat with values":        {"[[sweep]]\nrepeat = 2\nvalues = [1]\n", "sweep[0].repeat: repeat applies to the whole grid"},
		"repeat with seeds":         {axis("seed", "[1, 2]") + "[[sweep]]\nrepeat = 2\n", "sweep[0].key: seed cannot be swept with repeat"},
		"seeds without repeat":      {axis("seed", "[1, 2]"), ""},
		"an axis without a key":     {"[[sweep]]\nvalues = [1]\n", "key or values missing"},
		"an axis without values":    {"[[sweep]]\nkey = \"seed\"\n", "key or values missing"},
		"a key twice":               {axis("seed", "[1]") + axis("seed", "[2]"), "sweep[1].key: \"seed\" is swept twice"},
		"a sweep of a sweep":        {axis("sweep[0].key", "[\"a\"]"), "cannot be swept"},
		"a sweep of an assertion":   {axis("assert.wrong", "[\"== 0\"]"), "cannot be swept"},
		"search without a figure":   {"[search.over]\nseed = [1]\n", "seed"},
		"search without ranges":     {"[search]\nminimise = \"wrong\"\n", "no keys to vary"},
		"search without minimise":   {"[search.over]\n\"sender.every\" = [1]\n", "minimise is missing"},
		"search of the duration":    {search("duration = [\"1s\"]"), "cannot be searched"},
		"two figures":               {"[search]\nminimise = [\"wrong\", \"payload_kbps\"]\n", "for two figures, a sweep"},
		"a number as a figure":      {"[search]\nminimise = 3\n", "is not a figure"},
		"a time as a figure":        {"[search]\nminimise = \"encode_us.p50\"\n[search.over]\n\"sender.every\" = [1]\n", ""},
		"an unknown figure":         {"[search]\nminimise = \"payload_kbs\"\n", "did you mean payload_kbps?"},
		"runs of a search":          {"[search]\nruns = 9\n", "10 to 100000"},
		"10 runs of a search":       {"[search]\nruns = 10\nseeds = 1000\n", ""},
		"too many seeds":            {"[search]\nseeds = 1001\n", "1 to 1000"},
		"an unknown key":            {"[search]\nrusn = 10\n", "did you mean runs?"},
		"a bound without a figure":  {"[search]\nsubject_to = [\"wrong\"]\n", "subject_to[0]: \"wrong\" is not a bound"},
		"a percentage of kbps":      {"[search]\nsubject_to = [\"wire_kbps <= 5%\"]\n", "\"<= 5%\" is a percentage, but wire_kbps is not a share"},
		"bounds":                    {"[search]\nsubject_to = [\"wrong == 0\", \"encode_us.p50 < 5\", \"playout.starved_ratio <= 5%\"]\n", ""},
		"1000 values":               {search("\"data.cubes\" = { from = 1, to = 1000 }"), ""},
		"1001 values":               {search("\"data.cubes\" = { from = 1, to = 1001 }"), "is not a range"},
		"1001 listed values":        {search("\"data.cubes\" = " + numbers(1001)), "is not a range"},
		"a range of one":            {search("\"data.cubes\" = { from = 5, to = 5 }"), ""},
		"a range downwards":         {search("\"data.cubes\" = { from = 5, to = 4 }"), "is not a range"},
		"a step of 0":               {search("\"data.cubes\" = { from = 1, to = 4, step = 0 }"), "is not a range"},
		"a range without an end":    {search("\"data.cubes\" = { from = 1 }"), "is not a range"},
		"a range without a start":   {search("\"data.cubes\" = { to = 1 }"), "is not a range"},
		"only a step":               {search("\"data.cubes\" = { step = 1 }"), "is not a range"},
		"a step of text":            {search("\"data.cubes\" = { from = 1, to = 4, step = \"1\" }"), "is not a number"},
		"an infinite range":         {search("\"data.cubes\" = { from = 1, to = inf }"), "is not a number"},
		"an invalid value":          {search("\"sender.every\" = [1, 61]"), "search.over.sender.every[1]: sender.every = 61"},
		"a param of one encoder":    {search("\"encoder.name\" = [\"raw\", \"kinetic\"]\n\"encoder.params.damping\" = [0.5]"), ""},
		"a param without encoder":   {"encoder.name = \"raw\"\n" + search("\"encoder.params.damping\" = [0.5]"), "search.over.encoder.params.damping[0]"},
		"half of the history":       {"[sender]\nevery = 5\nhistory = 10\n", ""},
		"more than half":            {"[sender]\nevery = 6\nhistory = 11\n", "1 to 5 (half of the shorter history)"},
		"every one of one":          {"[sender]\nhistory = 1\n", ""},
		"playout at the history":    {"[receiver]\nhistory = 60\nplayout_delay = \"1s\"\n", "less than 1s"},
		"playout below the history": {"[receiver]\nhistory = 60\nplayout_delay = \"999ms\"\n", ""},
		"a change at the end":       {"duration = \"5s\"\n[[at]]\nt = \"5s\"\nloss = \"1%\"\n", "5s is not before the end"},
		"a change before the end":   {"duration = \"5s\"\n[[at]]\nt = \"4.999s\"\nloss = \"1%\"\n", ""},
		"a change at the start":     {"[[at]]\nt = \"0s\"\nloss = \"1%\"\n", ""},
		"a client without a change": {"[[client]]\nturn = 1\n", "client[0]: sets nothing"},
		"a client without a turn":   {"[[client]]\nloss = \"1%\"\n", "address or turn is missing"},
		"both address and turn":     {"[[client]]\nturn = 1\naddress = \"10.0.0.1\"\nloss = \"1%\"\n", "or both are set"},
		"turn 0":                    {"[[client]]\nturn = 0\nloss = \"1%\"\n", "is not a turn"},
		"a turn twice":              {"[[client]]\nturn = 1\nloss = \"1%\"\n[[client]]\nturn = 1\nloss = \"2%\"\n", "client[1]: selects the same client as client[0]"},
		"an address twice":          {"[[client]]\naddress = \"10.0.0.1\"\nloss = \"1%\"\n[[client]]\naddress = \"::ffff:10.0.0.1\"\nloss = \"2%\"\n", "selects the same client"},
		"two turns":                 {"[[client]]\nturn = 1\nloss = \"1%\"\n[[client]]\nturn = 2\nloss = \"2%\"\n", ""},
		"a turn after an address":   {"[[client]]\naddress = \"10.0.0.1\"\nloss = \"1%\"\n[[client]]\nturn = 2\nloss = \"2%\"\n", ""},
		"a client with an encoder":  {"[[client]]\nturn = 1\nencoder = \"raw\"\n", "client[0].encoder.name: a client can only set links"},
		"a client with a time":      {"[[client]]\nturn = 1\nt = \"1s\"\n", "cannot change with time"},
		"a wrong client":            {"[[client]]\nturn = 1\nloss = \"101%\"\n", "client[0]"},
		"1000 clients":              {repeatText("[[client]]\nturn = 1%03d\nloss = \"1%%\"\n", 1000), ""},
		"1001 clients":              {repeatText("[[client]]\nturn = 1%03d\nloss = \"1%%\"\n", 1001), "at most 1000"},
		"64 shadows":                {repeatText("[[shadow]]\nname = \"rotor\" # %d\n", 64), ""},
		"65 shadows":                {repeatText("[[shadow]]\nname = \"rotor\" # %d\n", 65), "65 shadows are too many"},
		"one table for a list":      {"[at]\nt = \"1s\"\n", "is a list of tables, got one table; expected [[at]]"},
		"a list for one table":      {"[[down]]\nloss = \"1%\"\n", "is not a list of tables"},
		"an empty entry":            {"[[at]]\n", "empty table"},
		"an empty list":             {"at = []\n", ""},
		"UTF-16":                    {"\xff\xfes\x00", "UTF-16"},
	} {
		if got := validate(t, x.text); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	over := "\"encoder.name\" = [\"raw\"]\n"
	over += repeatText("\"encoder.params.p%d\" = [1]\n", 31)
	if got := validate(t, search(over)); got != "" {
		t.Errorf("32 ranges: %s", got)
	}
	if got := validate(t, search(over+"seed = [1]\n\"sender.every\" = [1]\n")); !strings.Contains(got, "seed") {
		t.Errorf("a search of seeds: %s", got)
	}
	if got := validate(t, search(over+"\"sender.every\" = [1]\n")); !strings.Contains(got, "at most 32") {
		t.Errorf("33 ranges: %s", got)
	}
	// The grid itself: 10,000 points, and a million scripted changes in all.
	big := Default()
	big.Sweep = []Axis{{Key: "data.cubes", Values: make([]any, 100)}, {Key: "data.message", Values: make([]any, 100)}}
	for i := range 100 {
		big.Sweep[0].Values[i], big.Sweep[1].Values[i] = int64(i+1), int64(i+1)
	}
	big.At = make([]StampedChange, 100)
	if err := big.checkSweep(); err != nil {
		t.Errorf("10000 points with 100 changes: %v", err)
	}
	big.At = make([]StampedChange, 101)
	if err := big.checkSweep(); err == nil || !strings.Contains(err.Error(), "10000 points with 101 scripted changes") {
		t.Errorf("10000 points with 101 changes: %v", err)
	}
	big.At, big.Clients = big.At[:90], make([]proxyClient, 11)
	if err := big.checkSweep(); err == nil {
		t.Error("clients are not counted with the scripted changes")
	}
	big.At, big.Clients = nil, nil
	big.Sweep[1].Values = append(big.Sweep[1].Values, int64(101))
	if err := big.checkSweep(); err == nil || !strings.Contains(err.Error(), "at most 10000") {
		t.Errorf("10100 points: %v", err)
	}
}

// The grid has every combination once, the first axis outermost; repeat multiplies nothing, and seeds follow the point's own.
func TestPoints(t *testing.T) {
	c, err := Parse("x.toml", []byte("seed = 5\n[sweep]\nrepeat = 3\n[[sweep.axis]]\nkey = \"down.loss\"\nvalues = [\"0%\", \"5%\"]\n"+
		"[[sweep.axis]]\nkey = \"sender.every\"\nvalues = [1, 2, 3]\n"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := c.Points()
	if err != nil || len(points) != 6 || c.Repeat() != 3 || len(c.Axes()) != 2 || Default().Repeat() != 1 {
		t.Fatalf("%d points, repeat %d, %d axes, %v", len(points), c.Repeat(), len(c.Axes()), err)
	}
	for i, p := range points {
		loss, every := []string{"0%", "5%"}[i/3], 1+i%3
		if text, _ := p.Config.Down.Get("loss"); text != loss || p.Config.Sender.Every != every || p.Set["down.loss"] != loss ||
			p.Set["sender.every"] != fmt.Sprint(every) || len(p.Config.Sweep) != 0 {
			t.Errorf("point %d: %v", i, p.Set)
		}
		seeded := p.Seeded(2)
		if seeded.Config.Seed != 7 || seeded.Set["seed"] != "7" || p.Config.Seed != 5 || p.Set["seed"] != "" {
			t.Errorf("the third seed of point %d is %d, its own %d", i, seeded.Config.Seed, p.Config.Seed)
		}
	}
	// Two values that are valid alone but not together: the error names the axis whose key it is about.
	c, err = Parse("x.toml", []byte("[[sweep]]\nkey = \"sender.every\"\nvalues = [1, 60]\n[[sweep]]\nkey = \"sender.history\"\nvalues = [200, 10]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Points(); err == nil || !strings.Contains(err.Error(), "sweep[0].values: at the point sender.every = 60, sender.history = 10") {
		t.Errorf("an impossible point: %v", err)
	}
	for text, want := range map[string]string{
		"[sweep]\naxis = 3\n":   "sweep.axis: is not a list of tables",
		"[sweep]\nrepaet = 3\n": "did you mean repeat?",
	} {
		if got := validate(t, text); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := validate(t, "[sweep]\n\nrepeat = 0\n"); !strings.HasPrefix(got, "x.toml:3: ") {
		t.Errorf("the line of sweep.repeat: %s", got)
	}
}

// A bound holds as its operator says, and is written as it is read.
func TestAssertions(t *testing.T) {
	for op, want := range map[string][3]bool{"<=": {true, true, false}, "<": {true, false, false}, ">=": {false, true, true},
		">": {false, false, true}, "==": {false, true, false}, "!=": {true, false, true}} {
		a, err := parseAssertion("wrong", op+"  2.5")
		if err != nil || a != (Assertion{"wrong", op, 2.5}) || a.Text() != op+" 2.5" {
			t.Errorf("%s: %+v, %v", op, a, err)
		}
		for i, got := range []float64{2, 2.5, 3} {
			if a.Holds(got) != want[i] {
				t.Errorf("%g %s 2.5 is %v", got, op, a.Holds(got))
			}
		}
	}
	for _, v := range []any{int64(3), 3.0, "== 3", " ==3"} {
		if a, err := parseAssertion("wrong", v); err != nil || a != (Assertion{"wrong", "==", 3}) {
			t.Errorf("%v: %+v, %v", v, a, err)
		}
	}
	for text, want := range map[string]float64{"<= 1%": 0.01, "<= 0.7 %": 0.007, "<= 150%": 1.5} {
		if a, err := parseAssertion("playout.starved_ratio", text); err != nil || a.Value != want {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
	for _, v := range []any{"3", "= 3", "<", "< NaN", "<> 3", "< %", "< 3%%", "< NaN%", true} {
		if a, err := parseAssertion("wrong", v); err == nil {
			t.Errorf("%v is accepted as %+v", v, a)
		}
	}
	c := Default()
	for _, v := range []string{"< 3", "< 4"} {
		if err := c.Set("assert.wrong", v); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.Assert) != 1 || c.Assert[0].Value != 4 {
		t.Errorf("the second bound on a figure replaces the first: %+v", c.Assert)
	}
}

// Keys of list entries have an index from 0 to 10000 in brackets.
func TestCutIndex(t *testing.T) {
	for key, want := range map[string]int{"at[0]": 0, "at[10000]": 10000, "at[10001]": -1, "at[-1]": -1, "at[x]": -1, "at[1": -1, "at": -1, "at[]": -1} {
		name, index, ok := cutIndex(key)
		if ok != (want >= 0) || ok && (name != "at" || index != want || Indexed(name, index) != key) || !ok && name != key {
			t.Errorf("%s is %s, %d, %v", key, name, index, ok)
		}
	}
}

// Long values are cut after 80 bytes at a character, and of long lists of names the first are listed.
func TestErrorTexts(t *testing.T) {
	if got := truncate(strings.Repeat("x", 80)); len(got) != 80 {
		t.Errorf("80 bytes become %q", got)
	}
	if got := truncate(strings.Repeat("x", 79) + "äb"); got != strings.Repeat("x", 79)+"..." {
		t.Errorf("81 bytes become %q", got)
	}
	names := strings.Fields(repeatText("name%d ", 49))
	if got := OneOf(names[:48]); got != "one of "+strings.Join(names[:48], ", ") {
		t.Errorf("48 names: %q", got)
	}
	if got := OneOf(names); got != "one of 49 names: "+strings.Join(names[:6], ", ")+", ..." {
		t.Errorf("49 names: %q", got)
	}
	e := &Error{File: "f", Line: 3, Key: "k", Problem: "p", Expected: "e", Near: "n"}
	if got := e.Error(); got != "f:3: k: p; expected e; did you mean n?" {
		t.Error(got)
	}
	if got := (&Error{File: "f", Problem: "p"}).Error(); got != "f: p" {
		t.Error(got)
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
		if row.Gauge != nil {
			gauge = row.Gauge(c)
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
		{"sender.every", 60, 1, int64(30), true, 0}, {"sender.every", 5, 0, int64(6), false, 5.0 / 9},
		{"budget", "off", -1, "off", false, 0}, {"budget", "off", 1, 8.0, true, 0}, {"budget", 256, 1, 384.0, true, 8.0 / 15},
		{"budget", 10_000, 1, 10_000.0, false, 1}, {"budget", 1_000_000, 0, 10_000.0, false, 1},
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
	for _, x := range []struct {
		rate, every int
		shown       bool
	}{{60, 1, false}, {31, 1, false}, {30, 1, true}, {60, 2, true}} {
		c.Sender.RateHz, c.Sender.Every = x.rate, x.every
		if got := findSetting("receiver.interpolation").IsShown(c); got != x.shown {
			t.Errorf("%d/%d snapshots per second: interpolation shown %v", x.rate, x.every, got)
		}
	}
	c.Sender.RateHz, c.Sender.Every, c.Receiver.Hermite = 60, 1, true
	if !findSetting("receiver.interpolation").IsShown(c) || findSetting("sender.every").IsShown(c) {
		t.Error("a setting that differs from the default is shown, others are not")
	}
	if c.DisplayMilliHz(20) != 20_000 {
		t.Error("a display without a rate is synchronous with the source")
	}
	if c.Receiver.DisplayMilliHz = 1; c.DisplayMilliHz(20) != 1 {
		t.Error("a rate of the display is used")
	}
	last := -1
	for _, s := range Controls() {
		if s.Label == "" || s.Position < last {
			t.Errorf("control %s, position %d after %d", s.Key, s.Position, last)
		}
		last = s.Position
	}
}

// A period of scripted changes is in order of time; equal times keep the order of the file.
func TestScriptOrder(t *testing.T) {
	c := Default()
	for _, ms := range []int{30, 10, 30, 0, 10} {
		c.At = append(c.At, StampedChange{T: time.Duration(ms) * time.Millisecond})
	}
	if got := c.ScriptOrder(); !reflect.DeepEqual(got, []int{3, 1, 4, 0, 2}) {
		t.Errorf("order %v", got)
	}
}
