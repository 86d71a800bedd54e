package main

import (
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// TestLists checks that the lists contain everything, as text and as JSON.
func TestLists(t *testing.T) {
	var encoders, datasets, presets, links []string
	for _, c := range table.All() {
		encoders = append(encoders, c.Name)
	}
	for _, k := range dataset.Kinds() {
		datasets = append(datasets, k.Spec)
	}
	for _, p := range experiment.Presets() {
		presets = append(presets, p.Name)
	}
	for _, p := range lossmodel.Profiles() {
		links = append(links, p.Name)
	}
	for _, k := range lossmodel.Keys() {
		links = append(links, k.Key)
		for _, m := range k.Models {
			links = append(links, m.Name)
		}
	}
	for command, names := range map[string][]string{"encoders": encoders, "datasets": datasets, "presets": presets, "links": links} {
		text, data := tui("", command), tui("", command, "--json")
		if text.code != 0 || data.code != 0 || text.stderr != "" || data.stderr != "" {
			t.Errorf("%s: exit %d and %d, stderr %q and %q", command, text.code, data.code, text.stderr, data.stderr)
		}
		var doc map[string]any
		document(t, data.stdout, &doc)
		lines := strings.Split(text.stdout, "\n")
		for _, name := range names {
			if !anyHasPrefix(lines, name+" ") {
				t.Errorf("tui %s does not list %s", command, name)
			}
			if !strings.Contains(data.stdout, `"`+name+`"`) {
				t.Errorf("tui %s --json does not list %s", command, name)
			}
		}
	}
}

func anyHasPrefix(lines []string, prefix string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return false
}

// TestDescriptions checks that each encoder and each profile can be described by name.
func TestDescriptions(t *testing.T) {
	for _, c := range table.All() {
		o := tui("encoders", c.Name)
		if o.code != 0 || !strings.HasPrefix(o.stdout, c.Name+": ") {
			t.Errorf("tui encoders %s: exit %d\n%s%s", c.Name, o.code, o.stdout, o.stderr)
		}
		for _, p := range c.ParamInfo() {
			if !anyHasPrefix(strings.Split(o.stdout, "\n"), p.Name+" ") {
				t.Errorf("tui encoders %s does not tell of its parameter %s", c.Name, p.Name)
			}
		}
		var info encoderInfo
		if document(t, tui("encoders", c.Name, "--json").stdout, &info); info.Name != c.Name || info.ID != c.ID {
			t.Errorf("tui encoders %s --json is about %s", c.Name, info.Name)
		}
	}
	for _, p := range lossmodel.Profiles() {
		o := tui("links show", p.Name)
		checkOut(t, o, 0, "[down]")
		if _, err := config.Parse("shown", []byte(o.stdout)); err != nil {
			t.Errorf("tui links show %s is no configuration: %v", p.Name, err)
		}
	}
}

// TestPresetsCheck checks that every preset is valid, and that the output of tui check is an
// equal configuration.
func TestPresetsCheck(t *testing.T) {
	for _, p := range experiment.Presets() {
		o := tui("check --preset", p.Name)
		if o.code != 0 {
			t.Errorf("tui check --preset %s: exit %d: %s", p.Name, o.code, o.stderr)
			continue
		}
		c, err := config.Parse(p.Name, []byte(o.stdout))
		if err != nil {
			t.Errorf("preset %s, as check prints it: %v", p.Name, err)
			continue
		}
		again, err := c.TOML()
		if err != nil || string(again) != o.stdout {
			t.Errorf("preset %s changes when it is checked twice: %v", p.Name, err)
		}
	}
}

// TestCompletion checks the completions of the shell.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line, want string
	}{
		{"walkoff --encoder", "relative-orientation"},
		{"run --preset", "ladder"},
		{"run --data", "demo"},
		{"run --set", "down.loss="},
		{"record --script", "katamari"},
		{"encoders", "raw"},
		{"links show", lossmodel.Profiles()[0].Name},
		{"links trace --profile", "starlink"},
		{"links trace --set", "down.netem="},
		{"", "walkoff"},
	} {
		args := append([]string{"__complete"}, strings.Fields(c.line)...)
		o := tui("", append(args, "")...)
		found := false
		for _, l := range strings.Split(o.stdout, "\n") {
			offer, _, _ := strings.Cut(l, "\t")
			found = found || offer == c.want
		}
		if o.code != 0 || !found {
			t.Errorf("completing %q does not offer %q:\n%s", c.line, c.want, o.stdout)
		}
	}
}
