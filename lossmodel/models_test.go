package lossmodel

import (
	"strings"
	"testing"

	"wirelab/internal/testkit"
	"wirelab/lossmodel/loss"
)

// The key loss accepts every listed parameter and its bounds, and every parameter has a help
// text.
func TestLossModelInfo(t *testing.T) {
	example := map[string]string{
		"bernoulli": "p=5%", "gilbert": "mean=5% burst=2", "gilbert-elliott": "p=1% r=20% h=10% k=99%",
		"four-state": "p13=1% p31=30% p32=10% p23=40% p14=1%", "correlated": "p=10% rho=25%", "periodic": "every=9",
		"pattern": "file=pattern.txt sha256=0123abcd", "trace": "file=capture.csv by=time sha256=0123abcd",
	}
	for _, m := range loss.Kinds() {
		text := m.Name + " " + example[m.Name]
		if example[m.Name] == "" { // a new model: its parameters at their minimum
			for _, p := range m.Params {
				text += " " + p.Name + "=" + p.Min
			}
		}
		s := newSpec(t, "loss", text)
		if s.Loss == nil || s.Loss.Model() != m.Name || m.Summary == "" {
			t.Errorf("%s is %v", text, s.Loss)
		}
		checkRoundTrip(t, s)
		for _, p := range m.Params {
			if p.Help == "" || !strings.Contains(text, p.Name+"=") && p.Name != "bits" {
				t.Errorf("%s: parameter %s has no help or no example", m.Name, p.Name)
			}
			for _, bound := range []string{p.Min, p.Max} {
				table, _ := loss.Parse(text)
				table[p.Name] = bound
				if _, err := loss.Read(table); bound != "" && err != nil && strings.Contains(err.Error(), "percentage from") {
					t.Errorf("%s: %s refuses its bound %s: %v", m.Name, p.Name, bound, err)
				}
			}
		}
	}
	models := 0
	for _, k := range Keys() {
		if k.Key == "loss" {
			models += len(k.Models)
		}
	}
	if models != len(loss.Kinds()) {
		t.Errorf("Keys lists %d models, want %d", models, len(loss.Kinds()))
	}
}

// Every parameter of the current model has a key, and a flattened table is regrouped in any
// order.
func TestLossParameters(t *testing.T) {
	s := newSpec(t, "loss", "gilbert-elliott p=1% r=20%")
	testkit.Set(t, &s, "loss.p", "2%", "loss.h", "30%")
	if want := (loss.GilbertElliott{P: 0.02, R: 0.2, H: 0.3, K: 1}); s.Loss != want {
		t.Errorf("%v, want %v", s.Loss, want)
	}
	if err := s.Set("loss.r", "0%"); err == nil || s.Loss != (loss.GilbertElliott{P: 0.02, R: 0.2, H: 0.3, K: 1}) {
		t.Errorf("an invalid parameter: %v, %v", err, s.Loss)
	}
	flat := DefaultSpec()
	if err := flat.SetAll(map[string]any{"loss.model": "four-state", "loss.p13": "1%", "loss.p32": "5%", "loss.p31": "50%",
		"latency": "5ms"}); err != nil {
		t.Fatal(err)
	}
	if want := "four-state p13=1% p31=50% p32=5% p23=100% p14=0%"; flat.Loss.Text() != want || flat.Delay.Latency != 5*ms {
		t.Errorf("%v", flat.Values())
	}
	// A text has the same meaning, whatever was set before.
	for _, was := range []string{"correlated p=3% rho=50%", "periodic every=5", "gilbert mean=5% burst=3", "7%", "trace file=a"} {
		for _, is := range []Spec{newSpec(t), newSpec(t, "loss", "5%"), newSpec(t, "loss", "5%", "burst", "4"),
			newSpec(t, "loss", "pattern bits=01")} {
			s := newSpec(t, "loss", was)
			if err := s.SetAll(is.Values()); err != nil || s != is {
				t.Errorf("from %s to %s: %v, %v", was, is.Values()["loss"], s.Loss, err)
			}
		}
	}
}
