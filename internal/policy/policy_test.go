package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/setting"
)

var queues = policy.Set{
	{Name: "droptail", Summary: "drop what does not fit"},
	{Name: "codel", Summary: "RFC 8289", Params: []policy.Param{
		policy.Time("target", 5*time.Millisecond, time.Millisecond, time.Second, "standing queue"),
		policy.Time("interval", 100*time.Millisecond, time.Millisecond, 10*time.Second, "time to react"),
	}},
	{Name: "mixed", Params: []policy.Param{
		policy.Percent("quantile", 990_000, 500_000, 1_700_000, "share in time"),
		policy.Count("flows", 1024, 1, 65536, "hash buckets"),
		policy.Rate("least", 30_000, 1000, 1_000_000, "lowest rate"),
		policy.Size("limit", 64_000, 1500, 1<<20, "largest queue"),
	}},
}

// The canonical text names every parameter, and parsing it gives the same policy.
func TestCanonicalText(t *testing.T) {
	for text, want := range map[string]string{
		"droptail":                           "droptail",
		"codel":                              "codel target=5ms interval=100ms",
		"  codel   interval=0.2s ":           "codel target=5ms interval=200ms",
		"codel interval=50ms target=2500us":  "codel target=2.5ms interval=50ms",
		"mixed quantile=99.95% limit=64KiB":  "mixed quantile=99.95% flows=1024 least=30kbit limit=64KiB",
		"mixed flows=7 least=1mbit":          "mixed quantile=99% flows=7 least=1mbit limit=64KB",
		"mixed quantile=150% limit=100000B":  "mixed quantile=150% flows=1024 least=30kbit limit=100KB",
		"mixed least=1500bit quantile=99.9%": "mixed quantile=99.9% flows=1024 least=1.5kbit limit=64KB",
	} {
		p, err := queues.Parse(text)
		if err != nil || p.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, p, err, want)
		}
		if again, err := queues.Parse(p.String()); err != nil || again != p {
			t.Errorf("%q is not equal after parsing its text: %v, %v", text, again, err)
		}
		if again, err := queues.Parse(p.Label()); err != nil || again != p {
			t.Errorf("%q is not equal after parsing its label %q: %v, %v", text, p.Label(), again, err)
		}
	}
}

func TestValues(t *testing.T) {
	p, err := queues.Parse("mixed quantile=99.9% flows=8 least=50kbit limit=2KB")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"quantile": 999_000, "flows": 8, "least": 50_000, "limit": 2000} {
		if got := p.Int(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if c := queues.Default("codel"); c.Duration("interval") != 100*time.Millisecond || c.Name() != "codel" || c.Summary() != "RFC 8289" || c.Label() != "codel" {
		t.Errorf("default: %v, %q", c, c.Label())
	}
	if z := (policy.Policy{}); z.Name() != "" || z.String() != "" || z.Label() != "" || z.Summary() != "" {
		t.Errorf("the zero policy is %q", z)
	}
	if a, b := queues.Default("codel"), queues.Default("codel"); a != b {
		t.Error("equal policies differ")
	}
}

// Each error names the word that is wrong and what was expected.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                `unknown policy "": expected one of droptail, codel, mixed`,
		"codle target=5ms":                `unknown policy "codle"`,
		"codel tarket=5ms":                `unknown parameter of codel "tarket": expected one of target, interval`,
		"codel target=5":                  `target: got "target=5", expected a time from 1ms to 1s for target, such as target=5ms`,
		"codel target=2s":                 `got "target=2s"`,
		"codel target=":                   `got "target="`,
		"codel target":                    `codel: got "target", expected each parameter once, as in target=5ms interval=100ms`,
		"codel target=5ms target=6ms":     `got "target=6ms", expected each parameter once`,
		"droptail limit=3":                `droptail: got "limit=3", expected nothing after droptail`,
		"mixed quantile=171%":             `a percentage from 50% to 170%`,
		"mixed quantile=1e300%":           `a percentage`,
		"mixed quantile=-1%":              `a percentage`,
		"mixed flows=1.5":                 `a whole number from 1 to 65536`,
		"mixed least=1tbit":               `a rate from 1kbit to 1mbit`,
		"mixed limit=1000000000000000000": `a size from 1.5KB to 1MiB`,
	} {
		_, err := queues.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
		if e := (*setting.KeyError)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("%q: the error is a %T", text, err)
		}
	}
}

func TestComplete(t *testing.T) {
	for before, want := range map[string]string{
		"": "droptail codel mixed", "codel": "target=5ms interval=100ms", "codel interval=3ms": "target=5ms", "droptail": "", "x": "",
	} {
		if got := strings.Join(queues.Complete(strings.Fields(before)), " "); got != want {
			t.Errorf("after %q: %q, want %q", before, got, want)
		}
	}
	if want := `"droptail", "codel target=5ms interval=100ms" or "mixed quantile=99% flows=1024 least=30kbit limit=64KB"`; queues.Expected() != want {
		t.Errorf("expected: %s", queues.Expected())
	}
	if m := queues.Models(); len(m) != 3 || m[1].Params[0].Default != "5ms" || m[2].Params[0].Max != "170%" {
		t.Errorf("models: %+v", m)
	}
	if o := queues.Options(); o[1].Summary != "RFC 8289" || !slices.Equal(setting.Names(o), queues.Names()) {
		t.Errorf("options: %v", o)
	}
}

// Values that must not decrease are refused if they do; defaults are moved out of the way of values that are given.
func TestAscending(t *testing.T) {
	set := policy.Set{{Name: "rate", Ascending: []string{"least", "start", "most"}, Params: []policy.Param{
		policy.Count("start", 50, 1, 1000, "first"), policy.Count("least", 10, 1, 1000, "lowest"), policy.Count("most", 90, 1, 1000, "highest"),
	}}}
	for text, want := range map[string]string{
		"rate":                            "rate start=50 least=10 most=90",
		"rate most=30":                    "rate start=30 least=10 most=30",
		"rate most=3":                     "rate start=3 least=3 most=3",
		"rate least=70":                   "rate start=70 least=70 most=90",
		"rate least=200":                  "rate start=200 least=200 most=200",
		"rate start=5":                    "rate start=5 least=5 most=90",
		"rate least=70 most=80":           "rate start=70 least=70 most=80",
		"rate least=20 most=20":           "rate start=20 least=20 most=20",
		"rate least=20 start=30 most=300": "rate start=30 least=20 most=300",
		"rate least=20 most=10":           `most: got "most=10", expected a whole number that is not below least=20`,
		"rate most=10 start=11":           `most: got "most=10", expected a whole number that is not below start=11`,
		"rate start=1 most=9 least=2":     `start: got "start=1", expected a whole number that is not below least=2`,
	} {
		p, err := set.Parse(text)
		got := p.String()
		if err != nil {
			got = err.Error()
		} else if again, err := set.Parse(got); err != nil || again != p {
			t.Errorf("%q: %q is parsed as %v, %v", text, got, again, err)
		}
		if got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("codel target=5ms interval=100ms")
	f.Add("mixed quantile=99.95% flows=3 least=1mbit limit=64KiB")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := queues.Parse(text)
		if err != nil {
			return
		}
		if again, err := queues.Parse(p.String()); err != nil || again != p {
			t.Errorf("%q: %v becomes %v, %v", text, p, again, err)
		}
	})
}

// Decimals have a canonical text too.
func TestDecimals(t *testing.T) {
	set := policy.Set{{Name: "numbers", Params: []policy.Param{
		policy.Decimal("sigma", 500_000, 0, 3_000_000, "shape"),
	}}}
	for text, want := range map[string]string{
		"numbers":             "numbers sigma=0.5",
		"numbers sigma=1.250": "numbers sigma=1.25",
	} {
		if p, err := set.Parse(text); err != nil || p.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, p, err, want)
		}
	}
	for _, text := range []string{"numbers sigma=", "numbers sigma=4"} {
		if p, err := set.Parse(text); err == nil {
			t.Errorf("%q: %v", text, p)
		}
	}
}
