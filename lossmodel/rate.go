package lossmodel

import (
	"cmp"
	"slices"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
	"wirelab/internal/setting"
	"wirelab/lossmodel/queue"
	"wirelab/lossmodel/tracefile"
	"wirelab/lossmodel/traffic"
)

// maxWait is the longest wait before the bottleneck. A queue without a limit also
// drops packets that would wait longer.
const maxWait = time.Hour

// rate is the bottleneck: a line and the queue before it.
type Rate struct {
	BitsPerSecond int64 // wire bytes count, see WireBytes; 0 means no bottleneck
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
	// Discipline decides which packets the queue drops and which it sends next.
	Discipline policy.Policy
}

// queuedPacket is a packet that waits before the line or is being sent.
type queuedPacket struct {
	leavesAt time.Duration // time at which the packet has left the line
	bytes    int64         // size on the line
}

// rateStage is the bottleneck: a line with a limited rate, and the queue before it. With a drop-tail queue and no other
// traffic, packets enter in order of sending, so the backlog and the time at which a packet leaves are known when it
// enters (Lindley's recursion). Otherwise field line serves the queue packet by packet.
type rateStage struct {
	line       *line // serves the queue packet by packet; nil if times are known when packets enter
	flows      []*traffic.Flow
	files      *tracefile.Library
	spec       Rate
	rate       uint64        // bits per second; 0 with a trace
	burstLead  time.Duration // how much earlier the bucket lets packets leave
	idleAt     time.Duration // time at which the line has sent all queued packets, rounded down
	remainder  uint64        // remainder of the rounding of idleAt, in units of 1/rate ns
	tracedLine tracedLine
	queue      ring.Queue[queuedPacket] // packets that have not left the line
	backlog    int64                    // bytes of the packets in queue
	peak       QueueLength              // largest content of the queue so far
}

// reshape implements specStage. The queue and the state of the line are kept. The stage is on if
// there is a rate or a trace.
func (s *rateStage) reshape(spec *Spec) bool {
	if rate := uint64(spec.Rate.BitsPerSecond); rate != s.rate {
		s.rate, s.remainder = rate, 0 // the unit of remainder depends on the rate
	}
	s.spec, s.burstLead = spec.Rate, 0
	if s.rate > 0 {
		s.burstLead = time.Duration(mulDiv(uint64(s.spec.Burst)*8, uint64(time.Second), s.rate))
	}
	if f := s.spec.Trace; f.Path != "" {
		s.tracedLine.setTrace(s.files.Get(f, opportunitiesKind).(*opportunities))
	} else {
		s.tracedLine.setTrace(nil) // packets sent by an earlier trace occupy the line until they have left
		s.idleAt = max(s.idleAt, s.tracedLine.current)
	}
	return s.isOn()
}

// isOn reports whether there is a line with a limited rate.
func (s *rateStage) isOn() bool { return s.rate > 0 || s.tracedLine.opportunities != nil }

// rewind makes the line free when the packet has left that leaves at the given time, the first one in the queue. The
// times that later packets reserved are free again.
func (s *rateStage) rewind(leaves time.Duration) {
	s.queue, s.backlog, s.remainder = ring.Queue[queuedPacket]{}, 0, 0
	s.idleAt = leaves + s.burstLead
	if t := &s.tracedLine; t.opportunities != nil {
		t.current, t.bytesLeft, t.next = leaves, 0, t.opportunities.firstAfter(leaves)
	}
}

// Apply implements Stage. A packet is lost if the queue is full or it would wait longer than maxWait;
// otherwise its delay grows by the time until it has left the line. A packet that an earlier stage
// lost does not enter the queue.
func (s *rateStage) Apply(now time.Duration, size int, f *Fate) {
	if f.Lost != None {
		return
	}
	wire := s.wireCost(size, f.Fragments)
	f.lineBytes = wire
	if s.line != nil {
		f.waits = true
		return
	}
	s.removeSent(now)
	if s.full(wire) {
		f.markLost(Queue)
		return
	}
	leaves, ok := s.departure(now, now, wire)
	if !ok {
		f.markLost(Queue)
		return
	}
	s.backlog += wire
	*s.queue.Push() = queuedPacket{leavesAt: leaves, bytes: wire}
	s.peak.Packets, s.peak.Bytes = max(s.peak.Packets, s.queue.Len()), max(s.peak.Bytes, s.backlog)
	f.Delay += leaves - now
	f.leaves, f.departs = leaves, leaves // the delay stage, if it is on, replaces departs
}

// removeSent removes the packets that have left the line by now.
func (s *rateStage) removeSent(now time.Duration) {
	for q := s.queue.At(s.queue.First()); q != nil && q.leavesAt <= now; q = s.queue.At(s.queue.First()) {
		s.backlog -= q.bytes
		s.queue.Pop()
	}
}

// full reports whether the queue has no room for a packet of wire bytes.
func (s *rateStage) full(wire int64) bool {
	return s.spec.Queue > 0 && s.backlog+wire > s.spec.Queue ||
		s.spec.QueuePackets > 0 && s.queue.Len() >= s.spec.QueuePackets
}

// wireCost returns the number of bytes that a datagram of size payload bytes takes on the line, with
// all headers and framing.
func (s *rateStage) wireCost(size, fragments int) int64 {
	return addFraming(&s.spec, int64(size+udpHeader+ipHeader*fragments), fragments)
}

// addFraming returns the size of a datagram on the line with Overhead, the header that Mahimahi counts, and cells. All
// fragments but the last are full; for cells, they are treated as if all had the same size.
func addFraming(r *Rate, wire int64, fragments int) int64 {
	n := int64(fragments)
	overhead := int64(r.Overhead)
	if r.Trace.Path != "" {
		overhead += tunHeader
	}
	wire = max(1, wire+n*overhead) // a negative overhead may exceed the size of the packet
	if r.Cell == 0 {
		return wire
	}
	cell := int64(r.Cell)
	perFragment := (wire + n - 1) / n // mean size of a fragment, rounded up
	return n * ((perFragment + cell - 1) / cell) * int64(r.Cell+r.CellOverhead)
}

// departure returns when a packet has left the line that entered the queue at entered, is sent from now on, and has
// the given size on the wire in bytes. It reserves the line until then. ok is false if the packet would wait longer
// than maxWait.
func (s *rateStage) departure(entered, now time.Duration, wire int64) (at time.Duration, ok bool) {
	if s.tracedLine.opportunities != nil {
		if entered < now {
			now-- // an opportunity at now can send a packet that was in the queue before
		}
		return s.tracedLine.departure(max(now, s.idleAt), now+maxWait, wire)
	}
	if s.idleAt-now > maxWait {
		return 0, false
	}
	if s.idleAt < now { // the line is idle
		s.idleAt, s.remainder = now, 0
	}
	s.idleAt += s.sendingTime(wire)
	return max(now, s.idleAt-s.burstLead), true // a token bucket lets packets leave before the line is idle
}

// sendingTime returns how long the line takes to send wire bytes. Fractions of a
// nanosecond carry over to the next packet, so a busy line sends exactly at its rate.
func (s *rateStage) sendingTime(wire int64) time.Duration {
	work := uint64(wire)*8*uint64(time.Second) + s.remainder // line time in units of 1/rate ns; below 2^57 + 2^40, so it does not overflow
	s.remainder = work % s.rate
	return time.Duration(work / s.rate)
}

// fork implements specStage. The queue is copied, because it is mutable.
func (s *rateStage) fork() specStage {
	c := *s
	c.queue = s.queue.Clone()
	c.flows = nil
	for _, f := range s.flows {
		c.flows = append(c.flows, f.Fork())
	}
	if s.line != nil {
		c.line = s.line.fork(&c)
	}
	return &c
}

// describe reports the content of the queue and its limit.
func (s *rateStage) describe(now time.Duration, step *Step) {
	step.QueueAhead, step.QueueLimit = s.length(now), s.spec.Queue
	if !s.spec.isDropTail() {
		step.Discipline = s.spec.Discipline.Name()
	}
}

// gauge reports the content of the queue and its maximum.
func (s *rateStage) gauge(now time.Duration, g *Gauges) { g.Queue, g.Peak = s.length(now), s.peak }

// drainTime returns how long the present rate takes to send the packets in the queue at now; 0 with a trace.
func (s *rateStage) drainTime(now time.Duration) time.Duration {
	if s.rate == 0 || s.tracedLine.opportunities != nil {
		return 0
	}
	return time.Duration(mulDiv(uint64(s.length(now).Bytes)*8, uint64(time.Second), s.rate))
}

// length returns the content of the queue. A line must have been run until now.
func (s *rateStage) length(now time.Duration) QueueLength {
	if s.line != nil {
		return QueueLength(s.line.queue.Len())
	}
	s.removeSent(now)
	return QueueLength{s.queue.Len(), s.backlog}
}

// row describes the rate stage and its keys.
func (*Rate) row() stageRow {
	return stageRow{
		name:        StageRate,
		check:       (*Spec).checkDiscipline,
		setDefaults: func(s *Spec) { s.Rate.Queue, s.Rate.Discipline = 64_000, queue.DropTail },
		newStage: func(context *stageContext) specStage {
			return &rateStage{files: context.files}
		},
		keys: []keyRow{
			newKey(setting.Rate, func(s *Spec) *int64 { return &s.Rate.BitsPerSecond }, KeyInfo{
				Key: "rate", Stage: "rate", Needs: []string{"rate_trace = off"}, Ladder: []string{
					"64kbit", "128kbit", "256kbit", "384kbit", "512kbit", "768kbit", "1mbit", "1.5mbit", "2mbit", "3mbit",
					"5mbit", "10mbit", "20mbit", "50mbit", "100mbit", "1gbit", "off"},
				Help: "capacity of the link, including IPv4 and UDP headers; kbps, kbit and kbit/s are 1000 bits per second, KB/s 1000 bytes per second",
			}),
			newKey(setting.Size, func(s *Spec) *int64 { return &s.Rate.Queue }, KeyInfo{
				Key: "queue", Stage: "rate", Needs: []string{"rate or rate_trace"}, Ladder: []string{
					"4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1MB", "off"},
				Help: "size of the queue before the link, in bytes waiting or being sent; " +
					"off: no limit",
			}),
			newKey(setting.OrOff(setting.Count("packets", 1, 1_000_000)), func(s *Spec) *int { return &s.Rate.QueuePackets }, KeyInfo{
				Key: "queue_packets", Stage: "rate", Needs: []string{"rate or rate_trace"}, Ladder: []string{"1", "2", "5", "10", "20", "50", "100", "200", "500", "1000", "off"},
				Help: "size of the queue in datagrams, in addition to its limit in bytes; off: no such limit",
			}),
			disciplineRow(),
			newKey(setting.Count("bytes", -28, 1500), func(s *Spec) *int { return &s.Rate.Overhead }, KeyInfo{
				Key: "rate_overhead", Stage: "rate", Needs: []string{"rate or rate_trace"}, Ladder: []string{"0", "4", "8", "14", "18", "38"},
				Help:   "bytes that the link adds to each IP packet: 14 for Ethernet, 38 with preamble, checksum and gap; negative values remove headers",
				Source: "tc-netem(8), rate PACKETOVERHEAD",
			}),
			newKey(setting.OrOff(setting.Count("bytes", 1, 65535)), func(s *Spec) *int { return &s.Rate.Cell }, KeyInfo{
				Key: "rate_cell", Stage: "rate", Needs: []string{"rate or rate_trace"}, Ladder: []string{"off", "48"},
				Help:   "payload of a cell in bytes: packets are split into cells, the last one padded; ATM: 48",
				Source: "tc-netem(8), rate CELLSIZE",
			}),
			newKey(setting.Count("bytes", 0, 1500), func(s *Spec) *int { return &s.Rate.CellOverhead }, KeyInfo{
				Key: "rate_cell_overhead", Stage: "rate", Needs: []string{"rate or rate_trace", "rate_cell"}, Ladder: []string{"0", "5"},
				Help:   "bytes that the link adds to each cell; ATM: 5",
				Source: "tc-netem(8), rate CELLOVERHEAD",
			}),
			newKey(bucketUnit(), func(s *Spec) *int64 { return &s.Rate.Burst }, KeyInfo{
				Key: "rate_burst", Stage: "rate", Needs: []string{"rate", "rate_trace = off"}, Ladder: []string{"off", "2KB", "4KB", "8KB", "16KB", "32KB", "64KB", "128KB",
					"256KB", "1MB"},
				Help: "size of a token bucket in bytes, which can be sent at once after a pause; off: none",
			}),
			newFileKey(opportunitiesKind, "a trace of delivery opportunities", false, func(s *Spec) *tracefile.File { return &s.Rate.Trace }, KeyInfo{
				Key: "rate_trace", Stage: "rate",
				Help:   "recorded line that replaces rate, in Mahimahi's format: each line of the file is a time in ms at which 1504 bytes can be delivered, 4 of each IP packet being Mahimahi's header; it repeats",
				Source: "R. Netravali et al., Mahimahi, 2015",
			}),
		},
	}
}

// checkDiscipline checks that the queue discipline has an effect: a netem line has a queue of its own.
func (s *Spec) checkDiscipline() error {
	if s.Netem.On && !s.Rate.isDropTail() {
		return &KeyError{Key: disciplineKey, Value: setting.FormatValue(s.Rate.Discipline.String()),
			Expected: "droptail, because a netem line has a queue of its own"}
	}
	return nil
}

// isDropTail reports whether the queue drops only packets that do not fit.
func (r *Rate) isDropTail() bool {
	return r.Discipline == queue.DropTail || r.Discipline == policy.Policy{}
}

// disciplineKey is the key of rate.Discipline.
const disciplineKey = "queue_discipline"

// disciplineRow returns the key of the queue discipline. Its errors are those of the policy, which name the parameter.
func disciplineRow() keyRow {
	k := newKey(disciplineUnit(), func(s *Spec) *policy.Policy { return &s.Rate.Discipline }, KeyInfo{
		Key: disciplineKey, Stage: "rate", Needs: []string{"rate or rate_trace"}, Ladder: queue.Texts(), Models: queue.Policies.Models(),
		Help: "decides which packets the queue drops and which it sends next; queue and queue_packets limit every queue; " +
			"with fq_codel the session and each flow of [[traffic]] have a queue of their own",
		Source: "RFC 8289, RFC 8033, RFC 8290, and Linux's tc",
	})
	setPolicy := k.Set
	k.Set = func(s *Spec, value any) error {
		if text, ok := value.(string); ok {
			if _, err := queue.Policies.Parse(text); err != nil {
				return err
			}
		}
		return setPolicy(s, value)
	}
	return k
}

// disciplineName is the name of the unit of queue disciplines.
const disciplineName = "policy"

// disciplineUnit returns the unit of queue disciplines.
func disciplineUnit() setting.Unit[policy.Policy] {
	return setting.Unit[policy.Policy]{
		Name: disciplineName, Expected: queue.Policies.Expected(),
		Parse: func(v any) (policy.Policy, bool) {
			text, _ := v.(string)
			p, err := queue.Policies.Parse(text)
			return p, err == nil
		},
		Format:  func(p policy.Policy) string { return cmp.Or(p.String(), queue.DropTail.Name()) },
		Number:  func(p policy.Policy) float64 { return float64(max(0, slices.Index(queue.Policies.Names(), p.Name()))) },
		InRange: func(policy.Policy) bool { return true },
	}
}

// bucketUnit returns the unit of rate_burst: a size, or "off" for no bucket.
func bucketUnit() setting.Unit[int64] {
	u := setting.Size
	u.Expected = `a size from 1B to 1TiB, such as "16KB", or "off" for none`
	return u
}
