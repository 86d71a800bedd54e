package config_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// Clients are selected by address or turn, are part of the effective configuration, and override the
// common links.
func TestClients(t *testing.T) {
	c, err := config.Parse("x.toml", []byte(`
[down]
loss = "5%"
[[client]]
address = "::ffff:10.0.0.5"
link.latency = "40ms"
[[client]]
turn = 2
down = {loss = "20%", burst = 3}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		addr     string
		turn, in int
	}{{"10.0.0.5", 7, 0}, {"::ffff:10.0.0.5", 1, 0}, {"10.0.0.6", 2, 1}, {"10.0.0.6", 1, -1}} {
		in := -1
		for i := range c.Clients {
			if c.Clients[i].Matches(netip.MustParseAddr(x.addr), x.turn) {
				in = i
			}
		}
		if in != x.in {
			t.Errorf("%s, turn %d: client %d, expected %d", x.addr, x.turn, in, x.in)
		}
	}
	second, err := c.WithChange(c.Clients[1].Change)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := second.Down.Number("loss"); p != 20 || second.Up != c.Up {
		t.Errorf("the loss of the second client is %v %%", p)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Parse("again.toml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(again.Clients, c.Clients) {
		t.Errorf("%+v was parsed as %+v", c.Clients, again.Clients)
	}
}

// CheckProxy rejects keys that a proxy ignores, in every notation and with their line, and accepts the
// others.
func TestOnlyLinks(t *testing.T) {
	for text, want := range map[string]string{
		"seed = 3\nduration = \"1m\"\nprofile = \"lte\"\n[link]\nloss = \"1%\"\n[down]\nlatency = \"4ms\"\n" +
			"[[at]]\nt = \"1s\"\nloss = \"5%\"\nmark = \"here\"\n[[at]]\nt = \"2s\"\ndown = {rate = \"1mbit\"}\nup.burst = 3\n" +
			"[[client]]\nturn = 2\nlink.loss = \"3%\"\n": "",
		"[[at]]\nfrom = \"first datagram\"\nt = \"1s\"\nloss = \"5%\"\n[[at]]\nt = \"2s\"\nfrom = \"first datagram\"\nloss = \"6%\"\n": "",
		"seed = 3\nencoder.name = \"rotor\"\n":                                          "x.toml:2: encoder.name: ",
		"[down]\nloss = \"1%\"\n[receiver]\nplayout_delay = \"40ms\"\n":                 "x.toml:4: receiver.playout_delay: ",
		"[[shadow]]\nname = \"rotor\"\n":                                                "x.toml:2: shadow[0].name: ",
		"[[sweep]]\nkey = \"down.loss\"\nvalues = [\"1%\"]\n":                           "sweep",
		"[[at]]\nt = \"1s\"\nloss = \"5%\"\nencoder = \"rotor\"\n":                      "x.toml:4: at[0].encoder.name: ",
		"[[at]]\nt = \"1s\"\n[[at]]\nt = \"2s\"\nplayout_delay = \"40ms\"\n":            "x.toml:5: at[1].playout_delay: ",
		"[[at]]\nt = \"1s\"\nhover = true\n":                                            "x.toml:3: at[0].hover: ",
		"[down]\nloss = \"1%\"\n\n[[at]]\nt = \"1s\"\nparams = {small = 15}\n":          "x.toml:6: at[0].params",
		"at = [{t = \"1s\", loss = \"1%\"}, {t = \"2s\", shadow = \"rotor\"}]\n":        "at[1].shadow: ",
		"[down]\nloss = \"1%\"\n[[at]]\nt = \"1s\"\nencoder.name = \"changed-index\"\n": "x.toml:5: at[0].encoder",
	} {
		c, err := config.Parse("x.toml", []byte(text))
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), "params") { // rejected by Parse already
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		err = c.CheckProxy()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	c := config.Default()
	if err := c.Set("encoder.name", "rotor"); err != nil {
		t.Fatal(err)
	}
	if err := c.CheckProxy(); err == nil || !strings.Contains(err.Error(), "encoder.name: a proxy has no such setting") {
		t.Errorf("set by a flag: %v", err)
	}
}

// The effective configuration contains from when the times count.
func TestFrom(t *testing.T) {
	c, err := config.Parse("x.toml", []byte("[[at]]\nt = \"1s\"\nloss = \"5%\"\nfrom = \"first datagram\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	effective, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := config.Parse("y.toml", effective); err != nil || !again.At[0].FromFirstDatagram {
		t.Errorf("%v: %s", err, effective)
	}
}
