package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/view"
	"wirelab/internal/testkit"
)

const fullConfig = `
seed = 11
duration = "30s"
profile = "lte"
[data]
source = "demo"
loop = false
[encoder]
name = "relative-orientation"
[down]
loss = { model = "gilbert", mean = "5%", burst = 2.5 }
latency = "70ms"
[up]
jitter = "3ms"
[sender]
rate_hz = 30
every = 3
history = 100
[receiver]
history = 90
playout_delay = "120ms"
interpolation = "hermite"
[[at]]
t = "10s"
encoder = "quantized"
down.loss = "20%"
[[at]]
t = "12s"
latency = "10ms"
playout_delay = "50ms"
interpolation = "linear"
every = 2
mark = "here"
[[shadow]]
name = "raw"
[[sweep]]
key = "down.loss"
values = ["0%", "1%"]
[assert]
payload_kbps = "<= 256"
wrong = "== 0"
failures.corrupt = "< 3"
`

// reread returns the configuration of the file that c writes.
func reread(t *testing.T, c *Config) *Config {
	t.Helper()
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return again
}

// checkRoundTrip checks that a configuration is the same after TOML and after Values.
func checkRoundTrip(t *testing.T, name string, c *Config) {
	t.Helper()
	fromValues, err := c.Values().Config("values")
	if err != nil {
		t.Fatalf("%s: from Values: %v", name, err)
	}
	for _, again := range []*Config{reread(t, c), fromValues} {
		if !reflect.DeepEqual(again.Values(), c.Values()) {
			t.Errorf("%s: came back as\n%v\nwant\n%v", name, again.Values(), c.Values())
		}
	}
}

// sections returns the sections of a file in testdata by their order: the heading after "=== ", and the
// lines below it.
func sections(t *testing.T, name string) (list [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "=== "), "\n=== ") {
		heading, text, _ := strings.Cut(section, "\n")
		list = append(list, [2]string{heading, text})
	}
	return list
}

// Files are accepted ("ok") or refused in one sentence with line and key. The sentence begins with the
// part of the heading before " ..." and ends with the part after it.
func TestFiles(t *testing.T) {
	for _, x := range sections(t, "files.txt") {
		c, err := Parse("f", []byte(x[1]))
		got := "ok"
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "f:")
		} else {
			checkRoundTrip(t, x[1], c)
		}
		begin, end, _ := strings.Cut(x[0], " ...")
		got = strings.TrimPrefix(got, " ") // without a line
		if !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || strings.Contains(got, "\n") {
			t.Errorf("%s\n%s\nwant %s", x[1], got, x[0])
		}
	}
}

// Settings without an effect cause one warning. Those that vary cause none.
func TestWarnings(t *testing.T) {
	for _, x := range sections(t, "warnings.txt") {
		c := Default()
		for line := range strings.Lines(x[1]) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if err := c.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Join(append(c.Warnings(), "none"), "\n")
		if !strings.HasPrefix(got, x[0]) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s%s\nwant %s", x[1], got, x[0])
		}
	}
	c := Default()
	c.Sender.Priority, c.Interest.Row = view.Policies.Default("unity"), 3
	c.Sweep, c.Search.Over = []Axis{{Key: BudgetKey, Values: []any{"off", "64kbit"}}}, []Range{{Key: radiusKey}}
	if w := c.Warnings(); len(w) > 0 {
		t.Errorf("settings that are varied are warned about: %v", w)
	}
	c.Search.Over, c.Interest = nil, Default().Interest
	points, err := c.Points()
	if err != nil || len(points[0].Config.Warnings()) > 0 {
		t.Errorf("the point without a budget has the warnings %v, %v", points[0].Config.Warnings(), err)
	}
}

// Lists are accepted at exactly their limits and refused one beyond. An empty want means accepted.
func TestLongLists(t *testing.T) {
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const search = "[search]\nminimise = \"payload_kbps\"\n[search.over]\n"
	const client, shadow = "[[client]]\nturn = 1%03d\nloss = \"1%%\"\n", "[[shadow]]\nname = \"kinetic\"\nparams.damping = 0.%d1\n"
	params := search + "\"encoder.name\" = [\"raw\"]\n" + lines("\"encoder.params.p%d\" = [1]\n", 31)
	for text, want := range map[string]string{
		search + "\"data.cubes\" = [" + lines("%d,", 1001) + "]": "at most 1000 values",
		lines(client, 1000): "", lines(client, 1001): "at most 1000", lines(shadow, 64): "", lines(shadow, 65): "65 shadows are too many",
		params: "", params + "seed = [1]\n": "seed", params + "\"sender.every\" = [1]\n": "at most 32", "\xff\xfes\x00": "UTF-16",
	} {
		if _, err := Parse("f", []byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
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

// A file sets the keys in it; other keys of a link keep the values of its profile.
func TestFullConfig(t *testing.T) {
	c, err := Parse("full.toml", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	settings := c.Settings()
	for key, want := range map[string]string{"seed": "11", "data.loop": "false", "sender.rate_hz": "30", "sender.every": "3", "sender.history": "100",
		"receiver.history": "90", "receiver.playout_delay": "120ms", "receiver.interpolation": "hermite", "down.loss": "5%", "down.burst": "2.5",
		"down.latency": "70ms", "up.latency": "65ms", "up.jitter": "3ms", "shadow[0].name": "raw"} {
		if got := settings[key]; got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	got := fmt.Sprintf("%v %v %s; %v %s; %d, %d, %d", c.Duration, c.At[0].T, c.At[0].Change.Label(), c.At[1].T, c.At[1].Change.Label(), len(c.Shadows), len(c.Sweep), len(c.Assert))
	if want := "30s 10s encoder quantized, down loss 20%; 12s latency 10ms, here, interpolation linear, playout_delay 50ms, every 2; 1, 1, 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A configuration is the same after Values and after TOML.
func TestConfigRoundTrips(t *testing.T) {
	presets, err := filepath.Glob("../presets/*.toml")
	if err != nil || len(presets) < 5 {
		t.Fatalf("%d presets, %v", len(presets), err)
	}
	for _, path := range presets {
		c, err := LoadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, path, c)
	}
	full, err := Parse("full", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, "full", full)
}

func FuzzParse(f *testing.F) {
	f.Add(fullConfig)
	f.Add("a.b = 1\n[[at]]\n[at.x]\ny = [1, {z = 2}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		out, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("again", out); err != nil {
			t.Errorf("accepted, but its effective configuration is rejected: %v\n%s", err, out)
		}
	})
}

// A file of exactly the limit is read; with one byte more the error names the file and the limit.
func TestReadFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	for size, want := range map[int]string{
		1 << 20:   "",
		1<<20 + 1: path + ": has more than 1048576 bytes; expected a TOML file",
	} {
		if err := os.WriteFile(path, bytes.Repeat([]byte("\n"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadFile(path); err == nil != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}

// The grid has every combination once, the first axis outermost; repeat multiplies nothing, and seeds
// follow the point's own.
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
}

// The second bound on a figure replaces the first.
func TestAssertions(t *testing.T) {
	c := Default()
	testkit.Set(t, c, "assert.wrong", "< 3", "assert.wrong", "< 4")
	if len(c.Assert) != 1 || c.Assert[0].Value != 4 {
		t.Errorf("the second bound on a figure replaces the first: %+v", c.Assert)
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
	names := strings.Fields(strings.Repeat("name ", 9))
	if got := OneOf(names[:8]); got != "one of "+strings.Join(names[:8], ", ") {
		t.Errorf("8 names: %q", got)
	}
	if got := OneOf(names); got != "one of 9 names: "+strings.Join(names[:6], ", ")+", ..." {
		t.Errorf("9 names: %q", got)
	}
	for name, want := range map[string]string{
		"nam": `unknown encoder "nam"; did you mean name? tui encoders lists all`,
		"zzz": `unknown encoder "zzz"; expected one of 9 names: name, name, name, name, name, name, ...; tui encoders lists all`,
	} {
		if got := Unknown("", "encoder", name, names).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	e := &Error{File: "f", Line: 3, Key: "k", Problem: "p", Expected: "e", Near: "n"}
	if got := e.Error(); got != "f:3: k: p; expected e; did you mean n?" {
		t.Error(got)
	}
	if got := (&Error{File: "f", Problem: "p"}).Error(); got != "f: p" {
		t.Error(got)
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
