package packets

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"wirelab/internal/words"
)

// Choice says which datagrams of a capture are meant.
type Choice struct {
	Port uint16 // of the server; 0: the busiest
	Up   bool   // to the server, instead of from it
}

// ParseSpec reads FILE[,port=N][,dir=down|up]. Names of files may hold commas.
func ParseSpec(text string) (path string, choice Choice, err error) {
	path = text
	for seen := map[string]bool{}; ; {
		at := strings.LastIndexByte(path, ',')
		if at < 0 {
			break
		}
		key, value, ok := strings.Cut(path[at+1:], "=")
		if !ok || key != "port" && key != "dir" {
			break
		}
		if err := choice.set(key, value); err != nil {
			return "", choice, err
		}
		if seen[key] {
			return "", choice, fmt.Errorf("%s is given twice; expected it once", key)
		}
		seen[key] = true
		path = path[:at]
	}
	if path == "" {
		return "", choice, fmt.Errorf("names no file; expected packets:FILE.pcap[,port=N][,dir=down|up]")
	}
	return path, choice, nil
}

func (c *Choice) set(key, value string) error {
	switch key {
	case "port":
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("port=%s; expected a number from 1 to 65535, the server's port", value)
		}
		c.Port = uint16(n)
	case "dir":
		if value != "up" && value != "down" {
			return fmt.Errorf("dir=%s; expected down, from the server, or up, to it", value)
		}
		c.Up = value == "up"
	}
	return nil
}

// Open reads a file and chooses among its datagrams.
func Open(ctx context.Context, path string, choice Choice) (*Capture, error) {
	c, err := Read(ctx, path)
	if err == nil {
		err = c.Choose(choice)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Chosen returns the datagrams that were chosen.
func (c *Capture) Chosen() []Datagram { return c.chosen }

// Choose chooses datagrams by the server's port and the way. Which way a datagram went
// is told by the ports; where both are the server's, the first datagram went to it.
func (c *Capture) Choose(choice Choice) error {
	ports := c.ports()
	c.Port, c.Down = choice.Port, !choice.Up
	if c.Port == 0 {
		c.Port = ports[0].port
		c.remark("port %d is taken for the server's: %d of %s are from or to it; port=N says otherwise",
			c.Port, ports[0].n, words.Count(len(c.Datagrams), "datagram"))
	}
	var server netip.Addr
	c.chosen = c.chosen[:0]
	other := 0
	for i := range c.Datagrams {
		d := &c.Datagrams[i]
		from, to := d.From.Port() == c.Port, d.To.Port() == c.Port
		if !from && !to {
			continue
		}
		if from && to {
			if !server.IsValid() {
				server = d.To.Addr()
			}
			from = d.From.Addr() == server && d.To.Addr() != server
		}
		if from == c.Down {
			c.chosen = append(c.chosen, *d)
		} else {
			other++
		}
	}
	if len(c.chosen) > 0 {
		return nil
	}
	e := &Error{File: c.File, Kind: ErrNothing}
	if other > 0 {
		e.Problem = fmt.Sprintf("holds no datagrams %s port %d, but %d the other way", c.words(c.Down), c.Port, other)
		e.Expected = map[bool]string{false: "dir=down", true: "dir=up"}[c.Down]
		return e
	}
	e.Problem = fmt.Sprintf("holds no datagrams from or to port %d", c.Port)
	var list []string
	for _, p := range ports[:min(3, len(ports))] {
		list = append(list, fmt.Sprintf("%d (%d)", p.port, p.n))
	}
	e.Expected = "one of its ports, the busiest first: " + strings.Join(list, ", ")
	return e
}

func (c *Capture) words(down bool) string {
	if down {
		return "from"
	}
	return "to"
}

// Way is the direction that was chosen, in a word.
func (c *Capture) Way() string {
	if c.Down {
		return "down"
	}
	return "up"
}

// tally is how many datagrams are from or to a port.
type tally struct {
	port uint16
	n    int
}

// ports returns the ports, the server's most likely first: the one with the most
// datagrams; of several the lowest, since those of clients are drawn from the high ones.
func (c *Capture) ports() []tally {
	var count [1 << 16]int
	for i := range c.Datagrams {
		from, to := c.Datagrams[i].From.Port(), c.Datagrams[i].To.Port()
		count[from]++
		if to != from {
			count[to]++
		}
	}
	var list []tally
	for port, n := range count {
		if n > 0 {
			list = append(list, tally{uint16(port), n})
		}
	}
	slices.SortStableFunc(list, func(a, b tally) int { return cmp.Compare(b.n, a.n) })
	return list
}
