package relay

import (
	"net/netip"
	"time"

	"wirelab/lossmodel"
)

// Direction is a direction of traffic.
type Direction uint8

// The two directions of traffic.
const (
	Up   Direction = iota // direction from a client to the server
	Down                  // direction from the server to a client
)

// String returns the direction's name: "up" or "down".
func (d Direction) String() string {
	if d == Down {
		return "down"
	}
	return "up"
}

// Client identifies a client.
type Client struct {
	Number         int            // number in the order of joining, from 1; 0 stands for all clients that share links
	Addr           netip.AddrPort // the client's address; IPv4-mapped IPv6 addresses are converted to IPv4
	ServerSideAddr netip.AddrPort // the relay's address from which the server receives its datagrams
}

// Conditions returns the specs of a client's links. It is called with the relay's lock held: when
// a client joins, and for all clients by Reshape.
type Conditions func(Client) (up, down lossmodel.Spec)

// Options configure a relay.
type Options struct {
	Listen, Server netip.AddrPort
	Conditions     Conditions    // returns the specs of the links; nil means perfect links
	Seed           uint64        // seed of all random decisions
	Shared         bool          // all clients share one pair of links
	MaxClients     int           // largest number of clients, at most 1000; 0 means DefaultClients
	Idle           time.Duration // a client that sends nothing for this time is removed; 0 means DefaultIdle
	MaxQueued      int64         // limit of bytes in flight, counting datagramOverhead for each datagram; 0 means 128 MiB
}

// Defaults of Options, and the largest number of clients.
const (
	DefaultClients = 64
	MaxClients     = 1000
	DefaultIdle    = 60 * time.Second
	defaultQueued  = 128 << 20
)

// datagramOverhead is what a datagram in flight counts in addition to its length: bookkeeping,
// and a reused buffer that may be larger than its datagram.
const datagramOverhead = 2304

// setDefaults replaces options that are 0 or nil by their defaults and limits MaxClients.
func (o *Options) setDefaults() {
	if o.Conditions == nil {
		o.Conditions = func(Client) (up, down lossmodel.Spec) { return lossmodel.DefaultSpec(), lossmodel.DefaultSpec() }
	}
	if o.MaxClients <= 0 {
		o.MaxClients = DefaultClients
	}
	o.MaxClients = min(o.MaxClients, MaxClients)
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = defaultQueued
	}
}
