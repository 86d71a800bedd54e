package packets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/source"
	"wirelab/internal/words"
)

// Choice selects datagrams of a capture.
type Choice struct {
	Port uint16 // of the server; 0: the busiest
	Up   bool   // to the server, instead of from it
}

// ParseSpec reads FILE[,port=N][,dir=down|up]. Names of files may hold commas.
func ParseSpec(text string) (path string, choice Choice, err error) {
	path = text
	for seen := map[string]bool{}; ; {
		at := max(strings.LastIndexByte(path, ','), 0)
		key, value, ok := strings.Cut(path[at:], "=")
		switch {
		case !ok || key != ",port" && key != ",dir":
			if path == "" {
				err = errors.New("names no file; expected packets:FILE.pcap[,port=N][,dir=down|up]")
			}
			return path, choice, err
		case seen[key]:
			return "", choice, fmt.Errorf("%s is given twice; expected it once", key[1:])
		}
		if err := choice.set(key, value); err != nil {
			return "", choice, err
		}
		seen[key], path = true, path[:at]
	}
}

func (c *Choice) set(key, value string) error {
	if key == ",port" {
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("port=%s; expected a number from 1 to 65535, the server's port", value)
		}
		c.Port = uint16(n)
		return nil
	}
	c.Up = value == "up"
	if !c.Up && value != "down" {
		return fmt.Errorf("dir=%s; expected down, from the server, or up, to it", value)
	}
	return nil
}

// Open reads a file, which may be compressed, and chooses among its datagrams. The end of ctx ends
// the wait for the writer of a pipe.
func Open(ctx context.Context, path string, choice Choice) (*Capture, error) {
	c, err := readFile(ctx, path)
	if err == nil {
		err = c.choose(choice)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Chosen returns the datagrams that were chosen.
func (c *Capture) Chosen() []datagram { return c.chosen }

// choose chooses datagrams by the server's port and the way. The ports give the way of a
// datagram; where both are the server's, the first datagram went to it.
func (c *Capture) choose(choice Choice) error {
	ports := c.ports()
	c.Port, c.Down = choice.Port, !choice.Up
	if c.Port == 0 {
		c.Port = ports[0].port
		c.Remark("port %d is taken for the server's: %d of %s are from or to it; port=N says otherwise",
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
	e := &source.Error{File: c.File, Kind: ErrNothing}
	if other > 0 {
		from, otherWay := "from", "up"
		if !c.Down {
			from, otherWay = "to", "down"
		}
		e.Problem = fmt.Sprintf("holds no datagrams %s port %d, but %d the other way", from, c.Port, other)
		e.Expected = "dir=" + otherWay
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

// Way returns the direction that was chosen: "down" or "up".
func (c *Capture) Way() string {
	if c.Down {
		return "down"
	}
	return "up"
}

// tally is the number of datagrams from or to a port.
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
