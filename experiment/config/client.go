package config

import (
	"fmt"
	"net/netip"
)

// Client is what holds for one client of a proxy beyond what holds for all: it is chosen
// by its address or by its turn. A run has no clients.
type Client struct {
	Address netip.Addr // of any port; not valid: chosen by turn
	Turn    int        // 1 for the first that sends
	Change  Change     // of its links
}

// maxClients bounds the list.
const maxClients = 1000

// In reports whether a client with this address and turn is meant.
func (c *Client) In(addr netip.Addr, turn int) bool {
	if c.Address.IsValid() {
		return c.Address == addr.Unmap().WithZone("")
	}
	return c.Turn == turn
}

func (c *Config) setClient(i int, key, rest string, value any) error {
	if i >= maxClients {
		return &Error{Key: key, Problem: "that is one client too many", Expected: fmt.Sprintf("at most %d", maxClients)}
	}
	for len(c.Clients) <= i {
		c.Clients = append(c.Clients, Client{})
	}
	client := &c.Clients[i]
	switch rest {
	case "address":
		var text string
		addr, err := netip.Addr{}, error(nil)
		if setText(&text, value) {
			addr, err = netip.ParseAddr(text)
		}
		if !addr.IsValid() || err != nil {
			return &Error{Key: key, Problem: show(value) + " is no address", Expected: `an address without a port, such as "10.0.0.5"`}
		}
		client.Address = addr.Unmap().WithZone("")
		return nil
	case "turn":
		if !setInt(&client.Turn, value, 1, 1<<30) {
			return &Error{Key: key, Problem: show(value) + " is no turn", Expected: "1 for the first client that sends, 2 for the second"}
		}
		return nil
	}
	return Within(Indexed("client", i), client.Change.Set(rest, value))
}

// checkClients looks at what each client is chosen by, and at its links.
func (c *Config) checkClients() error {
	for i, client := range c.Clients {
		key := Indexed("client", i)
		if client.Address.IsValid() == (client.Turn > 0) {
			return &Error{Key: key, Problem: "it must be chosen", Expected: `either address = "10.0.0.5" or turn = 1`}
		}
		for _, x := range client.Change {
			if part := linkPart(); !part.owns(x.Key) {
				return &Error{Key: key + "." + x.Key, Problem: "a client has nothing of its own but links",
					Expected: "profile, or a key of down, up or link"}
			}
		}
		if err := c.Check(client.Change); err != nil {
			return Within(key, err)
		}
	}
	return nil
}

// values returns the client as a table of the file.
func (c *Client) values() map[string]any {
	m := c.Change.table()
	if c.Address.IsValid() {
		m["address"] = c.Address.String()
	} else {
		m["turn"] = c.Turn
	}
	return m
}
