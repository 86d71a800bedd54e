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
