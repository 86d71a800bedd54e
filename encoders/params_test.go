package encoders_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"wirelab/encoders"
)

type knobs struct {
	Bits  int     `toml:"bits" help:"width" unit:"bits" min:"2" max:"8"`
	Rate  float64 `toml:"rate" help:"mixing" min:"0"`
	Fast  bool    `toml:"fast" help:"no second look"`
	Note  string  `toml:"note" help:"anything"`
	Floor int     `toml:"floor" help:"below bits" max:"8"`
}

func (k *knobs) Validate() error {
	if k.Floor > k.Bits {
		return errors.New("a floor no higher than bits")
	}
	return nil
}

func codec() *encoders.Codec {
	return &encoders.Codec{Name: "test", Params: &knobs{Bits: 5, Rate: 0.5, Note: "plain"}}
}

func TestDefaultsAreFresh(t *testing.T) {
	c := codec()
	p := c.Defaults().(*knobs)
	p.Bits = 8
	if q := c.Defaults().(*knobs); q.Bits != 5 {
		t.Errorf("changing a copy changed the defaults: bits = %d, want 5", q.Bits)
	}
	if got := (&encoders.Codec{}).Defaults(); got != nil {
		t.Errorf("defaults of a codec without params: %v, want nil", got)
	}
}

func TestParamInfo(t *testing.T) {
	infos := codec().ParamInfo()
	var got []string
	for _, p := range infos {
		bound := func(f *float64) string {
			if f == nil {
				return "-"
			}
			return fmt.Sprint(*f)
		}
		got = append(got, fmt.Sprintf("%s %s %q %q %v %s %s", p.Name, p.Type, p.Unit, p.Help, p.Default, bound(p.Min), bound(p.Max)))
	}
	want := []string{
		`bits int "bits" "width" 5 2 8`,
		`rate float "" "mixing" 0.5 0 -`,
		`fast bool "" "no second look" false - -`,
		`note string "" "anything" plain - -`,
		`floor int "" "below bits" 0 - 8`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSetParam(t *testing.T) {
	for _, test := range []struct {
		name  string
		value any
		want  any    // nil means that the value is refused
		words string // of the error, if refused
	}{
		{"bits", 6, 6, ""},
		{"bits", int64(2), 2, ""},
		{"bits", 8.0, 8, ""},
		{"bits", "7", 7, ""},
		{"bits", 9, nil, "an integer from 2 to 8"},
		{"bits", 1, nil, "an integer from 2 to 8"},
		{"bits", 6.5, nil, "an integer from 2 to 8"},
		{"bits", math.Inf(1), nil, "an integer from 2 to 8"},
		{"bits", math.NaN(), nil, "an integer from 2 to 8"},
		{"bits", 1e300, nil, "an integer from 2 to 8"},
		{"bits", "many", nil, "an integer from 2 to 8"},
		{"bits", "6 ", nil, "an integer from 2 to 8"},
		{"bits", true, nil, "an integer from 2 to 8"},
		{"bits", nil, nil, "an integer from 2 to 8"},
		{"rate", 3, 3.0, ""},
		{"rate", 0.25, 0.25, ""},
		{"rate", "1e3", 1000.0, ""},
		{"rate", -1, nil, "a number of at least 0"},
		{"rate", math.NaN(), nil, "a number of at least 0"},
		{"rate", math.Inf(1), nil, "a number of at least 0"},
		{"rate", "NaN", nil, "a number of at least 0"},
		{"fast", true, true, ""},
		{"fast", "true", true, ""},
		{"fast", "false", false, ""},
		{"fast", "yes", nil, "true or false"},
		{"fast", 1, nil, "true or false"},
		{"note", "a b", "a b", ""},
		{"note", 1, nil, "text"},
		{"floor", 9, nil, "an integer of at most 8"},
	} {
		c := codec()
		p := c.Defaults()
		err := encoders.SetParam(p, test.name, test.value)
		if test.want == nil {
			var refused *encoders.ParamError
			if !errors.As(err, &refused) || !errors.Is(err, encoders.ErrParam) || refused.Expected != test.words {
				t.Errorf("%s = %v: error %v, want a *ParamError that expects %s", test.name, test.value, err, test.words)
			}
			if !reflect.DeepEqual(p, c.Defaults()) {
				t.Errorf("%s = %v was refused but changed the params to %+v", test.name, test.value, p)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s = %v: %v", test.name, test.value, err)
		}
		after := (&encoders.Codec{Params: p}).ParamInfo()
		for _, info := range after {
			if info.Name == test.name && info.Default != test.want {
				t.Errorf("%s = %#v stored %#v, want %#v", test.name, test.value, info.Default, test.want)
			}
		}
	}
}

func TestUnknownParam(t *testing.T) {
	err := encoders.SetParam(codec().Defaults(), "bit", 3)
	var refused *encoders.ParamError
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want a *ParamError", err)
	}
	name, known := refused.Unknown()
	if name != "bit" || !reflect.DeepEqual(known, []string{"bits", "rate", "fast", "note", "floor"}) {
		t.Errorf("Unknown() = %q, %q", name, known)
	}
	if err := encoders.SetParam(nil, "bit", 3); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("setting a param of a codec without params: %v", err)
	}
	if name, _ := (&encoders.ParamError{Name: "bits", Expected: "x"}).Unknown(); name != "" {
		t.Errorf("a refused value reports the unknown name %q", name)
	}
}

func TestValidate(t *testing.T) {
	if err := encoders.Validate(codec().Defaults()); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
	for _, bad := range []*knobs{{Bits: 1}, {Bits: 9}, {Bits: 5, Rate: math.Inf(1)}, {Bits: 5, Floor: 6}} {
		if err := encoders.Validate(bad); !errors.Is(err, encoders.ErrParam) {
			t.Errorf("%+v: error %v, want one that wraps ErrParam", bad, err)
		}
	}
	if err := encoders.Validate(nil); err != nil {
		t.Errorf("no params: %v", err)
	}
}

func TestCanonical(t *testing.T) {
	c := codec()
	for _, test := range []struct {
		params knobs
		want   string
	}{
		{knobs{Bits: 5, Rate: 0.5, Note: "plain"}, ""},
		{knobs{Bits: 6, Rate: 0.5, Note: "plain"}, "bits=6"},
		{knobs{Bits: 5, Rate: 1e-7, Fast: true, Note: "plain"}, "rate=1e-07 fast=true"},
		{knobs{Bits: 5, Rate: 0.5, Note: "a=\"b\" c\x00\n", Floor: -3}, `note="a=\"b\" c\x00\n" floor=-3`},
		{knobs{Bits: 5, Rate: 0.5}, `note=""`},
	} {
		text := c.Canonical(&test.params)
		if string(text) != test.want {
			t.Errorf("%+v: %q, want %q", test.params, text, test.want)
		}
		back, err := c.ParseCanonical(text)
		if err != nil || !reflect.DeepEqual(back, &test.params) {
			t.Errorf("%q reads as %+v, %v; want %+v", text, back, err, test.params)
		}
	}
}

func TestCanonicalOfNoParams(t *testing.T) {
	c := &encoders.Codec{Name: "none"}
	if text := c.Canonical(nil); text != nil {
		t.Errorf("text %q, want none", text)
	}
	if p, err := c.ParseCanonical(nil); p != nil || err != nil {
		t.Errorf("parsed %v, %v; want nil, nil", p, err)
	}
	if _, err := c.ParseCanonical([]byte("a=1")); !errors.Is(err, encoders.ErrParam) {
		t.Errorf("a param of a codec that has none: error %v, want ErrParam", err)
	}
}

func TestParseCanonicalRefuses(t *testing.T) {
	c := codec()
	for _, text := range []string{
		"bits", "bits=", "bits=x", "=5", "bits=9", "bits=5", "bits=+6", "bits=06", "bits=6 bits=6", "bits=6 ", " bits=6",
		"floor=-3 bits=6", "bits=6  floor=-3", "bits=6;floor=-3", "nope=1", "note=bare", `note="open`, `note="x"floor=-3`,
		"note=`x`", "note='x'", "floor=6", "fast=false", "fast=1", "rate=NaN", "rate=0x1p-2", "bits=6\x00",
		"note=" + fmt.Sprintf("%q", strings.Repeat("x", 256)),
	} {
		if p, err := c.ParseCanonical([]byte(text)); !errors.Is(err, encoders.ErrParam) {
			t.Errorf("%q: %+v, %v; want an error that wraps ErrParam", text, p, err)
		}
	}
}

// FuzzParseCanonical checks that only text that Canonical writes is accepted.
func FuzzParseCanonical(f *testing.F) {
	for _, seed := range []string{"", "bits=6", `rate=1e-07 fast=true note="\"\\ x" floor=-3`, "bits=6 note=`x`"} {
		f.Add([]byte(seed))
	}
	c := codec()
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := c.ParseCanonical(text)
		if err != nil {
			if !errors.Is(err, encoders.ErrParam) {
				t.Fatalf("%q: error %v does not wrap ErrParam", text, err)
			}
			return
		}
		if err := encoders.Validate(p); err != nil {
			t.Fatalf("%q was accepted, but %v", text, err)
		}
		if again := c.Canonical(p); string(again) != string(text) {
			t.Fatalf("%q was accepted but is written as %q", text, again)
		}
	})
}

// FuzzCanonical checks that valid params survive the round trip through canonical text.
func FuzzCanonical(f *testing.F) {
	f.Add(6, 0.1, true, "x y", -4)
	f.Fuzz(func(t *testing.T, bits int, rate float64, fast bool, note string, floor int) {
		c := codec()
		p := &knobs{bits, rate, fast, note, floor}
		if encoders.Validate(p) != nil {
			return
		}
		text := c.Canonical(p)
		back, err := c.ParseCanonical(text)
		if len(text) > encoders.MaxCanonical {
			if err == nil {
				t.Fatalf("%d bytes were accepted", len(text))
			}
			return
		}
		// A quoted string keeps every byte, even invalid UTF-8.
		if err != nil || *back.(*knobs) != *p {
			t.Fatalf("%+v is written as %q and read as %+v, %v", p, text, back, err)
		}
	})
}
