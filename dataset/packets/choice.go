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

// Choice selects datagrams of a capture by the server's port and the direction.
type Choice struct {
	Port uint16 // port of the server; 0 means the port with the most datagrams
	Up   bool   // selects datagrams to the server instead of those from it
}

// ParseSpec parses FILE[,port=N][,dir=down|up]. It splits off options from the end, since names of
// files may contain commas.
func ParseSpec(text string) (path string, choice Choice, err error) {
	path = text
	for seen := map[string]bool{}; ; {
		comma := max(strings.LastIndexByte(path, ','), 0) // with 0 instead of -1 all of path is examined if it has no comma
		key, value, ok := strings.Cut(path[comma:], "=")
		switch {
		case !ok || key != ",port" && key != ",dir":
			if path == "" {
				err = errors.New("file name missing; expected packets:FILE.pcap[,port=N][,dir=down|up]")
			}
			return path, choice, err
		case seen[key]:
			return "", choice, fmt.Errorf("%s is given twice; expected at most one", key[1:])
		}
		if err := choice.set(key, value); err != nil {
			return "", choice, err
		}
		seen[key], path = true, path[:comma]
	}
}

// set applies one option: key is ",port", with the server's port as value, or ",dir", with "down" or "up".
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

// Open reads a capture, which may be compressed, and selects its datagrams. If path is a pipe, the
// end of ctx ends the wait for its writer.
func Open(ctx context.Context, path string, choice Choice) (*Capture, error) {
	c, err := readFile(ctx, path)
	if err == nil {
		err = c.selectDatagrams(choice)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Chosen returns the datagrams that the Choice selected, in the order of the file. The caller must
// not modify them.
func (c *Capture) Chosen() []datagram { return c.chosen }

// selectDatagrams selects datagrams by the server's port and the direction. A datagram to the
// server's port goes up, one from it down. If both ports are the server's, the addresses decide:
// the receiver of the first such datagram is taken for the server.
func (c *Capture) selectDatagrams(choice Choice) error {
	busiest := c.portsByCount()
	c.Port, c.Down = choice.Port, !choice.Up
	if c.Port == 0 {
		c.Port = busiest[0].port
		c.Remark("port %d is assumed to be the server's: %d of %s are from or to it; port=N selects another",
			c.Port, busiest[0].n, words.Count(len(c.Datagrams), "datagram"))
	}
	var server netip.Addr
	inDirection := func(d *datagram) (chosen, opposite bool) {
		from, to := d.From.Port() == c.Port, d.To.Port() == c.Port
		if from && to {
			if !server.IsValid() {
				server = d.To.Addr()
			}
			from = d.From.Addr() == server && d.To.Addr() != server
		} else if !from && !to {
			return false, false
		}
		return from == c.Down, from != c.Down
	}
	c.chosen = c.chosen[:0]
	opposite, partial := 0, 0
	for i := range c.Datagrams {
		chosen, other := inDirection(&c.Datagrams[i])
		if chosen {
			c.chosen = append(c.chosen, c.Datagrams[i])
		} else if other {
			opposite++
		}
	}
	if len(c.chosen) > 0 {
		return nil
	}
	for i := range c.partial {
		if chosen, _ := inDirection(&c.partial[i]); chosen {
			partial++
		}
	}
	return c.noneChosen(opposite, partial, busiest)
}

// noneChosen returns the error for a choice without complete datagrams. opposite is the number of those in the other
// direction, partial the number of those that were captured only in part.
func (c *Capture) noneChosen(opposite, partial int, busiest []portCount) error {
	e := &source.Error{File: c.File, Kind: ErrNoDatagrams}
	from, otherWay := "from", "up"
	if !c.Down {
		from, otherWay = "to", "down"
	}
	switch {
	case partial > 0:
		e.Problem = fmt.Sprintf("contains no complete datagrams %s port %d, but %d that were captured only in part", from, c.Port, partial)
		e.Expected = "whole packets; " + captureWhole
	case opposite > 0:
		e.Problem = c.withRemarks(fmt.Sprintf("contains no datagrams %s port %d, but %d in the other direction", from, c.Port, opposite))
		e.Expected = "dir=" + otherWay
	default:
		e.Problem = c.withRemarks(fmt.Sprintf("contains no datagrams from or to port %d", c.Port))
		var list []string
		for _, p := range busiest[:min(3, len(busiest))] {
			list = append(list, fmt.Sprintf("%d (%d)", p.port, p.n))
		}
		e.Expected = "one of its ports, the busiest first: " + strings.Join(list, ", ")
	}
	return e
}

// Direction returns the direction that was chosen: "down" or "up".
func (c *Capture) Direction() string {
	if c.Down {
		return "down"
	}
	return "up"
}

// portCount is the number of datagrams from or to a port.
type portCount struct {
	port uint16
	n    int
}

// portsByCount returns all ports with their numbers of datagrams, the most frequent first: that is most
// likely the server's, to which all clients send. Among equally frequent ports the lowest comes first,
// since systems assign high ports to clients.
func (c *Capture) portsByCount() []portCount {
	var count [1 << 16]int
	for i := range c.Datagrams {
		from, to := c.Datagrams[i].From.Port(), c.Datagrams[i].To.Port()
		count[from]++
		if to != from {
			count[to]++
		}
	}
	var list []portCount
	for port, n := range count {
		if n > 0 {
			list = append(list, portCount{uint16(port), n})
		}
	}
	slices.SortStableFunc(list, func(a, b portCount) int { return cmp.Compare(b.n, a.n) })
	return list
}
