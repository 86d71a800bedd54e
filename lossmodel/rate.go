package lossmodel

import (
	"time"

	"wirelab/internal/ring"
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// maxWait is the longest wait before the bottleneck. A queue without a limit also
// drops packets that would wait longer.
const maxWait = time.Hour

// Rate is the bottleneck: a line and the drop-tail queue before it.
type Rate struct {
	BitsPerSecond int64 // of wire bytes, see WireBytes; 0 means no bottleneck
	Queue         int64 // maximum bytes waiting or being sent; 0 means no limit
	QueuePackets  int   // maximum datagrams waiting or being sent; 0 means no limit
	// Overhead is added to the wire bytes of each IP packet, such as 14 for Ethernet.
	// If Cell is not 0, packets are cut into cells with a payload of Cell bytes, the
	// last one padded, and CellOverhead is added to each cell. ATM has 48 and 5.
	Overhead, Cell, CellOverhead int
	// Burst makes the line a token bucket of that many bytes, which leave at once
	// after a pause. In any interval the line sends at most Burst plus rate times
	// interval. A packet larger than the bucket waits for all of its bytes.
	Burst int64
	// Trace is a Mahimahi trace of delivery opportunities. It replaces BitsPerSecond
	// and Burst.
	Trace tracefile.File
}

// queued is a packet that waits before the bottleneck or is being sent.
type queued struct {
	leaves time.Duration
	bytes  int64
}

// rateStage is the line and its queue. It uses no random numbers: whether the queue is
// full depends only on the packets before. Packets enter in order of sending, so the
// backlog is exact (Lindley's recursion), and the time at which a packet leaves is final
// when it enters.
type rateStage struct {
	files   *tracefile.Library
	spec    Rate
	rate    uint64        // bits per second; 0 with a trace
	ahead   time.Duration // how much earlier the bucket lets packets leave
	idle    time.Duration // when the line has sent all queued packets, rounded down
	rest    uint64        // remainder of that rounding, in units of 1/rate ns
	traced  tracedLine
	queued  ring.Queue[queued] // packets that have not left
	backlog int64              // bytes of the packets in queued
	peak    Queued
}

func (s *rateStage) reshape(spec *Spec) bool {
	if rate := uint64(spec.Rate.BitsPerSecond); rate != s.rate {
		s.rate, s.rest = rate, 0
	}
	s.spec, s.ahead = spec.Rate, 0
	if s.rate > 0 {
		s.ahead = time.Duration(scaleDown(uint64(s.spec.Burst)*8, uint64(time.Second), s.rate))
	}
	if f := s.spec.Trace; f.Path != "" {
		s.traced.set(s.files.Get(f, lineTrace).(*opportunities))
	} else {
		s.traced.set(nil)
		s.idle = max(s.idle, s.traced.at)
	}
	return s.rate > 0 || s.traced.opportunities != nil
}

// Apply implements Stage. A packet that an earlier stage lost does not enter the queue.
func (s *rateStage) Apply(now time.Duration, size int, f *Fate) {
	if f.Lost != None {
		return
	}
	s.removeSent(now)
	wire := s.wireCost(size, f.Fragments)
	if s.full(wire) {
		f.lose(Queue)
		return
	}
	leaves, ok := s.departure(now, wire)
	if !ok {
		f.lose(Queue)
		return
	}
	s.backlog += wire
	*s.queued.Push() = queued{leaves: leaves, bytes: wire}
	s.peak.Packets, s.peak.Bytes = max(s.peak.Packets, s.queued.Len()), max(s.peak.Bytes, s.backlog)
	f.Delay += leaves - now
}

// removeSent removes the packets that have left the line by now.
func (s *rateStage) removeSent(now time.Duration) {
	for q := s.queued.At(s.queued.First()); q != nil && q.leaves <= now; q = s.queued.At(s.queued.First()) {
		s.backlog -= q.bytes
		s.queued.Pop()
	}
}

// full reports whether the queue has no room for a packet of wire bytes.
func (s *rateStage) full(wire int64) bool {
	return s.spec.Queue > 0 && s.backlog+wire > s.spec.Queue ||
		s.spec.QueuePackets > 0 && s.queued.Len() >= s.spec.QueuePackets
}

// wireCost returns the number of bytes that a datagram takes on the line.
func (s *rateStage) wireCost(size, fragments int) int64 {
	wire := int64(size + udpHeader + ipHeader*fragments)
	if s.spec.Overhead == 0 && s.spec.Cell == 0 {
		return wire
	}
	return withFraming(&s.spec, wire, fragments)
}

// withFraming adds what the line adds. Fragments are full but for the last; each is
// withFraming by itself, so for cells the others count as equal shares.
func withFraming(r *Rate, wire int64, fragments int) int64 {
	n := int64(fragments)
	wire = max(1, wire+n*int64(r.Overhead))
	if r.Cell == 0 {
		return wire
	}
	cell := int64(r.Cell)
	each := (wire + n - 1) / n
	return n * ((each + cell - 1) / cell) * int64(r.Cell+r.CellOverhead)
}

// departure returns when a packet has left the line, and reserves the line until then.
// ok is false if the packet would wait longer than maxWait.
func (s *rateStage) departure(now time.Duration, wire int64) (at time.Duration, ok bool) {
	if s.traced.opportunities != nil {
		return s.traced.leaves(max(now, s.idle), now+maxWait, wire)
	}
	if s.idle-now > maxWait {
		return 0, false
	}
	if s.idle < now {
		s.idle, s.rest = now, 0
	}
	s.idle += s.sendingTime(wire)
	return max(now, s.idle-s.ahead), true
}

// sendingTime returns how long the line takes to send wire bytes. Fractions of a
// nanosecond carry over to the next packet, so a busy line sends exactly at its rate.
func (s *rateStage) sendingTime(wire int64) time.Duration {
	work := uint64(wire)*8*uint64(time.Second) + s.rest // in units of 1/rate ns; below 2^57 + 2^40
	s.rest = work % s.rate
	return time.Duration(work / s.rate)
}

func (s *rateStage) fork() specStage {
	c := *s
	c.queued = s.queued.Clone()
	return &c
}

func (s *rateStage) describe(now time.Duration, step *Step) {
	s.removeSent(now)
	step.Ahead, step.Room = Queued{s.queued.Len(), s.backlog}, s.spec.Queue
}

func (s *rateStage) gauge(now time.Duration, g *Gauges) {
	s.removeSent(now)
	g.Queue, g.Peak = Queued{s.queued.Len(), s.backlog}, s.peak
}

func (*Rate) row() stageRow {
	return stageRow{
		name:    StageRate,
		initial: func(s *Spec) { s.Rate.Queue = 64_000 },
		make:    func(p *stageContext) specStage { return &rateStage{files: p.files} },
		keys: []keyRow{
			newKey(setting.Rate, func(s *Spec) *int64 { return &s.Rate.BitsPerSecond }, KeyInfo{
				Key: "rate", Stage: "rate", Ladder: []string{
					"64kbit", "128kbit", "256kbit", "384kbit", "512kbit", "768kbit", "1mbit", "1.5mbit", "2mbit", "3mbit",
					"5mbit", "10mbit", "20mbit", "50mbit", "100mbit", "1gbit", "off"},
				Help: "what the line carries, IPv4 and UDP headers included; kbps, kbit and kbit/s are 1000 bits a second, KB/s 1000 bytes",
			}),
			newKey(setting.Size, func(s *Spec) *int64 { return &s.Rate.Queue }, KeyInfo{
				Key: "queue", Stage: "rate", Ladder: []string{
					"4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1MB", "off"},
				Help: "bytes waiting or being sent that the drop-tail queue before the line holds; off: no limit. Nothing happens " +
					"here while rate is off",
			}),
			newKey(setting.OrOff(setting.Count("packets", 1, 1_000_000)), func(s *Spec) *int { return &s.Rate.QueuePackets }, KeyInfo{
				Key: "queue_packets", Stage: "rate", Ladder: []string{"1", "2", "5", "10", "20", "50", "100", "200", "500", "1000", "off"},
				Help: "datagrams waiting or being sent that the queue holds, beside its limit in bytes; off: no such limit",
			}),
			newKey(setting.Count("bytes", -28, 1500), func(s *Spec) *int { return &s.Rate.Overhead }, KeyInfo{
				Key: "rate_overhead", Stage: "rate", Ladder: []string{"0", "4", "8", "14", "18", "38"},
				Help:   "bytes that the line adds to each IP packet: 14 for Ethernet, 38 with preamble, checksum and gap; below 0 takes headers away",
				Source: "tc-netem(8), rate PACKETOVERHEAD",
			}),
			newKey(setting.OrOff(setting.Count("bytes", 1, 65535)), func(s *Spec) *int { return &s.Rate.Cell }, KeyInfo{
				Key: "rate_cell", Stage: "rate", Ladder: []string{"off", "48"},
				Help:   "bytes of a cell's payload: packets are cut into cells, the last one padded; 48 is ATM's",
				Source: "tc-netem(8), rate CELLSIZE",
			}),
			newKey(setting.Count("bytes", 0, 1500), func(s *Spec) *int { return &s.Rate.CellOverhead }, KeyInfo{
				Key: "rate_cell_overhead", Stage: "rate", Ladder: []string{"0", "5"},
				Help:   "bytes that the line adds to each cell; 5 is ATM's",
				Source: "tc-netem(8), rate CELLOVERHEAD",
			}),
			newKey(bucketUnit(), func(s *Spec) *int64 { return &s.Rate.Burst }, KeyInfo{
				Key: "rate_burst", Stage: "rate", Ladder: []string{"off", "2KB", "4KB", "8KB", "16KB", "32KB", "64KB", "128KB",
					"256KB", "1MB"},
				Help: "bytes of a token bucket: so much leaves the line at once after a pause; off: none",
			}),
			newFile(lineTrace, "a trace of delivery opportunities", false, func(s *Spec) *tracefile.File { return &s.Rate.Trace }, KeyInfo{
				Key: "rate_trace", Stage: "rate",
				Help:   "a recorded line instead of a rate: one millisecond a line, each an opportunity to deliver 1504 bytes, begun anew at its end",
				Source: "R. Netravali et al., Mahimahi, 2015",
			}),
		},
	}
}

// bucketUnit returns the unit of rate_burst: a size, or "off" for no bucket.
func bucketUnit() setting.Unit[int64] {
	u := setting.Size
	u.Expected = `a size from 1B to 1TiB, such as "16KB", or "off" for none`
	return u
}
