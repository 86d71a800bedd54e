package units_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/internal/units"
)

// ParseDecimal returns the float nearest to the exact value, which math/big computes.
func TestParseDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		s, exp := fmt.Sprintf("%d.%d", rng.Int64N(1e6), rng.Int64N(1e9)), rng.IntN(20)-10
		exact, _ := new(big.Rat).SetString(fmt.Sprintf("%se%d", s, exp))
		want, _ := exact.Float64()
		if got, ok := units.ParseDecimal(s, exp); !ok || got != want {
			t.Errorf("ParseDecimal(%q, %d) = %v, %v; want %v", s, exp, got, ok, want)
		}
	}
	for _, s := range []string{"", ".", "1e3", "0x1", "+-1", "1.2.3", "inf", "1_000", strings.Repeat("1", units.MaxDigits+1)} {
		if f, ok := units.ParseDecimal(s, 0); ok {
			t.Errorf("ParseDecimal(%q) = %v, want an error", s, f)
		}
	}
	if f, ok := units.ParseDecimal("-0", 0); !ok || math.Signbit(f) {
		t.Errorf("ParseDecimal(-0) = %v, %v; want 0", f, ok)
	}
}

// The text of a value parses to the same value.
func TestRoundTrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 5000 {
		share := rng.Float64() * math.Pow(10, float64(rng.IntN(12)-9))
		if got, ok := units.ParsePercent(units.FormatPercent(share)); !ok || got != share {
			t.Errorf("percentage of %v: %v, %v", share, got, ok)
		}
		n := 1 + rng.Int64N(int64(1)<<(1+i%40))
		if got, ok := units.ParseRate(units.FormatRate(n)); !ok || got != n {
			t.Errorf("rate %d: %s is %d, %v", n, units.FormatRate(n), got, ok)
		}
		if got, ok := units.ParseSize(units.FormatSize(n)); !ok || got != n {
			t.Errorf("size %d: %s is %d, %v", n, units.FormatSize(n), got, ok)
		}
		d := time.Duration(n)
		if i%2 == 0 {
			d = -d
		}
		if got, ok := units.ParseDuration(units.FormatDuration(d)); !ok || got != d {
			t.Errorf("time %d: %s is %d, %v", d, units.FormatDuration(d), got, ok)
		}
		if want, err := time.ParseDuration(units.FormatDuration(d)); err != nil || want != d {
			t.Errorf("%s: the time package reads %d, %v", units.FormatDuration(d), want, err)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]int64{
		"5mbit": 5e6, "5 Mbit/s": 5e6, "5Mbps": 5e6, "5 Mb/s": 5e6, "80KB/s": 640_000, "80kBps": 640_000, "1.5mbit": 1_500_000,
		"1kibit": 1024, "64000bit": 64_000, "0.0004kbit": 0, "5mb": 0, "5MB": 0, "5": 0, "mbit": 0, "-5mbit": 0, "9e3bit": 0,
		"99999999999999tbit": 0,
	} {
		if got, ok := units.ParseRate(text); got != want && ok || ok != (want > 0) {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"64KB": 64_000, "64KiB": 65_536, "64 kB": 64_000, "1.5MB": 1_500_000, "1TiB": 1 << 40, "1500B": 1500,
		"64K": 0, "64": 0, "64kb": 0, "0B": 0, "-1B": 0, "64MB junk": 0,
	} {
		if got, ok := units.ParseSize(text); got != want && ok || ok != (want > 0) {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
	for n, want := range map[int64]string{65_536: "64KiB", 64_000: "64KB", 1500: "1.5KB", 999: "999B", 1 << 30: "1GiB", 1025: "1.025KB"} {
		if got := units.FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"50ms": 50 * time.Millisecond, "2 secs": 2 * time.Second, "7usec": 7 * time.Microsecond, "1h": time.Hour} {
		if got, ok := units.ParseDuration(text); !ok || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, ok, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0ms", 16_667 * time.Microsecond: "16.667ms", 250 * time.Microsecond: "250us",
		1500 * time.Millisecond: "1.5s", 1234: "0.001234ms", -50 * time.Millisecond: "-50ms", time.Hour: "3600s"} {
		if got := units.FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %s, want %s", int64(d), got, want)
		}
	}
}

// Group agrees with a regular expression that inserts commas.
func TestGroup(t *testing.T) {
	comma := regexp.MustCompile(`(\d)(\d{3})(,|\.|$)`)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 1000 {
		text := strconv.FormatInt(rng.Int64N(1<<(1+i%62))-rng.Int64N(1<<(1+i%62)), 10)
		whole := text
		for prev := ""; prev != whole; {
			prev = whole
			whole = comma.ReplaceAllString(whole, "$1,$2$3")
		}
		if got := units.Group(text); got != whole {
			t.Errorf("Group(%s) = %s, want %s", text, got, whole)
		}
		if got := units.Group(text + ".12345"); got != whole+".12345" {
			t.Errorf("Group(%s.12345) = %s", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{units.Fixed(1.25, 1), "1.2"}, {units.Fixed(math.NaN(), 1), "-"}, {units.Fixed(math.Inf(-1), 0), "-"},
		{units.Stepped(9.9995, 3, 10, 100, 1000), "9.999"}, {units.Stepped(12.345, 3, 10, 100, 1000), "12.35"},
		{units.Stepped(-123.45, 3, 10, 100, 1000), "-123.5"}, {units.Stepped(1234.5, 3, 10, 100, 1000), "1234"},
		{units.Stepped(100, 2, 100, 100), "100"}, {units.Stepped(math.NaN(), 1, 10), "-"}, {units.Bytes(999), "999 B"}, {units.Bytes(12345), "12.3 KB"},
		{units.Bytes(123456), "123 KB"}, {units.Bytes(1234567), "1.23 MB"}, {units.Bytes(12345678), "12.3 MB"},
		{units.General(0.000123456, 5), "0.00012346"}, {units.General(1234567, 5), "1.2346e+06"},
		{units.FormatPercent(0.05), "5%"}, {units.FormatPercent(math.Inf(1)), "+Inf"}, {units.FormatDecimal(1e21), "1000000000000000000000"},
		{fmt.Sprint(units.Milliseconds(1500 * time.Microsecond)), "1.5"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {7, "7"}, {12.5, "12.5"}, {0.25, "0.25"}, {340, "340"}, {9999, "9999"}, {12000, "12k"}, {1.5e6, "1500k"}, {2.5e7,
		"25M"}, {-120, "-120"}, {1e18, "1000P"}} {
		if got := units.Short(c.v); got != c.want || len(got) > units.ShortWidth {
			t.Errorf("units.Short(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

// FuzzParse checks that no text makes a parser panic, and that the text of a parsed value parses to
// the same value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"5%", "50ms", "1.5mbit", "64KiB", "off", "5 MB/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := units.ParsePercent(s); ok {
			if again, ok := units.ParsePercent(units.FormatPercent(v)); !ok || again != v {
				t.Errorf("%q: %v, then %v", s, v, again)
			}
		}
		if v, ok := units.ParseRate(s); ok {
			if again, ok := units.ParseRate(units.FormatRate(v)); v < 1<<50 && (!ok || again != v) {
				t.Errorf("%q: %v, then %v", s, v, again)
			}
		}
		if v, ok := units.ParseSize(s); ok {
			if again, ok := units.ParseSize(units.FormatSize(v)); v < 1<<50 && (!ok || again != v) {
				t.Errorf("%q: %v, then %v", s, v, again)
			}
		}
		if v, ok := units.ParseDuration(s); ok {
			if again, ok := units.ParseDuration(units.FormatDuration(v)); !ok || again != v {
				t.Errorf("%q: %v, then %v", s, v, again)
			}
		}
	})
}
