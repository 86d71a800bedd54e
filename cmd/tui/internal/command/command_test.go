package command

import (
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/live"
	"wirelab/lossmodel"
)

// labContext returns the state of a lab with the default configuration.
func labContext() Context {
	return Context{Catalog: controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()), Config: config.Default(),
		Schema: frame.Cubes(frame.WalkoffCubes), Screen: Lab}
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"loss 5%", "/encoder rotor", "seek 1:2:3", "speed ×4", "down up down", "param a b",
		"latency 50ms ± 10ms", "\xff é 日"} {
		f.Add(s)
	}
	d := labContext()
	f.Fuzz(func(t *testing.T, text string) {
		o, err := Parse(d, text)
		if err == nil && o.Change != nil {
			_ = d.Config.Check(*o.Change) // must not panic
		}
		if err == nil && o.Speed != nil && *o.Speed != 0 && !(*o.Speed >= live.MinSpeed && *o.Speed <= live.MaxSpeed) {
			t.Fatalf("%q is speed %v", text, *o.Speed)
		}
		if err == nil && (o.Step < 0 || o.Step > maxSteps || o.Seek != nil && *o.Seek < 0) {
			t.Fatalf("%q: step %d, seek %v", text, o.Step, o.Seek)
		}
		completions(d, text)
	})
}

// TestPolicyCase checks that the names of a policy may be in any case, and that units keep theirs.
func TestPolicyCase(t *testing.T) {
	d := labContext()
	for line, want := range map[string]string{
		"traffic 2 CONSTANT Rate=80KB/s SIZE=64B": "traffic 2 constant rate=640kbit size=64B",
		"Traffic OFF": "traffic off", "control ACK-clock Slack=40ms": "control ack-clock slack=40ms",
	} {
		o, err := Parse(d, line)
		if err != nil || o.Change == nil {
			t.Errorf("%q: %v", line, err)
		} else if got := o.Change.Label(); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// TestModelsCanBeCompleted types every model with its parameters by completion only, and sets it
// on a link.
func TestModelsCanBeCompleted(t *testing.T) {
	d := labContext()
	loss, _ := d.Key("loss")
	for _, model := range loss.Models {
		text := "loss " + model.Name
		if _, words := completions(d, text); !slices.Contains(words, model.Name) {
			t.Errorf("%q is not offered", model.Name)
		}
		_, words := completions(d, text+" ")
		if len(words) != len(model.Params) {
			t.Errorf("%s offers %q for %d params", model.Name, words, len(model.Params))
		}
		for _, p := range model.Params {
			if hint, _ := usage(d, text+" "+p.Name+"="); !strings.Contains(hint, p.Help) {
				t.Errorf("%s %s: the hint is %q", model.Name, p.Name, hint)
			}
		}
	}
}

// Every setting that can change during a run has a command, whose usage has the present value and the range.
func TestSettingsHaveCommands(t *testing.T) {
	d := labContext()
	for _, r := range config.LiveSettings() {
		text, _ := usage(d, r.Short+" ")
		if want := "(now " + r.Text(d.Config) + "; "; r.Args != "" && !strings.Contains(text, want) {
			t.Errorf("%s: %q lacks %q", r.Short, text, want)
		}
		if r.Args == "" {
			if _, err := Parse(d, r.Short+" "+r.Text(d.Config)); err != nil {
				t.Errorf("%s has no command: %v", r.Short, err)
			}
		}
	}
	for key, want := range map[string]string{"loss": "loss VALUE|MODEL NAME=VALUE... (now 0%; 0% to 100%): ", "budget": "(now off; a rate from 1kbit to 1gbit): "} {
		if text, _ := usage(d, key); !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

func TestShadowsAreOffered(t *testing.T) {
	d := labContext()
	d.Config = labtest.FourShadows().Config
	if _, words := completions(d, "shadow off ro"); len(words) != 1 || words[0] != "rotor" {
		t.Errorf("offered: %v", words)
	}
	if _, words := completions(d, "shadow q"); len(words) != 0 && words[0] == "off" {
		t.Errorf("offered: %v", words)
	}
}
