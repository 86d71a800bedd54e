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

// Relay forwards datagrams between clients and a server.
type Relay struct {
	options    Options
	listen     *net.UDPConn
	start      time.Time // time on the wall clock at virtual time zero
	oob        []byte    // buffer for the control messages of datagrams from clients; nil if unused
	timer      timer
	fileCache  map[string][]byte // files named by links, by path
	goroutines sync.WaitGroup
	panics     chan error // the first panic of another goroutine
	taps       []Tap
	event      Event              // buffer for the event that is passed to the taps
	first      chan time.Duration // receives when the first datagram of a client was read; has a buffer of 1

	mu            sync.Mutex
	virtualNow    time.Duration // latest time passed to any link; never decreases
	timerDue      time.Duration // when the timer fires; noDeadline if it is not set
	clients       map[netip.AddrPort]*client
	slots         []*client     // clients by the slot in a datagram's tag; nil if the slot is free
	forgotten     []*client     // clients removed from the map clients, with datagrams still in flight
	departed      []ClientState // final states of removed clients, the newest maxDeparted, oldest first
	lanes         []*lane
	dueLanes      laneHeap // lanes with datagrams in flight, by due time
	shared        [2]*lane // lanes of all clients by direction, if Options.Shared is set
	bytesInFlight int64    // payload bytes in flight, plus datagramOverhead for each datagram
	totals        Totals
	closed        bool
}

// noDeadline is a time that is never reached.
const noDeadline = time.Duration(math.MaxInt64)

// socketBuffer is the requested size of socket buffers in bytes. The system may grant less.
const socketBuffer = 4 << 20

// Open opens the socket for clients. It fails if the conditions are invalid or the address is not
// available. Call Run to forward datagrams.
func Open(o Options) (*Relay, error) {
	o.setDefaults()
	r := &Relay{options: o, start: time.Now(), timerDue: noDeadline, clients: map[netip.AddrPort]*client{},
		fileCache: map[string][]byte{},
		first:     make(chan time.Duration, 1),
		panics:    make(chan error, 1)}
	if err := r.openLinks(); err != nil {
		return nil, err
	}
	var err error
	network := "udp" // [::] accepts both IPv4 and IPv6
	if o.Listen.Addr().Is4() {
		network = "udp4" // with the network "udp", 0.0.0.0 would accept both too
	}
	if r.listen, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(o.Listen)); err != nil {
		return nil, err
	}
	_ = r.listen.SetReadBuffer(socketBuffer)
	_ = r.listen.SetWriteBuffer(socketBuffer)
	r.oob = enablePacketInfo(r.listen)
	r.timer = newTimer()
	return r, nil
}

// openLinks creates the links that all clients share. If each client has its own, it creates a pair
// only to check the conditions, so that Open reports an error and not the first client.
func (r *Relay) openLinks() error {
	lanes, err := r.newLanes(Client{}) // the zero Client stands for all clients
	if err == nil && r.options.Shared {
		r.shared = lanes
		r.lanes = lanes[:]
	}
	return err
}

// Addr returns the address of the socket for clients.
func (r *Relay) Addr() netip.AddrPort { return r.listen.LocalAddr().(*net.UDPAddr).AddrPort() }

// StartTime returns the wall-clock time to which all other times are relative.
func (r *Relay) StartTime() time.Time { return r.start }

// FirstDatagram returns a channel that receives one value: when the first datagram of the first client was read.
func (r *Relay) FirstDatagram() <-chan time.Duration { return r.first }

// now returns the time since the relay was opened.
func (r *Relay) now() time.Duration { return time.Since(r.start) }

// Run forwards datagrams until ctx ends. It must be called once. Errors of single datagrams,
// clients or the server do not end it. A panic in a goroutine of the relay becomes a panic of
// Run.
func (r *Relay) Run(ctx context.Context) error {
	r.goGuarded(r.readClients)
	r.goGuarded(r.deliverOnTimer)
	tick := time.NewTicker(min(time.Second, r.options.Idle))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.Close()
			return nil
		case bug := <-r.panics:
			r.removeTaps() // the panic may come from a tap
			r.Close()
			panic(bug)
		case <-tick.C:
			r.expireClients()
		}
	}
}

// goGuarded runs f in a goroutine. The first panic of such a goroutine is passed to Run, which panics
// in turn, so that the caller of Run can restore a terminal first.
func (r *Relay) goGuarded(f func()) {
	r.goroutines.Go(panics.Guard(func(bug error) {
		select {
		case r.panics <- bug:
		default: // Run has another panic already
		}
	}, f))
}

func (r *Relay) removeTaps() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taps = nil
}

// Close updates the totals, closes the sockets of a relay and waits for its goroutines. Run calls it.
// Datagrams in flight remain counted as queued.
func (r *Relay) Close() {
	r.expireClients()
	r.closeSockets()
	r.goroutines.Wait()
}

// closeSockets updates the gauges, reports datagrams in flight to the taps, and closes all
// sockets, which ends the goroutines.
func (r *Relay) closeSockets() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updateGauges()
	r.closed = true
	for _, l := range r.lanes {
		r.reportAbandoned(l)
	}
	r.listen.Close()
	r.timer.close()
	for _, c := range r.slots {
		if c != nil {
			c.server.Close()
		}
	}
}

// reportAbandoned removes the datagrams still in flight on a lane from its link and reports them to
// the taps.
func (r *Relay) reportAbandoned(l *lane) {
	if len(r.taps) == 0 {
		return
	}
	for d, ok := l.link.Receive(noDeadline); ok; d, ok = l.link.Receive(noDeadline) {
		r.emitDone(r.slots[d.Tag>>tagSeqBits], l, abandoned, &d, r.totals.At, lossmodel.None)
	}
}

// Reshape changes the conditions of all links, including those of future clients. It returns the
// time of the change. After an error some links may have changed.
func (r *Relay) Reshape(conditions Conditions) (time.Duration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.virtualNow = max(r.virtualNow, r.now())
	r.options.Conditions = conditions
	var errs []error
	reshape := func(c Client, lanes [2]*lane) {
		up, down := conditions(c)
		errs = append(errs, lanes[Up].reshape(up, r.virtualNow), lanes[Down].reshape(down, r.virtualNow))
		r.schedule(lanes[Up]) // a change of the rate re-times the queue
		r.schedule(lanes[Down])
	}
	if r.options.Shared {
		reshape(Client{}, r.shared)
		return r.virtualNow, errors.Join(errs...)
	}
	for _, c := range r.slots {
		if c != nil {
			reshape(c.Client, c.lanes)
		}
	}
	return r.virtualNow, errors.Join(errs...)
}

// readFile returns the content of a file that a link names. It reads each file once for all clients;
// errors are not cached. The lock must be held, or no goroutine may run yet.
func (r *Relay) readFile(path string) ([]byte, error) {
	if data, ok := r.fileCache[path]; ok {
		return data, nil
	}
	data, err := tracefile.ReadFile(path)
	if err == nil {
		r.fileCache[path] = data
	}
	return data, err
}

// newLanes creates a pair of links for a client, by direction, with the current conditions. The first
// client's links have the same random streams as those of a session of the lab with the same seed.
func (r *Relay) newLanes(c Client) (lanes [2]*lane, err error) {
	up, down := r.options.Conditions(c)
	for direction, spec := range [2]lossmodel.Spec{up, down} {
		l := &lane{direction: Direction(direction), heapIndex: -1, spec: &spec, status: LinkStatus{Way: Direction(direction), Client: c.Number, Spec: spec}}
		if l.link, err = lossmodel.NewLinkWith(r.readFile, spec, r.options.Seed, LinkName(Direction(direction), c.Number)); err != nil {
			return lanes, err
		}
		if len(r.taps) > 0 {
			l.link.RecordTrails() // taps need trails
		}
		lanes[direction] = l
	}
	return lanes, nil
}

// LinkName returns the name from which a link's random streams are seeded: "up" or "down" for the
// first client and for shared links, "up 2" for the second client, and so on. clientNumber is
// Client.Number, 0 for shared links.
func LinkName(direction Direction, clientNumber int) string {
	if clientNumber <= 1 {
		return direction.String()
	}
	return fmt.Sprintf("%s %d", direction, clientNumber)
}
