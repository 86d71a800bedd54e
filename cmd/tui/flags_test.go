package main

import (
	"slices"
	"strings"
	"testing"

	"wirelab/dataset"
)

// What takes any data names every kind there is, and what takes some names no other.
func TestDataHelp(t *testing.T) {
	for _, c := range []struct {
		args  []string
		takes string // the kinds; "": all
	}{{nil, ""}, {[]string{"run"}, ""}, {[]string{"walkoff"}, "demo world quake3 teeworlds file table"}, {[]string{"tune"}, "demo world file"}} {
		o := tui(append(c.args, "--help")...)
		_, says, _ := strings.Cut(o.stdout, "where the frames come from: SPEC is ")
		says, _, found := strings.Cut(says, "; see tui datasets")
		if o.code != exitDone || !found {
			t.Fatalf("%v: exit %d, and nothing of --data:\n%s", c.args, o.code, o.stdout)
		}
		for _, k := range dataset.Kinds() {
			want := c.takes == "" || slices.Contains(strings.Fields(c.takes), k.Name)
			spec := k.Spec
			if k.Name == "file" {
				spec = "or the path of a recording"
			}
			if strings.Contains(", "+says+",", ", "+spec+",") != want {
				t.Errorf("%v: of %s --data says %q", c.args, k.Spec, says)
			}
		}
	}
}
