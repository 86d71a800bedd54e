package config

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
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

func TestConfigReadsEveryKey(t *testing.T) {
	c, err := Parse("full.toml", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	if c.Seed != 11 || c.Duration != 30*time.Second || c.Data.Loop || c.Sender.RateHz != 30 || c.Sender.Every != 3 ||
		c.Sender.History != 100 ||
		c.Receiver.History != 90 || c.Receiver.Playout != 120*time.Millisecond || !c.Receiver.Hermite {
		t.Errorf("scalars: %+v", c)
	}
	if got := [...]string{text(t, c, "loss"), text(t, c, "burst"), text(t, c, "latency")}; got != [...]string{"5%", "2.5", "70ms"} {
		t.Errorf("down: %v", got)
	}
	if c.Up.Delay.Latency != 65*time.Millisecond || c.Up.Delay.Jitter != 3*time.Millisecond {
		t.Errorf("up: the profile's latency and the file's jitter, got %v and %v", c.Up.Delay.Latency, c.Up.Delay.Jitter)
	}
	first, second := c.At[0], c.At[1]
	if first.T != 10*time.Second || first.Change.Encoder() != "quantized" || first.Change.Text("down.loss") != "20%" ||
		first.Change.Value("up.loss") != nil {
		t.Errorf("at[0]: %+v", first)
	}
	if !reflect.DeepEqual(second.Change, Change{{"down.latency", "10ms"}, {"up.latency", "10ms"},
		{"receiver.playout_delay", "50ms"}, {"sender.every", int64(2)}, {"receiver.interpolation", "linear"}, {"mark", "here"}}) {
		t.Errorf("at[1]: %+v", second)
	}
	if len(c.Shadows) != 1 || c.Shadows[0].Name != "raw" || len(c.Sweep) != 1 || len(c.Assert) != 3 {
		t.Errorf("lists: %+v %+v %+v", c.Shadows, c.Sweep, c.Assert)
	}
}

func text(t *testing.T, c *Config, key string) string {
	t.Helper()
	s, err := c.Down.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A configuration is the same after Values and after TOML.
func TestConfigRoundTrips(t *testing.T) {
	texts := map[string]string{"empty": "", "full": fullConfig}
	presets, err := filepath.Glob("../presets/*.toml")
	if err != nil || len(presets) < 5 {
		t.Fatalf("%d presets, %v", len(presets), err)
	}
	for _, p := range presets {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts[p] = string(text)
	}
	for name, text := range texts {
		c, err := Parse(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(name+" again", out)
		if err != nil {
			t.Errorf("%s: its effective configuration is rejected: %v\n%s", name, err, out)
			continue
		}
		if !reflect.DeepEqual(c.Values(), again.Values()) || c.Down != again.Down || c.Up != again.Up {
			t.Errorf("%s: came back as\n%v\nwant\n%v", name, again.Values(), c.Values())
		}
		var tree map[string]any
		if err := toml.Unmarshal(out, &tree); err != nil {
			t.Fatal(err)
		}
		if _, err := Values(tree).Config(name); err != nil {
			t.Errorf("%s: from Values: %v", name, err)
		}
	}
}

func TestErrorsHavePositionAndExpectation(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
		want       []string // all of them stand in the sentence
	}{
		{"unknown key", "sed = 7", 1, []string{"sed", "did you mean seed?"}},
		{"unknown key of a table", "[receiver]\ndigest = 1", 2, []string{`unknown key "receiver.digest"; expected one of receiver.`, "receiver.history"}},
		{"unknown link key", "[down]\nlos = \"5%\"", 2, []string{"down.los", "loss"}},
		{"link key without its table", "loss = \"5%\"", 1, []string{"did you mean link.loss?"}},
		{"key without its table", "playout_delay = \"5ms\"", 1, []string{"did you mean receiver.playout_delay?"}},
		{"unknown table", "[dwon]\nloss = \"5%\"", 2, []string{"dwon.loss"}},
		{"unknown encoder", "[encoder]\nname = \"relative-orientatoin\"", 2, []string{"relative-orientation"}},
		{"unknown param", "[encoder]\nname = \"relative-orientation\"\n[encoder.params]\nsmal = 3", 4, []string{"smal"}},
		{"too much loss", "seed = 1\n\n[down]\nloss = \"140%\"", 4, []string{"140%", "100%"}},
		{"negative latency", "[up]\nlatency = \"-5ms\"", 2, []string{"-5ms"}},
		{"unit missing", "[down]\nlatency = 50", 2, []string{"50ms"}},
		{"duration missing unit", "duration = 60", 1, []string{"60", "60s"}},
		{"rate of nothing", "[sender]\nrate_hz = 0", 2, []string{"rate_hz", "1 to 1000"}},
		{"history too long", "[sender]\nhistory = 300", 2, []string{"300", "255"}},
		{"playout over the history", "[receiver]\nhistory = 3\nplayout_delay = \"85ms\"", 3, []string{"85ms", "history"}},
		{"every none", "[sender]\nevery = 0", 2, []string{"every", "1 to 60"}},
		{"script with every none", "[[at]]\nt = \"1s\"\nevery = 61", 3, []string{"61", "1 to 60"}},
		{"unknown interpolation", "[receiver]\ninterpolation = \"cubic\"", 2, []string{"cubic", "hermite"}},
		{"script with an unknown interpolation", "[[at]]\nt = \"1s\"\ninterpolation = 3", 3, []string{"3", "hermite"}},
		{"unknown profile", "profile = \"ltee\"", 1, []string{"did you mean lte?"}},
		{"assertion on nothing", "[assert]\npayload_kpbs = \"<= 2\"", 2, []string{"payload_kbps"}},
		{"assertion without operator", "[assert]\nwrong = \"none\"", 2, []string{"none", "<= 256"}},
		{"script after the end", "duration = \"5s\"\n[[at]]\nt = \"9s\"\nloss = \"1%\"", 3, []string{"9s", "5s"}},
		{"script without a time", "[[at]]\nloss = \"1%\"", 1, []string{"t", "at[0]"}},
		{"script with nonsense", "[[at]]\nt = \"1s\"\nloss = \"1%\"\n[[at]]\nt = \"2s\"\ndown.loss = \"900%\"", 6, []string{"900%"}},
		{"sweep of an unknown key", "[[sweep]]\nkey = \"down.lsos\"\nvalues = [\"1%\"]", 3, []string{"down.lsos"}},
		{"sweep without values", "[[sweep]]\nkey = \"down.loss\"\nvalues = []", 3, []string{"list"}},
		{"broken TOML", "seed = = 7", 1, []string{"TOML"}},
		{"shadow without a name", "[[shadow]]\nname = \"nope\"", 2, []string{"nope"}},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			_, err := Parse("bad.toml", []byte(x.text))
			var ce *Error
			if !errors.As(err, &ce) {
				t.Fatalf("got %v, want an Error", err)
			}
			if ce.File != "bad.toml" || ce.Line != x.line {
				t.Errorf("position is %s:%d, want bad.toml:%d (%v)", ce.File, ce.Line, x.line, err)
			}
			for _, w := range x.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not contain %q", err, w)
				}
			}
		})
	}
}

// The display rate is rounded to three decimals and is the same after writing and reading.
func TestDisplayRate(t *testing.T) {
	for _, c := range []struct {
		value any
		want  int // -1: refused
	}{{59.94, 59_940}, {"59.9", 59_900}, {int64(144), 144_000}, {0, 0}, {"0", 0}, {1000.0, 1_000_000}, {0.5, -1}, {-60, -1}, {1000.1, -1},
		{"fast", -1}, {math.NaN(), -1}, {math.Inf(1), -1}} {
		d := Default()
		err := d.Set("receiver.display_hz", c.value)
		if c.want < 0 {
			if err == nil || !strings.Contains(err.Error(), "1 to 1000") {
				t.Errorf("%v: %v, want an error", c.value, err)
			}
			continue
		}
		if err != nil || d.Receiver.DisplayMilliHz != c.want {
			t.Errorf("%v became %d, %v; want %d", c.value, d.Receiver.DisplayMilliHz, err, c.want)
		}
		text, err := d.TOML()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("again", text); err != nil || again.Receiver != d.Receiver {
			t.Errorf("%v was read as %+v, %v", c.value, again.Receiver, err)
		}
	}
}

// A list cannot be set as a whole; the error names a key of an entry.
func TestListsAreSetByEntry(t *testing.T) {
	for _, c := range []struct{ key, such string }{{"at", "at[0].t"}, {"shadow", "shadow[0].name"}, {"sweep", "sweep[0].key"}} {
		if err := Default().Set(c.key, "x"); err == nil || !strings.Contains(err.Error(), c.such) {
			t.Errorf("%s: %v, want an error that names %s", c.key, err, c.such)
		}
		if err := Default().Set(c.such, "down.loss"); err != nil && strings.Contains(err.Error(), "unknown key") {
			t.Errorf("%s, which the error recommends: %v", c.such, err)
		}
	}
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

func TestUndo(t *testing.T) {
	before := Default()
	after := before.Clone()
	p := 30 * time.Millisecond
	ch := NewChange("encoder.name", "quantized", "down.loss", "9%", "down.latency", "20ms", "up.rate", "1mbit", "receiver.playout_delay",
		(p).String(), "receiver.interpolation", "hermite", "sender.every", 4)
	if err := after.Apply(ch); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(before.Values(), after.Values()) {
		t.Fatal("the change has no effect")
	}
	if err := after.Apply(before.Undo(after)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before.Values(), after.Values()) {
		t.Errorf("undone to\n%v\nwant\n%v", after.Values(), before.Values())
	}
}

func TestNear(t *testing.T) {
	known := []string{"relative-orientation", "relative-position", "raw", "zstd", "zstd-baseline"}
	for in, want := range map[string]string{
		"relative-orientatoin": "relative-orientation", "rwa": "raw", "zst": "zstd", "relative-p": "relative-position", "kinetic": "",
		"RAW": "raw",
	} {
		if got := Near(in, known); got != want {
			t.Errorf("Near(%q) = %q, want %q", in, got, want)
		}
	}
}

// A link with a netem line and settings from before it can be written and read, so that reports with it can be
// replayed.
func TestNetemIsReadLast(t *testing.T) {
	c := Default()
	for _, s := range [][2]string{{"up.reorder_delay", "60ms"}, {"down.loss", "5%"}, {"link.netem", "delay 20ms loss 3%"}} {
		if err := c.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	again, err := c.Values().Config("report")
	if err != nil || again.Down != c.Down || again.Up != c.Up {
		t.Errorf("%v; read as %+v", err, again)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err = Parse("experiment.toml", text); err != nil || again.Down != c.Down || again.Up != c.Up {
		t.Errorf("%v; read as %+v from\n%s", err, again, text)
	}
}

// A duration of 0s is the default.
func TestZeroDuration(t *testing.T) {
	c, err := Parse("0s", []byte("duration = \"0s\""))
	if err != nil {
		t.Fatal(err)
	}
	if defaults := Default(); !reflect.DeepEqual(c.Values(), defaults.Values()) {
		t.Errorf("0s differs from the default: %v", c.Values())
	}
	if err := Default().Set("duration", "soon"); err == nil || !strings.Contains(err.Error(), `"0s" means once through a recording`) {
		t.Errorf("%v does not explain 0s", err)
	}
}

// The number of shadows is limited, however they are added.
func TestShadowsAreBounded(t *testing.T) {
	c := Default()
	for range maxShadows {
		c.Shadows = append(c.Shadows, Encoder{Name: "raw"})
	}
	if err := c.Validate(); err != nil {
		t.Errorf("%d shadows: %v", maxShadows, err)
	}
	if err := c.Apply(NewChange("shadow", "rotor")); err == nil || !strings.Contains(err.Error(), "at most 64 shadows") {
		t.Errorf("one more shadow by a change: %v", err)
	}
	if len(c.Shadows) != maxShadows {
		t.Errorf("after a rejected change there are %d shadows", len(c.Shadows))
	}
}

// A file of exactly the limit is read; with one byte more the error names the file and the limit.
func TestReadFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	for size, want := range map[int]string{
		1 << 20:   "",
		1<<20 + 1: path + ": has more than 1048576 bytes; expected a TOML file of at most 1 MB",
		20 << 20:  path + ": has 21.0 MB; expected a TOML file of at most 1 MB",
	} {
		if err := os.WriteFile(path, bytes.Repeat([]byte("\n"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadFile(path); err == nil != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}
