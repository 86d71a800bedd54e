package config

import (
	"strings"
	"testing"
)

// Tables and text mean the same, keep their meaning in files, and can be scripted and swept.
func TestTrafficForms(t *testing.T) {
	const text = "4 cubic rtt=80ms start=2s stop=0ms fast_convergence=1, 1 constant rate=2mbit size=1.2KB start=0ms stop=30s"
	table := `
[down]
rate = "5mbit"
[[traffic]]
rtt = "80ms"
flows = 4
kind = "cubic"
start = "2s"
[[traffic]]
kind = "constant"
rate = "2mbit"
stop = "30s"
[[at]]
t = "5s"
traffic = "1 cubic rtt=30ms"
[[at]]
t = "6s"
traffic = "off"
`
	c, err := Parse("f", []byte(table))
	if err != nil || c.Traffic.String() != strings.ReplaceAll(text, "2s", "2000ms") && c.Traffic.String() != text {
		t.Fatalf("%v, %v", c, err)
	}
	if len(c.At) != 2 || c.At[0].Change.Label() != "traffic 1 cubic rtt=30ms" {
		t.Errorf("the script is %+v", c.At)
	}
	if got := reread(t, c).Traffic.String(); got != c.Traffic.String() {
		t.Errorf("the file gives %s", got)
	}
	if err := c.Set("traffic", "1 cubic"); err != nil || c.Traffic.Label() != "1 cubic" {
		t.Errorf("a flag does not replace the tables: %v, %v", c.Traffic, err)
	}
}
