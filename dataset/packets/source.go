package packets

import (
	"context"
	"math"
	"sort"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/words"
)

// Kind describes captures as a kind of data, for dataset.Open.
var Kind = source.Kind{Name: "packets", Spec: "packets:FILE[,port=N][,dir=up]", Source: "a user's own", Arg: source.NeedsArgument,
	Summary: "datagrams of a real program from a capture, pcap or pcapng, at the times at which they were sent",
	Open: func(ctx context.Context, arg string, opt source.Options) (source.Source, error) {
		path, choice, err := ParseSpec(arg)
		if err != nil {
			return nil, source.BadSpec("packets:"+arg, err)
		}
		c, err := Open(ctx, path, choice)
		if err != nil {
			return nil, err
		}
		return newSource(c, opt.Loop), nil
	},
	Paths: source.FirstPath(ParseSpec)}

// datagramSource is the source of the chosen datagrams of a capture: one frame for each, with the
// payload as the body. It implements source.Source, Sized, Timed and Remarked, but not Looping: no
// datagram is coded relative to the one before, so its loop point needs no attention.
type datagramSource struct {
	source.Notes
	source.Rounds
	schema    *frame.Schema
	data      []datagram
	sendTimes []time.Duration // send time of each datagram since the first; strictly increasing
	period    time.Duration   // time from the start of one round to the start of the next, if the source loops
}

// newSource returns a source of the chosen datagrams of c, of which there is at least one. If loop is
// set, it begins again at its end after a pause of the mean length.
func newSource(c *Capture, loop bool) *datagramSource {
	s := &datagramSource{data: c.Chosen(), Rounds: source.Rounds{Total: len(c.Chosen()), Loop: loop}, Notes: c.Notes}
	s.computeTimes()
	hz := 1
	if seconds := s.period.Seconds(); seconds > 0 {
		hz = int(max(1, min(1000, math.Round(float64(len(s.data))/seconds))))
	}
	s.schema = &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable, Timed: true, TickHz: hz}
	return s
}

// computeTimes sets s.sendTimes and s.period from the times of the capture, whose clock may jump:
// each datagram follows the one before by at least a nanosecond and at most source.MaxGap, since a run could
// otherwise last for years. Remarks count the corrections.
func (s *datagramSource) computeTimes() {
	s.sendTimes = make([]time.Duration, len(s.data))
	backwards, shortened := 0, 0
	for i := 1; i < len(s.data); i++ {
		gap := time.Duration(s.data[i].At - s.data[i-1].At)
		switch {
		case gap < 0:
			backwards++
		case gap > source.MaxGap:
			shortened++
		}
		s.sendTimes[i] = s.sendTimes[i-1] + max(1, min(gap, source.MaxGap))
	}
	last := s.sendTimes[len(s.sendTimes)-1]
	s.period = last + time.Second // the period if there is only one datagram
	if n := len(s.sendTimes) - 1; n > 0 {
		s.period = last + max(last/time.Duration(n), 1)
	}
	if backwards > 0 {
		s.Remark("%s captured with an earlier time than the datagram before, and sent right after that", words.Count(backwards, "datagram"))
	}
	if shortened > 0 {
		s.Remark("%s of more than %s shortened to %[2]s", words.Count(shortened, "pause"), source.MaxGap)
	}
}

// Schema describes the frames, which have a body and no table.
func (s *datagramSource) Schema() *frame.Schema { return s.schema }

// TickTime returns when datagram n is sent. n counts from 0 through all rounds. Times that exceed
// the range of a Duration are the longest Duration.
func (s *datagramSource) TickTime(n uint64) time.Duration {
	size := uint64(len(s.sendTimes))
	round := n / size
	if round > uint64(math.MaxInt64/int64(s.period))-1 {
		return math.MaxInt64
	}
	return time.Duration(round)*s.period + s.sendTimes[n%size]
}

// TickAt returns the number of the newest datagram sent at or before t.
func (s *datagramSource) TickAt(t time.Duration) uint64 {
	round, rest := t/s.period, t%s.period
	n := sort.Search(len(s.sendTimes), func(i int) bool { return s.sendTimes[i] > rest })
	return uint64(round)*uint64(len(s.sendTimes)) + uint64(n-1)
}

// Initial makes f an empty datagram.
func (s *datagramSource) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{}) }

// Next fills f with the next datagram.
func (s *datagramSource) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.data[n].Payload})
	}
	return err
}
