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
	file, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", file)
	if err != nil || again.Traffic.String() != c.Traffic.String() {
		t.Errorf("the file gives %v, %v:\n%s", again.Traffic, err, file)
	}
	if err := c.Set("traffic", "1 cubic"); err != nil || c.Traffic.Label() != "1 cubic" {
		t.Errorf("a flag does not replace the tables: %v, %v", c.Traffic, err)
	}
	if v := Default().Values(); v.Text("traffic") != "" {
		t.Error("reports without other traffic have the key")
	}
}

// Each error names file, line, key and what was expected.
func TestTrafficErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[[traffic]]\nkind = \"bbr\"":                                                          `f:2: traffic[0].kind: unknown policy "bbr"; expected one of cubic, constant`,
		"[[traffic]]\nkind = \"cubic\"":                                                        `f:1: traffic[0]: needs a bottleneck to share; expected down.rate, such as "5mbit", or down.rate_trace`,
		"[down]\nrate = \"1mbit\"\n[[traffic]]\nflows = 3":                                     `f:3: traffic[0]: kind is missing; expected kind = "cubic", "constant"`,
		"[[traffic]]\nkind = \"cubic\"\nrtt = \"0ms\"":                                         `f:3: traffic[0].rtt: got "rtt=0ms"; expected a time from 1ms to 10s for rtt`,
		"[[traffic]]\nkind = \"cubic\"\nrate = \"1mbit\"":                                      `f:3: traffic[0].rate: unknown parameter of cubic "rate"; expected one of rtt, start, stop, fast_convergence`,
		"[[traffic]]\nkind = \"cubic\"\nflows = 65":                                            `expected 1 to 64 flows`,
		"[[traffic]]\nkind = \"cubic rtt=5ms\"":                                                `f:2: traffic[0].kind: "cubic rtt=5ms" is invalid; expected a single value`,
		"[[traffic]]\nkind = \"cubic\"\nflows = 40\n[[traffic]]\nkind = \"cubic\"\nflows = 30": `f:6: traffic[1].flows: got 70 flows; expected at most 64`,
		"[[traffic]]\nkind = \"cubic\"\nstart = \"5s\"\nflows = 2\nstop = \"3s\"":              `f:5: traffic[0].stop: got "cubic start=5s stop=3s"; expected a stop after the start`,
		"[[traffic]]\nkind = \"constant\"\nrate = \"1tbit\"":                                   `f:3: traffic[0].rate: got "rate=1tbit"; expected a rate from 1kbit to 1gbit`,
		"[down]\nrate = \"1mbit\"\n[[traffic]]\nkind = \"cubic\"\n[[traffic]]\nkind = \"constant\"\nrate = \"1gbit\"\nsize = \"64B\"": `f:5: traffic[1]: all flows may send 1953208 packets per second; expected at most 200000: fewer flows`,
		"traffic = \"2 cubic rtt=1ms\"\n[down]\nrate = \"1tbit\"":                                                                     `f:1: traffic: all flows may send 8192000 packets per second; expected at most 200000`,
		"traffic = \"64 cubic\"\n[down]\nrate = \"1gbit\"\n[[at]]\nt = \"1s\"\ndown.rate = \"10gbit\"":                                `all flows may send 833333 packets per second`,
		"[[traffic]]\nkind = \"cubic\"\nflows = \"some\"":                                                                             `f:3: traffic[0].flows: "some" is invalid; expected 1 to 64 flows`,
		"[[shadow]]\ncontrl = \"gcc\"":                                    `f:2: shadow[0].contrl: unknown key "contrl"; expected one of name, params, budget, control, priority; did you mean control?`,
		"[search]\nover = [\"traffic\"]":                                  `f:2: search.over: [traffic] is not a table; expected [search.over] with keys`,
		"[traffic]\nkind = \"cubic\"":                                     `traffic: is a list of tables, got one table; expected [[traffic]]`,
		"traffic = \"2 bbr\"":                                             `f:1: traffic: unknown policy "bbr"`,
		"traffic = 3":                                                     `f:1: traffic: 3 is invalid; expected flows such as`,
		"traffic = \"1 cubic\"\n[down]\nnetem = \"rate 1mbit\"":           `f:1: traffic: cannot share a netem line; expected "off", or down.netem = "off" and down.rate`,
		"[down]\nqueue_discipline = \"codle\"":                            `f:2: down.queue_discipline: unknown policy "codle"; expected one of droptail, codel, fq_codel; did you mean codel?`,
		"[down]\nqueue_discipline = \"codel target=2s\"":                  `f:2: down.queue_discipline: got "target=2s"; expected a time from 10us to 1s for target`,
		"[down]\nqueue_discipline = 5":                                    `f:2: down.queue_discipline: got 5; expected "droptail"`,
		"[down]\nqueue_discipline = \"codel\"\nnetem = \"delay 5ms\"":     `f:2: down.queue_discipline: got "codel target=5ms interval=100ms"; expected droptail, because a netem line has a queue of its own`,
		"[down]\nrate = \"1mbit\"\n[[at]]\nt = \"1s\"\ntraffic = \"9 x\"": `f:5: at[0].traffic: unknown policy "x"`,
	} {
		if _, err := Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"traffic = \"64 cubic\"\n[down]\nrate = \"1gbit\"", "traffic = \"1 constant rate=1gbit\"\n[down]\nrate = \"1mbit\"",
		"traffic = \"3 cubic rtt=1ms\"\n[down]\nrate_trace = \"x\""} {
		if _, err := Parse("f", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, err := Parse("f", []byte("[down]\nrate = \"1mbit\"\n[[traffic]]\nkind = \"cubic\""))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckProxy(); err == nil || !strings.Contains(err.Error(), "traffic[0]: a proxy has no such setting") {
		t.Errorf("a proxy: %v", err)
	}
}
