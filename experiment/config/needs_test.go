package config

import (
	"strings"
	"testing"

	"wirelab/lossmodel"
)

// Every key in the needs of a setting exists: an unknown one would meet every need.
func TestNeedsNameSettings(t *testing.T) {
	needs := map[string][]string{}
	for _, s := range rows() {
		needs[s.Key] = s.Needs
	}
	for _, k := range lossmodel.Keys() {
		needs["down."+k.Key] = withDirection(k.Needs, DownOnly)
		needs["up."+k.Key] = withDirection(append(k.Needs, uplinkNeeds[k.Key]), UpOnly)
	}
	for key, list := range needs {
		for _, need := range list {
			for _, alternative := range strings.Split(need, " or ") {
				name := strings.TrimPrefix(strings.TrimPrefix(alternative, "a setting of "), "a change of ")
				name, _, _ = strings.Cut(name, " ")
				if _, standard := Default().textOf(name); standard == "" && need != "" {
					t.Errorf("%s needs %q: %q is no key", key, need, name)
				}
			}
		}
	}
}

// A search is refused before its first run if no run has one of its figures, and so is the lag of the playout clock, which is
// small while nothing is displayed.
func TestFiguresOfSearch(t *testing.T) {
	for text, want := range map[string]string{
		"minimise = \"messages.goodput_kbps\"":                                               "f:2: search.minimise: no run has the figure messages.goodput_kbps; expected messages.rate_hz or",
		"minimise = \"wrong\"\nsubject_to = [\"view.over == 0\"]":                            "f:3: search.subject_to[0]: no run has the figure view.over; expected sender.budget or crowd.budget",
		"minimise = \"playout.clock_lag_ms\"":                                                "expected the age of the displayed state: age_ms.p50",
		"minimise = \"wrong\"\nsubject_to = [\"playout.clock_lag_ms < 9\"]":                  "expected the age of the displayed state: age_ms.p50",
		"minimise = \"foo\"":                                                                 "unknown figure \"foo\"; expected one of ",
		"minimise = \"messages.goodput_kbps\"\n[search.over]\n\"messages.rate_hz\" = [1, 2]": "",
	} {
		if !strings.Contains(text, "[search.over]") {
			text += "\n[search.over]\n\"sender.every\" = [1, 2]"
		}
		c, err := Parse("f", []byte("[search]\n"+text))
		if err == nil {
			err = c.Validate()
		}
		if got := errorText(err); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for key, want := range map[string]string{
		"at[0].foo": "expected one of", "assert.playout.clock_lag_ms": "expected the age", "assert.foo": "expected one of", "foo": "expected one of",
	} {
		if got := errorText(Default().Set(key, "< 3")); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// The short names of the dashboard's commands stand for keys.
func TestFullKey(t *testing.T) {
	for name, want := range map[string]string{
		"loss": "link.loss", "loss.mean": "link.loss.mean", "trace": "link.trace", "every": "sender.every", "playout": "receiver.playout",
		"clients": "crowd.clients", "params.small": "encoder.params.small", "down.loss": "down.loss", "budget": "budget", "seed": "seed", "foo": "foo",
	} {
		if got := FullKey(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
