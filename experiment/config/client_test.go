package config_test

import (
	"net/netip"
	"reflect"
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
