package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// packetVerbs returns the commands for the list of packets on page 3.
func packetVerbs() []verb {
	filterVerb := func(name, help string, order func(packetfilter.Filter) room.PacketOrder) verb {
		return verb{Name: name, Args: "all|trouble|OUTCOME|EXPRESSION", Help: help, minArgs: 1, maxArgs: unlimited,
			Note: "such as bytes > 800 && lost, age > 100ms, row == 417", complete: completeFilter,
			parse: func(args []string) (Order, error) {
				f, err := parseFilter(args)
				return Order{Packets: new(order(f))}, err
			}}
	}
	return []verb{
		filterVerb("filter", "list only some packets on page 3",
			func(f packetfilter.Filter) room.PacketOrder { return room.PacketOrder{Filter: &f} }),
		filterVerb("search", "set the packets to which n and N go on page 3",
			func(f packetfilter.Filter) room.PacketOrder { return room.PacketOrder{Find: &f} }),
		{Name: "sort", Args: "off|FIELD [asc]", Help: "sort the packets on page 3, largest first; asc: smallest first",
			minArgs: 1, maxArgs: 2, parse: parseSort, complete: func(before []string) []string {
				if len(before) > 0 {
					return []string{"asc"}
				}
				return append([]string{"off"}, packetfilter.SortNames()...)
			}},
		{Name: "goto", Args: "NUMBER|MM:SS", Help: "select a packet on page 3 by its number, or by the time at which it was sent, such as 00:03 or 3s", minArgs: 1, maxArgs: 1, parse: parseGoto},
		{Name: "export", Args: "FILE", Help: "write the packets that page 3 lists to a .csv or .pcapng file",
			minArgs: 1, maxArgs: unlimited, parse: parseExport},
	}
}

// parseFilter parses a filter of packets. The words of an outcome may be separated by blanks: "no baseline"
// means "no-baseline".
func parseFilter(args []string) (packetfilter.Filter, error) {
	if name := strings.ToLower(strings.Join(args, "-")); slices.Contains(packetfilter.Conditions(), name) {
		return packetfilter.Parse(name)
	}
	return packetfilter.Parse(strings.Join(args, " "))
}

// completeFilter returns the candidates for the next word of a filter: an operator after a field, and after
// a value or a condition what combines it with another.
func completeFilter(before []string) []string {
	last := ""
	if len(before) > 0 {
		last = strings.ToLower(before[len(before)-1])
	}
	switch {
	case last == "" || slices.Contains([]string{"&&", "||", "!", "and", "or", "not", "("}, last):
		return append(packetfilter.Conditions(), packetfilter.FieldNames()...)
	case slices.Contains(packetfilter.FieldNames(), last):
		return []string{"==", "!=", "<", "<=", ">", ">="}
	case strings.Trim(last, "=!<>") == "": // a value follows
		return nil
	}
	return []string{"&&", "||"}
}

// parseSort parses the field by which packets are sorted, or "off" for the order of sending.
func parseSort(args []string) (Order, error) {
	field := strings.ToLower(args[0])
	switch known := packetfilter.SortNames(); {
	case len(args) == 2 && args[1] != "asc":
		return Order{}, errUsage
	case field == "off":
		field = ""
	case !slices.Contains(known, field):
		return Order{}, config.Unknown("", "field of packets", args[0], known)
	}
	return Order{Packets: &room.PacketOrder{Sort: &room.PacketSort{Field: field, Ascending: len(args) == 2}}}, nil
}

// parseGoto parses the number of a packet, or the time at which it was sent.
func parseGoto(args []string) (Order, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(args[0], "#"), 10, 64)
	if err == nil {
		return Order{Packets: &room.PacketOrder{Number: &n}}, nil
	}
	o, err := parseSeek(args)
	if err != nil {
		return Order{}, fmt.Errorf("got %q; expected the number of a packet, such as 417, or a time such as 00:03", args[0])
	}
	return Order{Packets: &room.PacketOrder{Sent: o.Seek}}, nil
}

// parseExport parses the name of the file to write packets to.
func parseExport(args []string) (Order, error) {
	path := strings.Join(args, " ")
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".pcapng":
		return Order{Packets: &room.PacketOrder{Export: path}}, nil
	}
	return Order{}, errors.New("expected a file whose name ends with .csv or .pcapng")
}
