package config_test

import (
	"net/netip"
	"testing"

	"wirelab/experiment/config"
)

// Clients are selected by address or turn, and override the
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
}
