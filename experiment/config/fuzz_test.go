package config

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"wirelab/lossmodel"
)

// FuzzSettings checks that any value of a known key gives a configuration or an error, and that a valid
// configuration is the same after writing and reading.
func FuzzSettings(f *testing.F) {
	c, err := Parse("full", []byte(fullConfig))
	if err != nil {
		f.Fatal(err)
	}
	var lines []string
	for key, v := range c.Settings() {
		lines = append(lines, key+"="+v)
		f.Add(key + "=" + v)
	}
	f.Add(strings.Join(lines, "\n"))
	for _, k := range lossmodel.Keys() {
		for _, v := range append(append([]string{}, k.Ladder...), k.Choices...) {
			f.Add("link." + k.Key + "=" + v + "\ndown." + k.Key + "=off")
		}
	}
	for _, s := range LiveSettings() {
		f.Add(s.Key + "=" + fmt.Sprint(s.Get(c)) + "\nat[0].t=2s\nat[0]." + s.Key + "=9")
	}
	f.Add("at[0].t=1s\nat[0].encoder=rotor\nat[1].t=1s\nat[1].shadow=raw\nshadow[0].name=raw\n" +
		"sweep[0].key=seed\nsweep[0].values=[1, 2]\nassert.wrong=== 0")
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		for line := range strings.Lines(text) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if d := c.Clone(); d.Set(key, value) == nil { // whoever is refused goes no further
				c = d
			}
		}
		if c.Validate() != nil || c.Normalise() != nil {
			return
		}
		out, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again", out)
		if err != nil {
			t.Fatalf("valid, but the written file is rejected: %v\n%s", err, out)
		}
		if was, is := c.Settings(), again.Settings(); !maps.Equal(was, is) {
			t.Fatalf("%v\nafter writing and reading\n%v\n%s", was, is, out)
		}
	})
}
