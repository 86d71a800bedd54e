package meters

import (
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// SamplePeriod is the length of a sample in virtual time.
const SamplePeriod = 100 * time.Millisecond

// Sample contains the counts of one period of virtual time.
type Sample struct {
	T            time.Duration // end of the period
	Encoder      string        // of the packets sent; after a swap within the period both, joined by "+"; empty without packets
	Sent         int           // packets
	PayloadBits  int64
	WireBits     int64                      // payload, the lab's header, 28 bytes of IPv4 and UDP per fragment
	FeedbackBits int64                      // on the uplink, with the same headers as WireBits
	Items        int64                      // items in the frames sent
	Changed      int64                      // rows that differed from their baseline
	Standalone   int                        // packets of encoders that send all rows whether they changed or not: see encoders.Codec
	Outcomes     [packetlog.NumOutcomes]int // packets and copies by outcome
	Repaired     int                        // packets that redundancy delivered
	UnderWay     int                        // messages that are not delivered at the end of the period
	Transport    transport
	LostBy       figures.CauseCounts // lost packets and copies by lossmodel.Cause
	BaselineAge  int64               // in ticks, summed over the packets counted in Referenced
	Referenced   int                 // packets encoded against an acked frame, not the initial state
	CrossingLoop int                 // packets encoded across a loop point: packetlog.Record.CrossesLoop
	Starved      int                 // display ticks without a snapshot to interpolate to
	Displayed    int                 // display ticks
	Late         int                 // snapshots that arrived after their display time
	// Age of the displayed state, which is the time since the sender captured it: the sum over Aged
	// display ticks, and the maximum.
	Age, Oldest time.Duration
	Aged        int
	// Largest errors of any displayed cube in the period.
	PositionErrorMM, OrientationErrorDeg float64
	// Largest errors of any displayed position and angle of a table, in the units of ErrorUnits. Interpolated is whether
	// the table has positions or angles.
	PositionError, AngleError float64
	Interpolated              bool
	Budget                    encoders.Budget
	Playouts                  []PlayoutSample // of compared playout policies; nil if none are compared
	Queue                     queue           // of the downlink, at the end of the period
	Controlled                bool            // a send-rate control decides which snapshots are sent
	Held                      int             // snapshots that it held back
	TargetBps                 int64           // rate of the control at the end, in bits per second; 0 if it has none
	View                      ViewSample      // zero without a budget
}

// queue is the content of the queue before a line.
type queue struct {
	Delay time.Duration // how long the line takes to send the content at its present rate; 0 with a trace
	Bytes int64         // of the session's packets
	Flows []int64       // bytes of each flow of other traffic, by its number; nil without other traffic
}

// Total returns the bytes of all owners.
func (q *queue) Total() int64 {
	total := q.Bytes
	for _, n := range q.Flows {
		total += n
	}
	return total
}

// Others returns the bytes of all other traffic.
func (q *queue) Others() int64 { return q.Total() - q.Bytes }

// DelayOf returns the part of the delay that is due to the given number of bytes.
func (q *queue) DelayOf(bytes int64) time.Duration {
	if total := q.Total(); total > 0 {
		return time.Duration(float64(q.Delay) * float64(bytes) / float64(total))
	}
	return 0
}

// CostsPerChange reports whether bits per changed row mean something: whether an encoder sent only changes, or all rows
// changed.
func (s *Sample) CostsPerChange() bool { return s.Standalone == 0 || s.Changed == s.Items }

// Failed returns the number of packets whose outcome is a failure; see packetlog.Outcome.Failed.
func (s *Sample) Failed() (n int) {
	for o, count := range s.Outcomes {
		if packetlog.Outcome(o).Failed() {
			n += count
		}
	}
	return n
}

// countPacket counts the size and the content of a packet that was sent.
func (s *Sample) countPacket(r *packetlog.Record) {
	s.Sent++
	s.PayloadBits += int64(r.Payload) * 8
	s.WireBits += int64(r.Wire) * 8
	s.Items += int64(r.Items)
	s.Changed += int64(r.Changed)
}

// countEncoder adds the name of the encoder of a packet to s.Encoder, if that does not end with it.
func (s *Sample) countEncoder(name string) {
	switch {
	case s.Encoder == "":
		s.Encoder = name
	case s.Encoder != name && !strings.HasSuffix(s.Encoder, "+"+name):
		s.Encoder += "+" + name
	}
}

// add adds the counts of x, which must be a later period.
func (s *Sample) add(x *Sample) {
	s.T = x.T
	s.Transport.add(&x.Transport)
	s.Sent += x.Sent
	s.PayloadBits += x.PayloadBits
	s.WireBits += x.WireBits
	s.FeedbackBits += x.FeedbackBits
	s.Items += x.Items
	s.Changed += x.Changed
	s.Standalone += x.Standalone
	s.Repaired += x.Repaired
	for o, n := range x.Outcomes {
		s.Outcomes[o] += n
	}
	for c, n := range x.LostBy {
		s.LostBy[c] += n
	}
	s.BaselineAge += x.BaselineAge
	s.Referenced += x.Referenced
	s.CrossingLoop += x.CrossingLoop
	s.Held += x.Held
	s.Starved += x.Starved
	s.Displayed += x.Displayed
	s.Late += x.Late
	s.Age += x.Age
	s.Oldest = max(s.Oldest, x.Oldest)
	s.Aged += x.Aged
	s.PositionErrorMM = max(s.PositionErrorMM, x.PositionErrorMM)
	s.OrientationErrorDeg = max(s.OrientationErrorDeg, x.OrientationErrorDeg)
	s.PositionError = max(s.PositionError, x.PositionError)
	s.AngleError = max(s.AngleError, x.AngleError)
	s.Budget.Add(&x.Budget)
	s.Queue = x.Queue
}

// samples stores the newest samples. A stored sample is never modified, so a reader may keep a slice
// of them while more are added.
type samples struct {
	maxStored int // 0 means no limit
	all       []Sample
}

// add stores a copy of x and returns a pointer to it. It drops old samples only when the slice is full.
func (s *samples) add(x *Sample) *Sample {
	if s.maxStored > 0 && len(s.all) == cap(s.all) && len(s.all) >= s.maxStored {
		// Room for as many more samples makes this copy rare. Readers keep the old array.
		s.all = append(make([]Sample, 0, 2*s.maxStored+16), s.all[len(s.all)-s.maxStored:]...)
	}
	s.all = append(s.all, *x)
	return &s.all[len(s.all)-1]
}

// stored returns the newest maxStored samples, oldest first.
func (s *samples) stored() []Sample {
	all := s.all
	if s.maxStored > 0 && len(all) > s.maxStored {
		all = all[len(all)-s.maxStored:]
	}
	return all[:len(all):len(all)]
}

// Between returns the samples whose complete periods lie between from and to. It aliases samples, which must
// be in order.
func Between(samples []Sample, from, to time.Duration) []Sample {
	i, j := 0, len(samples)
	for i < j && samples[i].T-SamplePeriod < from {
		i++
	}
	for j > i && samples[j-1].T > to {
		j--
	}
	return samples[i:j]
}

// Tail returns the samples of the last period d.
func Tail(all []Sample, d time.Duration) []Sample {
	return all[max(0, len(all)-int(d/SamplePeriod)):]
}
