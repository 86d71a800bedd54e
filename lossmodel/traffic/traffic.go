// Package traffic models other traffic that shares the bottleneck of a link: TCP downloads with CUBIC, and flows
// with a constant rate. All arithmetic is in integers and all time is virtual, so that flows can be copied
// and replayed.
package traffic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/cubic"
	"wirelab/internal/policy"
	"wirelab/internal/setting"
)

// MaxFlows is the largest number of flows on one link.
const MaxFlows = 64

// FlowsExpected describes the accepted number of flows of a group. It continues the sentence after "expected".
var FlowsExpected = fmt.Sprintf("1 to %d flows", MaxFlows)

// Kinds lists the kinds of flows.
var Kinds = policy.Set{
	{Name: "cubic", Summary: "TCP downloads with CUBIC (RFC 9438)", Params: []policy.Param{
		policy.Time("rtt", 40*time.Millisecond, time.Millisecond, 10*time.Second, "round trip without the queue"), start, stop,
		policy.Count("fast_convergence", 1, 0, 1, "1: give way to new flows, as in RFC 9438")}},
	{Name: "constant", Summary: "datagrams at a constant rate", Params: []policy.Param{
		policy.Rate("rate", 1_000_000, 1000, 1_000_000_000, "rate of each flow, with headers"),
		policy.Size("size", 1200, 64, 1500, "size of a packet, with headers"), start, stop}},
}

var (
	start = policy.Time("start", 0, 0, maxTime, "when the flow starts")
	stop  = policy.Time("stop", 0, 0, maxTime, "when the flow stops; 0: never")
)

// maxTime is the largest time of a start or a stop.
const maxTime = 1000 * time.Hour

// group is a number of equal flows. The flows of a group start stagger apart.
type group struct {
	Flows int
	Kind  policy.Policy // one of Kinds
}

// stagger is the time between the starts of two flows of a group.
const stagger = 300 * time.Millisecond

// Plan is the other traffic of a link.
type Plan []group

// Off is the text of a Plan without flows.
const Off = "off"

// Expected describes what Parse accepts. It continues the sentence after "expected".
const Expected = `flows such as "1 cubic" or "4 cubic rtt=80ms start=10s, 1 constant rate=2mbit", or "off"`

// Parse parses a plan: groups separated by commas, each a number, a kind and parameters, such as "1 cubic rtt=40ms".
// Without a number, a group has one flow. The error is a *setting.KeyError.
func Parse(text string) (Plan, error) {
	text = strings.TrimSpace(text)
	if text == Off {
		return nil, nil
	}
	var plan Plan
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		g := group{Flows: 1}
		if first, rest, _ := strings.Cut(part, " "); isNumber(first) {
			n, err := strconv.Atoi(first)
			if err != nil || n < 1 || n > MaxFlows {
				return nil, &setting.KeyError{Key: "flows", Value: setting.FormatValue(first), Expected: FlowsExpected}
			}
			g.Flows, part = n, rest
		}
		if strings.TrimSpace(part) == "" {
			return nil, &setting.KeyError{Key: "traffic", Value: setting.FormatValue(text), Expected: Expected}
		}
		var err error
		if g.Kind, err = Kinds.Parse(part); err != nil {
			return nil, err
		}
		plan = append(plan, g)
	}
	return plan, plan.Check()
}

// isNumber reports whether a word begins with a digit.
func isNumber(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// Check returns an error if there are too many flows, or if a flow stops before it starts.
func (p Plan) Check() error {
	n := 0
	for _, g := range p {
		n += g.Flows
		if stop := g.Kind.Duration("stop"); stop > 0 && stop <= g.Kind.Duration("start") {
			return &setting.KeyError{Key: "stop", Value: setting.FormatValue(g.Kind.Label()), Expected: "a stop after the start"}
		}
	}
	if n > MaxFlows {
		return &setting.KeyError{Key: "flows", Value: strconv.Itoa(n) + " flows", Expected: fmt.Sprintf("at most %d", MaxFlows)}
	}
	return nil
}

// MaxPackets is the largest number of packets per second that all flows together may send. It limits the work.
const MaxPackets = 200_000

// Packets returns how many packets per second all flows together send at most through a line with the given rate in
// bits per second, and the index of the group that sends most. TCP flows send no more than the line carries, and no
// more than a window per round trip; without a rate (0) they are not counted.
func (p Plan) Packets(lineRate int64) (total int64, busiest int) {
	var tcp, most int64
	for i, g := range p {
		n := int64(g.Flows)
		if g.Kind.Name() == "constant" {
			n = n * g.Kind.Int("rate") / (8 * g.Kind.Int("size"))
			total += n
		} else {
			n = min(n*cubic.MaxWindow*int64(time.Second)/int64(g.Kind.Duration("rtt")), lineRate/(8*tcpPacket))
			tcp += n
		}
		if n > most {
			most, busiest = n, i
		}
	}
	return total + min(tcp, lineRate/(8*tcpPacket)), busiest
}

// String returns the plan with all parameters; Parse returns an equal plan for it.
func (p Plan) String() string { return p.format(policy.Policy.String) }

// Label returns the plan without parameters that have their defaults.
func (p Plan) Label() string { return p.format(policy.Policy.Label) }

// format joins the texts of the groups.
func (p Plan) format(text func(policy.Policy) string) string {
	if len(p) == 0 {
		return Off
	}
	parts := make([]string, len(p))
	for i, g := range p {
		parts[i] = strconv.Itoa(g.Flows) + " " + text(g.Kind)
	}
	return strings.Join(parts, ", ")
}

// Packet is a packet that a flow sends.
type Packet struct {
	Number uint64 // for Flow.Left
	Bytes  int    // size of the IP packet
}

// Stats counts the packets of a flow.
type Stats struct {
	Sent          int64
	Lost          int64         // dropped by the queue
	Retransmitted int64         // of Sent
	Delivered     int64         // that arrived, without duplicates
	Bytes         int64         // payload of Delivered
	Timeouts      int64         // retransmission timeouts
	Spurious      int64         // of Timeouts: the packets had arrived or were still queued
	RTT           time.Duration // round trips, summed over Acked
	Acked         int64         // round trips measured; 0 for a constant flow
}

// Flow is one flow.
type Flow struct {
	Stats
	Kind    policy.Policy
	Started time.Duration // when it starts
	ends    time.Duration // when it stops sending
	passed  int64         // packets that left the line
	sender  sender
}

// sender is the behaviour of a flow.
type sender interface {
	// next returns when run must be called next; never if no event is due.
	next() time.Duration
	// run handles the events that are due at now and appends the packets that are sent to dst. A stopped flow sends nothing
	// more, but still handles acks.
	run(now time.Duration, stopped bool, s *Stats, dst []Packet) []Packet
	// left handles that a packet has left the line.
	left(now time.Duration, number uint64, s *Stats)
	fork() sender
}

// never is a time after all events.
const never = time.Duration(1<<63 - 1)

// newFlow returns flow i of a group that is added at now.
func newFlow(k policy.Policy, now time.Duration, i int) *Flow {
	f := &Flow{Kind: k, Started: max(now, k.Duration("start")) + time.Duration(i)*stagger, ends: never}
	if stop := k.Duration("stop"); stop > 0 {
		f.ends = stop
	}
	if k.Name() == "constant" {
		f.sender = newConstant(k, f.Started)
	} else {
		f.sender = newTCP(k, f.Started)
	}
	return f
}

// Next returns when Run must be called next; a time after all events if never.
func (f *Flow) Next() time.Duration { return f.sender.next() }

// Run handles the events of the flow that are due at now and appends the packets that it sends to dst.
func (f *Flow) Run(now time.Duration, dst []Packet) []Packet {
	n := len(dst)
	dst = f.sender.run(now, now >= f.ends, &f.Stats, dst)
	f.Sent += int64(len(dst) - n)
	return dst
}

// Left handles that a packet of the flow has left the line at now.
func (f *Flow) Left(now time.Duration, number uint64) {
	f.passed++
	f.sender.left(now, number, &f.Stats)
}

// Stop makes the flow send nothing from now on.
func (f *Flow) Stop(now time.Duration) { f.ends = min(f.ends, now) }

// Active reports whether the flow has not stopped.
func (f *Flow) Active(now time.Duration) bool { return now < f.ends }

// StoppedBy returns when the flow stopped, or now if it has not.
func (f *Flow) StoppedBy(now time.Duration) time.Duration { return min(f.ends, now) }

// Fork returns a copy with the same state.
func (f *Flow) Fork() *Flow {
	c := *f
	c.sender = f.sender.fork()
	return &c
}

// Update returns the flows of a plan that takes effect at now. Flows that are in the plan continue, the others
// stop. The position of a flow in the list never changes while its packets are in the queue; new flows are added at the
// end.
func Update(flows []*Flow, plan Plan, now time.Duration) []*Flow {
	taken := make([]bool, len(flows))
	var added []*Flow
	for _, g := range plan {
		if stop := g.Kind.Duration("stop"); stop > 0 && stop <= now {
			continue
		}
		for i := range g.Flows {
			if old := findFlow(flows, taken, g.Kind, now); old >= 0 {
				taken[old] = true
			} else {
				added = append(added, newFlow(g.Kind, now, i))
			}
		}
	}
	for i, f := range flows {
		if !taken[i] {
			f.Stop(now)
		}
	}
	for _, f := range added {
		if i := slices.IndexFunc(flows, func(old *Flow) bool { return old.isOver(now) }); i >= 0 && len(flows) == maxListed {
			flows[i] = f
		} else {
			flows = append(flows, f)
		}
	}
	return flows
}

// maxListed is the number of flows from which on a new flow takes the place of one that has stopped.
const maxListed = 4 * MaxFlows

// isOver reports whether the flow has stopped and none of its packets are in the queue.
func (f *Flow) isOver(now time.Duration) bool { return !f.Active(now) && f.Sent == f.Lost+f.passed }

// findFlow returns the index of an active flow of the given kind that is not taken; -1 if no flow is.
func findFlow(flows []*Flow, taken []bool, k policy.Policy, now time.Duration) int {
	for i, f := range flows {
		if !taken[i] && f.Kind == k && f.Active(now) {
			return i
		}
	}
	return -1
}

// constant sends packets of one size at a constant rate.
type constant struct {
	size            int
	at              time.Duration // of the next packet
	interval        time.Duration // between two packets, rounded down
	rest, remainder int64         // what rounding removes from interval, and so far from at, in 1/rate ns
	rate            int64
	number          uint64
}

// newConstant returns a flow that starts at the given time.
func newConstant(k policy.Policy, start time.Duration) *constant {
	c := &constant{size: int(k.Int("size")), rate: k.Int("rate"), at: start}
	work := int64(c.size) * 8 * int64(time.Second)
	c.interval, c.rest = time.Duration(work/c.rate), work%c.rate
	return c
}

func (c *constant) next() time.Duration { return c.at }

func (c *constant) run(now time.Duration, stopped bool, _ *Stats, dst []Packet) []Packet {
	if stopped {
		c.at = never
		return dst
	}
	for c.at <= now {
		dst = append(dst, Packet{Number: c.number, Bytes: c.size})
		c.number++
		c.at += c.interval
		c.remainder += c.rest
		if c.remainder >= c.rate {
			c.remainder -= c.rate
			c.at++
		}
	}
	return dst
}

func (c *constant) left(_ time.Duration, _ uint64, s *Stats) {
	s.Delivered++
	s.Bytes += int64(c.size - udpHeaders)
}

// udpHeaders is the size of the IPv4 and UDP headers in bytes.
const udpHeaders = 28

func (c *constant) fork() sender {
	d := *c
	return &d
}
