package meters

import (
	"reflect"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// SamplePeriod is the length of a sample in virtual time.
const SamplePeriod = 100 * time.Millisecond

// Sample contains the counts of one period of virtual time. Counts are summed when samples are joined
// unless the tag "join" says that the larger or the newer value remains. The tag "csv" names the column
// of samples.csv.
type Sample struct {
	T       time.Duration // end of the period
	Width   time.Duration // its length, which is SamplePeriod except for the last sample of a run
	Encoder string        // of the packets sent; after a swap within the period both, joined by "+"; empty without packets
	figures.Counts
	Sizes
	Shown
	UnderWay   int `csv:"under_way" join:"newer"` // messages that are not delivered at the end of the period
	Transport  transport
	Budget     encoders.Budget
	Playouts   []PlayoutSample // of compared playout policies; nil if none are compared
	Queue      queue           // of the downlink, at the end of the period
	Controlled bool            // a send-rate control decides which snapshots are sent
	Held       int             `csv:"held"`                    // snapshots that it held back
	TargetBps  int64           `csv:"target_bps" join:"newer"` // rate of the control at the end, in bits per second; 0 if it has none
	View       ViewSample      // zero without a budget
}

// Sizes contains the sizes and the content of the packets that were sent.
type Sizes struct {
	PayloadBits  int64 `csv:"payload_bits"`
	LargestBits  int64 `join:"larger"` // the largest and the smallest PayloadBits of joined samples
	SmallestBits int64 `join:"smaller"`
	WireBits     int64 `csv:"wire_bits"`     // payload, the lab's header, 28 bytes of IPv4 and UDP per fragment
	FeedbackBits int64 `csv:"feedback_bits"` // on the uplink, with the same headers as WireBits
	Items        int64 `csv:"items"`         // items in the frames sent
	Changed      int64 `csv:"changed"`       // rows that differed from their baseline
	Standalone   int   `csv:"standalone"`    // packets of encoders that send all rows whether they changed or not: see encoders.Codec
	Repaired     int   `csv:"repaired"`      // packets that redundancy delivered
	BaselineAge  int64 `csv:"baseline_age"`  // in ticks, summed over the packets counted in Referenced
	Referenced   int   `csv:"referenced"`    // packets encoded against an acked frame, not the initial state
	CrossingLoop int   `csv:"across"`        // packets encoded across a loop point: packetlog.Record.CrossesLoop
}

// Shown contains what the receiver displayed.
type Shown struct {
	Starved   int `csv:"starved"`   // display ticks without a snapshot to interpolate to
	Displayed int `csv:"displayed"` // display ticks
	Late      int `csv:"late"`      // snapshots that arrived after their display time
	// Age of the displayed state, which is the time since the sender captured it: the sum over Aged
	// display ticks, and the maximum.
	Age    time.Duration `csv:"age_ns"`
	Oldest time.Duration `csv:"oldest_ns" join:"larger"`
	Aged   int           `csv:"aged"`
	// Largest errors of any displayed cube in the period.
	PositionErrorMM     float64 `csv:"position_error_mm" join:"larger"`
	OrientationErrorDeg float64 `csv:"orientation_error_deg" join:"larger"`
	// Largest errors of any displayed position and angle of a table, in the units of ErrorUnits.
	PositionError float64 `csv:"position_error" join:"larger"`
	AngleError    float64 `csv:"angle_error" join:"larger"`
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

// CostsPerChange reports whether bits per changed row mean something: whether an encoder sent only
// changes, or all rows changed.
func (s *Sample) CostsPerChange() bool { return s.Standalone == 0 || s.Changed == s.Items }

// countPacket counts the size and the content of a packet that was sent.
func (s *Sample) countPacket(r *packetlog.Record) {
	s.Sent++
	s.PayloadBits += int64(r.Payload) * 8
	s.WireBits += int64(r.Wire) * 8
	s.Items += int64(r.Items)
	s.Changed += int64(r.Changed)
}

// countEncoder adds the name of the lane when it sent a packet to s.Encoder, if that does not end with it.
func (s *Sample) countEncoder(name string) {
	switch {
	case s.Encoder == "":
		s.Encoder = name
	case s.Encoder != name && !strings.HasSuffix(s.Encoder, "+"+name):
		s.Encoder += "+" + name
	}
}

// Join adds the counts of x, the sample of the next period.
func (s *Sample) Join(x *Sample) {
	s.T, s.Queue = x.T, x.Queue
	s.Width += x.Width
	s.Budget.Add(&x.Budget)
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(x).Elem()
	list := columns()
	for i := range list {
		list[i].join(list[i].of(to), list[i].of(from))
	}
}

// close sets what follows from the end of the period and the counts.
func (s *Sample) close() {
	s.Width = s.T - (s.T - 1).Truncate(SamplePeriod) // the period begins at a multiple of SamplePeriod
	s.LargestBits = s.PayloadBits
	s.SmallestBits = s.PayloadBits
}

// Sum returns the joined samples, which must be in order.
func Sum(list []Sample) (s Sample) {
	for i := range list {
		s.Join(&list[i])
	}
	return s
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
