package relay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"wirelab/internal/panics"
	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
)

// Relay passes datagrams between clients and a server.
type Relay struct {
	options Options
	listen  *net.UDPConn
	begin   time.Time
	aside   []byte // buffer for the control messages of datagrams from clients
	timer   timer
	files   map[string][]byte // read once, for the links of all clients
	done    sync.WaitGroup
	bugs    chan error // the first panic of another goroutine
	taps    []Tap
	event   Event // the one that the taps see

	mu      sync.Mutex
	now     time.Duration // virtual: of the last thing that happened
	armed   time.Duration // when the timer goes off
	clients map[netip.AddrPort]*client
	slots   []*client // by the number in a datagram's tag; nil: free
	leaving []*client // forgotten, but some of theirs is under way
	lanes   []*lane
	due     lanesDue
	shared  [2]*lane
	held    int64 // bytes under way
	totals  Totals
	closed  bool
}

const never = time.Duration(math.MaxInt64)

// socketBuffer is what sockets are asked to buffer; the system grants what it will.
const socketBuffer = 4 << 20

// Open binds the socket that clients send to. Run does the rest.
func Open(o Options) (*Relay, error) {
	o.complete()
	r := &Relay{options: o, begin: time.Now(), armed: never, clients: map[netip.AddrPort]*client{}, files: map[string][]byte{},
		bugs: make(chan error, 1)}
	if err := r.openLinks(); err != nil {
		return nil, err
	}
	var err error
	network := "udp" // on IPv6: of [::] both families
	if o.Listen.Addr().Is4() {
		network = "udp4" // else 0.0.0.0 would be of both
	}
	if r.listen, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(o.Listen)); err != nil {
		return nil, err
	}
	_ = r.listen.SetReadBuffer(socketBuffer)
	_ = r.listen.SetWriteBuffer(socketBuffer)
	r.aside = askSource(r.listen)
	r.timer = newTimer()
	return r, nil
}

// openLinks makes the shared links, or one pair to see that it can be done.
func (r *Relay) openLinks() error {
	lanes, err := r.newLanes(Client{})
	if err == nil && r.options.Shared {
		r.shared = lanes
		r.lanes = lanes[:]
	}
	return err
}

// Addr returns the address that clients send to.
func (r *Relay) Addr() netip.AddrPort { return r.listen.LocalAddr().(*net.UDPAddr).AddrPort() }

// Begin returns the wall-clock time from which all other times count.
func (r *Relay) Begin() time.Time { return r.begin }

// clock returns the time since the relay was opened.
func (r *Relay) clock() time.Duration { return time.Since(r.begin) }

// Run passes datagrams on until ctx ends. It can be called once. An error that concerns a
// single datagram, a client or the server does not end it.
func (r *Relay) Run(ctx context.Context) error {
	r.start(r.fromClients)
	r.start(r.whenDue)
	tick := time.NewTicker(min(time.Second, r.options.Idle))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.Close()
			return nil
		case bug := <-r.bugs:
			r.untap() // the panic may be a tap's
			r.Close()
			panic(bug)
		case <-tick.C:
			r.housekeep()
		}
	}
}

// start runs f in a goroutine. Run passes on its panic, so that the caller of Run can restore a
// terminal first.
func (r *Relay) start(f func()) {
	r.done.Go(panics.Guard(func(bug error) {
		select {
		case r.bugs <- bug:
		default:
		}
	}, f))
}

// untap makes the taps see nothing more.
func (r *Relay) untap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taps = nil
}

// Close completes the totals and closes the sockets of a relay that is not to be run. Run does so
// itself. Datagrams under way stay in the totals as queued.
func (r *Relay) Close() {
	r.housekeep()
	r.closeSockets()
	r.done.Wait()
}

func (r *Relay) closeSockets() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measure()
	r.closed = true
	for _, l := range r.lanes {
		r.abandon(l)
	}
	r.listen.Close()
	r.timer.close()
	for _, c := range r.slots {
		if c != nil {
			c.server.Close()
		}
	}
}

// abandon reports to the taps what never arrived.
func (r *Relay) abandon(l *lane) {
	if len(r.taps) == 0 {
		return
	}
	for d, ok := l.link.Receive(never); ok; d, ok = l.link.Receive(never) {
		r.tapLeft(r.slots[d.Tag>>seqBits], l, abandoned, &d, r.totals.At, lossmodel.None)
	}
}

// Reshape gives all links, and those of clients to come, other conditions. It returns
// when that was; on error some links may have changed.
func (r *Relay) Reshape(conditions Conditions) (time.Duration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = max(r.now, r.clock())
	r.options.Conditions = conditions
	var errs []error
	reshape := func(c Client, lanes [2]*lane) {
		up, down := conditions(c)
		errs = append(errs, lanes[Up].reshape(up, r.now), lanes[Down].reshape(down, r.now))
	}
	if r.options.Shared {
		reshape(Client{}, r.shared)
		return r.now, errors.Join(errs...)
	}
	for _, c := range r.slots {
		if c != nil {
			reshape(c.Client, c.lanes)
		}
	}
	return r.now, errors.Join(errs...)
}

// load reads a file that a link names, once for all clients. The lock is held, or nothing
// runs yet.
func (r *Relay) load(path string) ([]byte, error) {
	if data, ok := r.files[path]; ok {
		return data, nil
	}
	data, err := tracefile.ReadFile(path)
	if err == nil {
		r.files[path] = data
	}
	return data, err
}

// newLanes makes a pair of links for a client. The first client's links have the names,
// and so the streams, of those of a session: what happens to it can be told by any
// command that takes a link and a seed.
func (r *Relay) newLanes(c Client) (lanes [2]*lane, err error) {
	up, down := r.options.Conditions(c)
	for way, spec := range [2]lossmodel.Spec{up, down} {
		l := &lane{way: Way(way), place: -1, status: LinkStatus{Way: Way(way), Client: c.Turn, Spec: spec}}
		if l.link, err = lossmodel.NewLinkWith(r.load, spec, r.options.Seed, LinkName(Way(way), c.Turn)); err != nil {
			return lanes, err
		}
		if len(r.taps) > 0 {
			l.link.Watch()
		}
		lanes[way] = l
	}
	return lanes, nil
}

// LinkName returns the name from which a link's random streams are seeded: "up" or "down"
// for the first client and for a shared link, "up 2" for the second client, and so on.
func LinkName(w Way, turn int) string {
	if turn <= 1 {
		return w.String()
	}
	return fmt.Sprintf("%s %d", w, turn)
}
