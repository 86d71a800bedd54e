package config

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

// texts are functions of a text. testdata/texts.txt has their results.
var texts = map[string]func(in string) string{
	"full": FullKey, "words": KeyInWords,
	"near": func(in string) string {
		return Near(in, strings.Fields("relative-orientation relative-position raw zstd zstd-baseline"))
	},
	"figure": func(in string) string { // which figure is suggested
		_, near, _ := strings.Cut(fmt.Sprint(Default().Set("assert."+in, "== 0")), "did you mean ")
		return near
	},
	"set": func(in string) string {
		key, value, _ := strings.Cut(in, " ")
		return fmt.Sprint(Default().Set(key, value))
	},
	"range": func(in string) string {
		values, err := rangeValues("k", tomlValue(in).(map[string]any))
		return fmt.Sprint(values, " ", err)
	},
	"plugin": func(in string) string { // key and value of [[plugin]], as it is written
		key, value, _ := strings.Cut(in, " ")
		var c Config
		if err := c.setPlugin(0, "plugin[0]."+key, key, value); err != nil {
			return "refused"
		}
		return Values{"plugin": c.pluginValues(Values{})}.Text("plugin[0]." + key)
	},
	"plugins": func(in string) string { // the values "plugin" of a report are loaded
		return fmt.Sprint(Values{"plugin": tomlValue(in)}.LoadPlugins())
	},
	"entry": func(in string) string {
		name, index, ok := cutIndex(in)
		return fmt.Sprint(name, " ", index, " ", ok)
	},
	"size": func(in string) string {
		n, ok := ParseSize(in)
		if !ok {
			return "refused"
		}
		again, _ := ParseSize(formatSize(n))
		return fmt.Sprint(n, " ", again == n)
	},
	"bound": func(in string) string { // figure, value as in TOML
		name, value, _ := strings.Cut(in, " ")
		a, err := parseAssertion(name, tomlValue(value), searchFigures())
		if err != nil {
			return "refused"
		}
		return a.Text()
	},
	"holds": func(in string) string { // figure, operator and value; for 2, 2.5 and 3
		a, err := parseAssertion("wrong", in, searchFigures())
		return fmt.Sprint(a.Holds(2), " ", a.Holds(2.5), " ", a.Holds(3), " ", err)
	},
	"ordered": func(in string) string { return fmt.Sprint(isOrdered(tomlValue(in).([]any))) },
	"step": func(in string) string { // a control from a value by n steps
		words := strings.Fields(in)
		c, row := Default(), findSetting(words[0])
		if err := row.Set(c, words[1]); err != nil {
			return err.Error()
		}
		v, changed := row.Step(c, atoi(words[2]))
		level, _ := row.Level(c)
		return fmt.Sprintf("%v %v at %.3f", v, changed, level)
	},
	"loss": func(in string) string { // a parameter of a loss model with a unit, its least value, from a value by n steps
		words := strings.Fields(in)
		return stepLossParam(lossmodel.ParamInfo{Unit: words[0], Min: words[1]}, words[2], atoi(words[3]))
	},
	"param": func(in string) string { // a parameter of an encoder: type, bounds or "-", value, n steps
		words := strings.Fields(in)
		info := encoders.ParamInfo{Type: words[0], Min: bound(words[1]), Max: bound(words[2])}
		return fmt.Sprintf("%T %[1]v", stepParam(info, tomlValue(words[3]), atoi(words[4])))
	},
	"row": func(in string) string { // the row of such a parameter with a default, and the level
		words := strings.Fields(in)
		c := Default()
		c.Encoder.Params = map[string]any{"small": int64(7)}
		row := ParamRow(encoders.ParamInfo{Name: words[3], Type: words[0], Min: bound(words[1]), Max: bound(words[2]), Default: tomlValue(words[4])})
		level, _ := row.Level(c)
		return fmt.Sprintf("%s at %g of %g to %g, steps %v", row.Show(c), level, row.Min, row.Max, row.HasSteps(c))
	},
	"seed": func(in string) string {
		n, err := strconv.ParseUint(in, 10, 64)
		return fmt.Sprintf("%#v %v", seedValue(n), err)
	},
	"proxy": func(in string) string { // the lines of a file, separated by ";"
		c, err := Parse("f", []byte(strings.ReplaceAll(in, ";", "\n")))
		if err == nil {
			err = c.CheckProxy()
		}
		return fmt.Sprint(err)
	},
}

// tomlValue returns the value of a text of TOML.
func tomlValue(text string) any {
	var table map[string]any
	if err := toml.Unmarshal([]byte("v = "+text), &table); err != nil {
		panic(text + ": " + err.Error())
	}
	return table["v"]
}

// bound returns a bound of a parameter; nil for "-".
func bound(text string) *float64 {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return &v
	}
	return nil
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// Each line has the name of a function, a text, and what the result begins with.
func TestTexts(t *testing.T) {
	data, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		in, want, _ := strings.Cut(rest, " => ")
		got := texts[name](in)
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s %s: %s, want %s", name, in, got, want)
		}
	}
}

// exp agrees with math.Exp.
func TestExp(t *testing.T) {
	for x := -20.0; x <= 20; x += 0.0137 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 4e-15*want {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
	}
}
