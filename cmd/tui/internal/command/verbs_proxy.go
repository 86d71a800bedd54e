package command

import (
	"fmt"
	"strconv"
	"strings"
)

// Datagram names one that went through a proxy: the n-th of a direction, from 0.
type Datagram struct {
	Up bool
	N  uint64
}

// proxyVerbs are those that only a proxy has.
func proxyVerbs() []Verb {
	return []Verb{
		{Name: "client", Args: "TURN|all", Help: "whose links the controls and commands set", parse: parseClient,
			complete: func(_ Context, before []string) []string { return firstOnly(before, []string{"all"}) }},
		{Name: "explain", Args: "up|down N", Help: "what the seed did to the N-th datagram, stage by stage", parse: parseExplain,
			complete: func(_ Context, before []string) []string { return firstOnly(before, []string{"up", "down"}) }},
	}
}

// parseClient reads "client 2".
func parseClient(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	if strings.EqualFold(args[0], "all") {
		return Order{Client: new(int)}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return Order{}, fmt.Errorf("%q is no client; expected its turn, such as 2, or all", args[0])
	}
	return Order{Client: &n}, nil
}

// parseExplain reads "explain down 17".
func parseExplain(args []string) (Order, error) {
	if len(args) != 2 || args[0] != "up" && args[0] != "down" {
		return Order{}, errUsage
	}
	n, err := strconv.ParseUint(args[1], 10, 48)
	if err != nil {
		return Order{}, fmt.Errorf("%q is no number of a datagram; expected one from 0", args[1])
	}
	return Order{Datagram: &Datagram{Up: args[0] == "up", N: n}}, nil
}
