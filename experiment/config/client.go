package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"wirelab/internal/setting"
)

// proxyClient is what holds for one client of a proxy beyond what holds for all: it is chosen
// by its address or by its turn. A run has no clients.
type proxyClient struct {
	Address netip.Addr // of any port; not valid: chosen by turn
	Turn    int        // 1 for the first that sends
	Change  Change     // of its links
}

// maxClients bounds the list.
const maxClients = 1000

// In reports whether a client with this address and turn is meant.
func (c *proxyClient) In(addr netip.Addr, turn int) bool {
	if c.Address.IsValid() {
		return c.Address == addr.Unmap().WithZone("")
	}
	return c.Turn == turn
}

func (c *Config) setClient(i int, key, rest string, value any) error {
	if i >= maxClients {
		return &Error{Key: key, Problem: "that is one client too many", Expected: fmt.Sprintf("at most %d", maxClients)}
	}
	client := entry(&c.Clients, i, proxyClient{})
	if found, err := setRow(clientRows(), client, key, rest, value); found {
		return err
	}
	if rest == "t" {
		return &Error{Key: key, Problem: "a client has no time", Expected: "turn or address; what changes is in [[at]]"}
	}
	return Within(Indexed("client", i), client.Change.Set(rest, value))
}

// clientRows are the keys by which a client is chosen.
func clientRows() []setting.Row[proxyClient] {
	return []setting.Row[proxyClient]{
		newRow("address", "is no address", `an address without a port, such as "10.0.0.5"`, func(x *proxyClient) any {
			if !x.Address.IsValid() {
				return nil
			}
			return x.Address.String()
		}, func(x *proxyClient, v any) bool {
			var text string
			_ = setText(&text, v)
			addr, err := netip.ParseAddr(text)
			if err == nil {
				x.Address = addr.Unmap().WithZone("")
			}
			return err == nil
		}),
		newRow("turn", "is no turn", "1 for the first client that sends, 2 for the second", func(x *proxyClient) any { return x.Turn },
			func(x *proxyClient, v any) bool { return setInt(&x.Turn, v, 1, 1<<30) }),
	}
}

// checkClients looks at what each client is chosen by, and at its links.
func (c *Config) checkClients() error {
	for i, client := range c.Clients {
		key := Indexed("client", i)
		if client.Address.IsValid() == (client.Turn > 0) {
			return &Error{Key: key, Problem: "it must be chosen", Expected: `either address = "10.0.0.5" or turn = 1`}
		}
		if k := slices.IndexFunc(c.Clients[:i], func(x proxyClient) bool { return x.Address == client.Address && x.Turn == client.Turn }); k >= 0 {
			return &Error{Key: key, Problem: "it is the client of " + Indexed("client", k), Expected: "all that it has of its own in one entry"}
		}
		if client.Change.IsZero() {
			return &Error{Key: key, Problem: "it has nothing of its own", Expected: `what its links do, such as down.loss = "5%"`}
		}
		if others := client.Change.withoutLinks().Keys(); len(others) > 0 {
			return &Error{Key: key + "." + others[0], Problem: "a client has nothing of its own but links",
				Expected: "profile, or a key of down, up or link"}
		}
		if err := c.Check(client.Change); err != nil {
			return Within(key, err)
		}
	}
	return nil
}

// values returns the client as a table of the file.
func (c *proxyClient) values() map[string]any {
	m := c.Change.table()
	putRows(clientRows(), c, m)
	return m
}

// OnlyLinks refuses what a proxy would not look at: all that is neither of links nor of when
// it ends. What does nothing must not look as if it did.
func (c *Config) OnlyLinks() error {
	keys := slices.Concat(slices.Collect(maps.Keys(c.lines)), slices.Collect(maps.Keys(c.flags)))
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(c.lines[a], c.lines[b]), cmp.Compare(a, b)) })
	for _, key := range keys {
		head, rest := key, ""
		if i := strings.IndexAny(key, ".["); i >= 0 {
			head, rest = key[:i], key[i:]
		}
		expected := "nothing but seed, duration, profile, down, up, link, [[at]] and [[client]]"
		known := []string{"seed", "duration", "profile", "down", "up", "link", "at", "client"}
		if _, entry, ok := strings.Cut(rest, "]."); head == "at" && ok {
			head, _, _ = strings.Cut(entry, ".")
			if isLinkKey(head) {
				continue
			}
			expected, known = linkChange, []string{"t", "profile", "down", "up", "link", "mark"}
		}
		if !slices.Contains(known, head) {
			return c.Locate(&Error{Key: key, Problem: "a proxy has nothing of the kind", Expected: expected})
		}
	}
	for i, at := range c.At { // what was written in a line with others
		if others := at.Change.withoutLinks().WithMark("").Keys(); len(others) > 0 {
			return c.Locate(&Error{Key: Indexed("at", i) + "." + others[0], Problem: "a proxy has nothing of the kind", Expected: linkChange})
		}
	}
	return nil
}

// withoutLinks returns the part of a change that is not about links.
func (ch Change) withoutLinks() Change {
	ch.Profile, ch.Down, ch.Up = "", nil, nil
	return ch
}

const linkChange = "t, profile, mark, or keys of down, up and link"
