package main

import (
	"slices"
	"strings"
	"testing"

	"wirelab/dataset"
)

// TestDataHelp checks that the help of --data refers to tui datasets in commands that accept all
// kinds of data, and lists the accepted kinds in all other commands.
func TestDataHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}} {
		checkOut(t, tui("", args...), exitDone, "see tui datasets")
	}
	for _, c := range []struct {
		args  []string
		kinds string
	}{{[]string{"walkoff"}, "demo world quake3 file table"}, {[]string{"tune"}, "demo world file table"}} {
		o := tui("", append(c.args, "--help")...)
		_, text, found := strings.Cut(o.stdout, "read frames from SPEC: ")
		text, _, _ = strings.Cut(text, "(default")
		text = strings.TrimSpace(text)
		if o.code != exitDone || !found {
			t.Fatalf("%v: exit %d, no list of kinds at --data:\n%s", c.args, o.code, o.stdout)
		}
		for _, k := range dataset.Kinds() {
			want := slices.Contains(strings.Fields(c.kinds), k.Name)
			spec := k.Spec
			if k.Name == "file" {
				spec = "or the path of a file"
			}
			if strings.Contains(", "+text+",", ", "+spec+",") != want {
				t.Errorf("%v: --data lists %q; %s expected: %t", c.args, text, k.Spec, want)
			}
		}
	}
}
