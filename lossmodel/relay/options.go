package relay

import (
	"net/netip"
	"time"

	"wirelab/lossmodel"
)

// Way is a direction.
type Way uint8

// The two directions.
const (
	Up   Way = iota // from a client to the server
	Down            // back
)

// String returns the direction's name: "up" or "down".
func (w Way) String() string {
	if w == Down {
		return "down"
	}
	return "up"
}

// Client is one address that sends.
type Client struct {
	Turn int            // 1 for the first that ever sent; 0 for all that share one pair of links
	Addr netip.AddrPort // without the form that an IPv4 address has on an IPv6 socket
	Via  netip.AddrPort // from where the server sees it come
}

// Conditions returns the links of a client. It is called with the relay's lock
// held, and again for all clients by Reshape.
type Conditions func(Client) (up, down lossmodel.Spec)

// Options configure a relay.
type Options struct {
	Listen, Server netip.AddrPort
	Conditions     Conditions // nil: perfect links
	Seed           uint64
	Shared         bool          // all clients share one pair of links
	MaxClients     int           // 0: DefaultClients
	Idle           time.Duration // a client that sends nothing for so long is forgotten; 0: DefaultIdle
	MaxQueued      int64         // bytes under way, each datagram at least slotBytes; 0: defaultQueued
}

// What Options that are 0 stand for, and the most clients there can be.
const (
	DefaultClients = 64
	MostClients    = 1000
	DefaultIdle    = 60 * time.Second
	defaultQueued  = 128 << 20
)

// slotBytes is what a datagram under way counts for beside its length: the books, and a
// buffer that may have held a longer one.
const slotBytes = 2304

func (o *Options) complete() {
	if o.Conditions == nil {
		o.Conditions = func(Client) (up, down lossmodel.Spec) { return lossmodel.DefaultSpec(), lossmodel.DefaultSpec() }
	}
	if o.MaxClients <= 0 {
		o.MaxClients = DefaultClients
	}
	o.MaxClients = min(o.MaxClients, MostClients)
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = defaultQueued
	}
}
