package packets

import (
	"fmt"
	"io"
	"math"
	"sort"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/words"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "packets", Spec: "packets:FILE[,port=N][,dir=up]", Source: "a user's own", Arg: source.NeedsArgument,
	Summary: "datagrams of a real program from a capture, pcap or pcapng, at the times at which they were sent",
	Open: func(arg string, opt source.Options) (source.Source, error) {
		path, choice, err := ParseSpec(arg)
		if err != nil {
			return nil, fmt.Errorf("data %q: %w: %w", "packets:"+arg, source.ErrSpec, err)
		}
		c, err := Open(opt.Context, path, choice)
		if err != nil {
			return nil, err
		}
		return NewSource(c, opt.Loop), nil
	}}

// longestGap is the longest pause between two datagrams that is kept: a clock that was
// set meanwhile would make a run last for years.
const longestGap = time.Minute

// Source makes a frame of each datagram, its payload as the body. It implements
// dataset.Source, Sized, Timed and Remarked. Where a capture begins again is no seam: no
// datagram rests on the one before it.
type Source struct {
	schema  *frame.Schema
	data    []Datagram
	at      []time.Duration // since the first; strictly rising
	period  time.Duration   // of a round, where it loops
	remarks []string
	loop    bool
	next    int
	tick    uint32
}

// NewSource makes frames of the datagrams that were chosen. One that loops begins again
// at its end, after a pause of the usual length.
func NewSource(c *Capture, loop bool) *Source {
	s := &Source{data: c.Chosen(), loop: loop, remarks: c.Remarks()}
	s.times()
	hz := 1
	if seconds := s.period.Seconds(); seconds > 0 {
		hz = int(max(1, min(1000, math.Round(float64(len(s.data))/seconds))))
	}
	s.schema = &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Each, Timed: true, TickHz: hz}
	return s
}

// times works out when each datagram leaves. Clocks may jump: nothing leaves before the
// one before it, nor more than longestGap after it.
func (s *Source) times() {
	s.at = make([]time.Duration, len(s.data))
	back, long := 0, 0
	for i := 1; i < len(s.data); i++ {
		gap := time.Duration(s.data[i].At - s.data[i-1].At)
		switch {
		case gap < 0:
			back++
			gap = 0
		case gap > longestGap:
			long++
			gap = longestGap
		}
		s.at[i] = s.at[i-1] + max(gap, 1)
	}
	last := s.at[len(s.at)-1]
	s.period = last + time.Second
	if n := len(s.at) - 1; n > 0 {
		s.period = last + max(last/time.Duration(n), 1)
	}
	if back > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%s captured before the one in front: sent right after it", words.Count(back, "datagram")))
	}
	if long > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%s of more than %s shortened to that", words.Count(long, "pause"), longestGap))
	}
}

// Schema describes datagrams: bytes, and no table.
func (s *Source) Schema() *frame.Schema { return s.schema }

// Frames returns how many datagrams there are.
func (s *Source) Frames() int { return len(s.data) }

// Remarks implements source.Remarked.
func (s *Source) Remarks() []string { return s.remarks }

// TickTime returns when datagram n leaves, counted from 0 and on through further rounds.
func (s *Source) TickTime(n uint64) time.Duration {
	size := uint64(len(s.at))
	round := n / size
	if round > uint64(math.MaxInt64/int64(s.period))-1 {
		return math.MaxInt64
	}
	return time.Duration(round)*s.period + s.at[n%size]
}

// TickAt returns the newest datagram that left by then.
func (s *Source) TickAt(t time.Duration) uint64 {
	round, rest := t/s.period, t%s.period
	n := sort.Search(len(s.at), func(i int) bool { return s.at[i] > rest })
	return uint64(round)*uint64(len(s.at)) + uint64(n-1)
}

// Initial makes f the empty datagram.
func (s *Source) Initial(f *frame.Frame) { f.Tick, f.Table, f.Body = 0, f.Table[:0], f.Body[:0] }

// Next fills f with the next datagram.
func (s *Source) Next(f *frame.Frame) error {
	if s.next == len(s.data) {
		if !s.loop {
			return io.EOF
		}
		s.next = 0
	}
	f.Tick, f.Table, f.Body = s.tick, f.Table[:0], append(f.Body[:0], s.data[s.next].Payload...)
	s.next++
	s.tick++
	return nil
}
