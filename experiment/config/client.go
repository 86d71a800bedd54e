package config

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A proxyClient has settings for one client of a proxy, which is selected by its address or by its turn,
// or of a crowd.
type proxyClient struct {
	Address netip.Addr // with any port; the zero Addr if the client is selected by Turn
	Turn    int        // 1 for the first client that sends; 0 if the client is selected by Address
	Change  Change     // of the client's links

	// Of a crowd only: when the client joins, 0 means at the start; when it leaves, 0 means never.
	Join, Leave time.Duration
}

// maxClients is the maximum number of [[client]] entries.
const maxClients = 1000

// Matches reports whether the settings are for a client with this address and turn: 1 for the first
// client that sent, 2 for the second.
func (c *proxyClient) Matches(addr netip.Addr, turn int) bool {
	if c.Address.IsValid() { // compare IPv4 addresses in their short form, and without a zone
		return c.Address == addr.Unmap().WithZone("")
	}
	return c.Turn == turn
}

// setClient sets one key of [[client]] entry i. key is the full key, rest the key in the entry.
func (c *Config) setClient(i int, key, rest string, value any) error {
	if i >= maxClients {
		return refuse(key, "too many clients",
			fmt.Sprintf("at most %d", maxClients))
	}
	client := entryAt(&c.Clients, i, proxyClient{})
	if r := findRow(clientRows, rest); r != nil {
		return withKey(key, r.Set(client, value))
	}
	if rest == "t" {
		return refuse(key, "settings of a client cannot change with time",
			"turn or address; changes are in [[at]]")
	}
	return Within(Indexed("client", i), client.Change.Set(rest, value))
}

// clientRows are the keys of [[client]] that are no settings of links. A client of a proxy is selected by
// its address, or by its turn in the order in which clients send their first datagram.
var clientRows = []row[proxyClient]{
	{Key: "address", Expected: `an address without a port, such as "10.0.0.5"`,
		Field: func(x *proxyClient) any { return parsed[netip.Addr]{&x.Address, parseAddress, addressText} }},
	{Key: "turn", Min: 1, Max: 1 << 30, Expected: "1 for the first client that sends, 2 for the second"},
	{Key: "join", Min: 1, Max: float64(MaxDuration),
		Expected: timeOfRun},
	{Key: "leave", Min: 1, Max: float64(MaxDuration),
		Expected: timeOfRun},
}

const timeOfRun = `a time from the start of the run, such as "2s"`

// parseAddress parses an address without zone and without ::ffff:, as a proxy compares addresses.
func parseAddress(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return addr, errInvalid
	}
	return addr.Unmap().WithZone(""), nil
}

// addressText returns the text of an address; "" for none.
func addressText(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

// checkClients checks how each client is selected, and its links.
func (c *Config) checkClients() error {
	for i, client := range c.Clients {
		key := Indexed("client", i)
		if client.Address.IsValid() == (client.Turn > 0) {
			return refuse(key, "address or turn is missing, or both are set",
				`either address = "10.0.0.5" or turn = 1`)
		}
		isSame := func(x proxyClient) bool { return x.Address == client.Address && x.Turn == client.Turn }
		if k := slices.IndexFunc(c.Clients[:i], isSame); k >= 0 {
			return refuse(key, "selects the same client as "+Indexed("client", k),
				"one entry per client")
		}
		if err := c.checkCrowdClient(key, &client); err != nil {
			return err
		}
		if client.Change.IsZero() && client.Join == 0 && client.Leave == 0 {
			return refuse(key, "sets nothing",
				`a setting of its links, such as down.loss = "5%"`)
		}
		if others := client.Change.without(isOfLinks).Keys(); len(others) > 0 {
			return refuse(key+"."+others[0], "a client can only set links",
				"profile, or a key of down, up or link")
		}
		if err := c.Check(client.Change); err != nil {
			return Within(key, err)
		}
	}
	return nil
}

// checkCrowdClient checks what depends on whether the configuration has a crowd. key is the key of the entry.
func (c *Config) checkCrowdClient(key string, client *proxyClient) error {
	times := client.Join > 0 || client.Leave > 0
	switch n := c.Crowd.Clients; {
	case n == 0 && times:
		return refuse(key, "only a crowd has clients that join and leave",
			"crowd.clients, or neither join nor leave")
	case n > 0 && client.Address.IsValid():
		return refuse(key+".address", "clients of a crowd have no addresses",
			"turn, the number of the client")
	case n > 0 && client.Turn > n && len(c.At) == 0: // [[at]] may change the number of clients
		return refuse(key+".turn", fmt.Sprintf("the crowd has no client %d", client.Turn),
			fmt.Sprintf("1 to %d (crowd.clients)", n))
	case client.Leave > 0 && client.Leave <= client.Join:
		return refuse(key+".leave", "is not after join",
			"more than "+client.Join.String())
	}
	return nil
}

// values returns the client as a table, as in a file.
func (c *proxyClient) values() map[string]any {
	m := c.Change.table()
	addRowValues(clientRows, c, m)
	return m
}

// CheckProxy returns an error if a setting that a proxy ignores does not have its default: a proxy uses
// only links, the seed and the duration.
func (c *Config) CheckProxy() error {
	set := c.Values().flat()
	defaults := Default().Values().flat()
	for _, key := range sortedKeys(set) {
		head := key[:strings.IndexAny(key+".", ".[")]
		if !slices.Contains(proxyKeys, head) && !reflect.DeepEqual(set[key], defaults[key]) {
			return c.Locate(refuse(key, "a proxy has no such setting",
				"only seed, duration, profile, down, up, link, [[at]] and [[client]]"))
		}
	}
	for i, scripted := range c.At {
		if others := scripted.Change.WithMark("").without(isOfLinks).Keys(); len(others) > 0 {
			key := others[0]
			if r := findSetting(key); r != nil {
				key = r.Short
			}
			return c.Locate(refuse(Indexed("at", i)+"."+key, "a proxy has no such setting",
				"t, from, profile, mark, or keys of down, up and link"))
		}
	}
	return nil
}

// proxyKeys are the keys of a proxy's configuration.
var proxyKeys = []string{"seed", "duration", "profile", "down", "up", "link", "at", "client"}

// NeedsProxy reports whether only a proxy can use the configuration: its script begins with the first
// datagram of a client.
func (c *Config) NeedsProxy() bool {
	return slices.ContainsFunc(c.At, func(at StampedChange) bool { return at.FromFirstDatagram })
}

// ProxyTOML is TOML with the settings of a proxy only.
func (c *Config) ProxyTOML() ([]byte, error) {
	values := c.Values()
	maps.DeleteFunc(values, func(key string, _ any) bool { return !slices.Contains(proxyKeys, key) })
	return toml.Marshal(values)
}
