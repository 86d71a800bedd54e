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

// Kind is this data for dataset.Open.
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

// longestGap is the longest pause between two datagrams that is kept: a clock that was
// set meanwhile would make a run last for years.
const longestGap = time.Minute

// recording makes a frame of each datagram, with its payload as the body. It implements
// source.Source, Sized, Timed and Remarked. It is not Seamed where it loops: no datagram depends
// on the one before it.
type recording struct {
	source.Notes
	source.Rounds
	schema *frame.Schema
	data   []datagram
	at     []time.Duration // since the first; strictly rising
	period time.Duration   // of a round, where it loops
}

// newSource makes frames of the datagrams that were chosen. One that loops begins again
// at its end, after a pause of the usual length.
func newSource(c *Capture, loop bool) *recording {
	s := &recording{data: c.Chosen(), Rounds: source.Rounds{Total: len(c.Chosen()), Loop: loop}, Notes: c.Notes}
	s.times()
	hz := 1
	if seconds := s.period.Seconds(); seconds > 0 {
		hz = int(max(1, min(1000, math.Round(float64(len(s.data))/seconds))))
	}
	s.schema = &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Each, Timed: true, TickHz: hz}
	return s
}

// times sets when each datagram leaves. Clocks may jump: no datagram leaves before the
// one before it, nor more than longestGap after it.
func (s *recording) times() {
	s.at = make([]time.Duration, len(s.data))
	back, long := 0, 0
	for i := 1; i < len(s.data); i++ {
		gap := time.Duration(s.data[i].At - s.data[i-1].At)
		switch {
		case gap < 0:
			back++
		case gap > longestGap:
			long++
		}
		s.at[i] = s.at[i-1] + max(1, min(gap, longestGap))
	}
	last := s.at[len(s.at)-1]
	s.period = last + time.Second
	if n := len(s.at) - 1; n > 0 {
		s.period = last + max(last/time.Duration(n), 1)
	}
	if back > 0 {
		s.Remark("%s captured before the one in front: sent right after it", words.Count(back, "datagram"))
	}
	if long > 0 {
		s.Remark("%s of more than %s shortened to that", words.Count(long, "pause"), longestGap)
	}
}

// Schema describes datagrams: bytes, and no table.
func (s *recording) Schema() *frame.Schema { return s.schema }

// TickTime returns when datagram n leaves, counted from 0 and on through further rounds.
func (s *recording) TickTime(n uint64) time.Duration {
	size := uint64(len(s.at))
	round := n / size
	if round > uint64(math.MaxInt64/int64(s.period))-1 {
		return math.MaxInt64
	}
	return time.Duration(round)*s.period + s.at[n%size]
}

// TickAt returns the newest datagram that left by t.
func (s *recording) TickAt(t time.Duration) uint64 {
	round, rest := t/s.period, t%s.period
	n := sort.Search(len(s.at), func(i int) bool { return s.at[i] > rest })
	return uint64(round)*uint64(len(s.at)) + uint64(n-1)
}

// Initial makes f the empty datagram.
func (s *recording) Initial(f *frame.Frame) { f.CopyFrom(&frame.Frame{}) }

// Next fills f with the next datagram.
func (s *recording) Next(f *frame.Frame) error {
	n, tick, err := s.Advance()
	if err == nil {
		f.CopyFrom(&frame.Frame{Tick: tick, Body: s.data[n].Payload})
	}
	return err
}
