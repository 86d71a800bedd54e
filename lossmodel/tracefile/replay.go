package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/random"
)

// Losses and Delays read a capture as a *Replay: for what was lost or copied, and for
// how long packets took.
var (
	Losses = &Kind{func(data []byte) (any, error) { return readReplay(data, false) }}
	Delays = &Kind{func(data []byte) (any, error) { return readReplay(data, true) }}
)

// replay is a capture made ready to be replayed.
type replay struct {
	rows   []row
	at     []time.Duration // when each was sent, from 0 and never decreasing
	period time.Duration   // after which it repeats by time; 0: the capture has no times
}

// row is what happened to one datagram.
type row struct {
	Lost   bool
	Took   time.Duration   // of a lost one: what the one before it took
	Copies []time.Duration // that arrived: how much later than took, or earlier
}

var errNoTimes = errors.New("by=time needs a column send_us with times that go on")

// readReplay reads a capture. With delays, how long packets took must be there and
// make sense.
func readReplay(data []byte, delays bool) (*replay, error) {
	c, err := capture.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if delays && !c.HasDelay {
		return nil, errors.New("delays need a column recv_us or delay_us")
	}
	seq, err := c.Sequence()
	if err != nil {
		return nil, err
	}
	r := &replay{rows: make([]row, len(seq.Datagrams)), at: make([]time.Duration, len(seq.Datagrams))}
	took := firstTook(seq.Datagrams)
	for i := range seq.Datagrams {
		d := &seq.Datagrams[i]
		switch {
		case !d.Lost:
			took = d.Took
		case len(d.Copies) > 0:
			took = d.Copies[0]
		}
		row := row{Lost: d.Lost, Took: took}
		for _, t := range d.Copies[:min(len(d.Copies), random.MaxCopies)] {
			row.Copies = append(row.Copies, t-took)
		}
		r.rows[i] = row
		if err := plausible(d, took, delays); err != nil {
			return nil, err
		}
	}
	r.times(seq.Datagrams, c.HasSent)
	return r, nil
}

// firstTook returns what the first packet that arrived took: those lost before it
// are given the same.
func firstTook(all []capture.Datagram) time.Duration {
	for i := range all {
		if !all[i].Lost {
			return all[i].Took
		}
	}
	return 0
}

func plausible(d *capture.Datagram, took time.Duration, delays bool) error {
	for _, t := range append([]time.Duration{took}, d.Copies...) {
		switch {
		case t > setting.MaxDelay:
			return fmt.Errorf("packet %d takes %v, expected at most %v", d.Seq, t, setting.MaxDelay)
		case t < 0 && delays:
			return fmt.Errorf("packet %d arrives %v before it is sent: the clocks differ; put them right, or fit a model, which copes",
				d.Seq, -t)
		}
	}
	return nil
}

// times sets when packets were sent. The capture repeats one mean interval after
// its last packet.
func (r *replay) times(all []capture.Datagram, known bool) {
	if n := len(all); known && n > 1 {
		for i := range all {
			r.at[i] = max(0, all[i].Sent-all[0].Sent)
			if i > 0 {
				r.at[i] = max(r.at[i], r.at[i-1])
			}
		}
		r.period = r.at[n-1] + r.at[n-1]/time.Duration(n-1)
	}
}

// Cursor is the position of a stage in a replay. Each stage that plays one counts
// the datagrams it has seen.
type Cursor struct {
	replay *replay
	byTime bool
	seen   uint64
	row    *row // of the present datagram
}

// Play returns the row for a datagram or a copy of it; a copy gets its datagram's.
func (c *Cursor) Play(now time.Duration, number int) *row {
	if number > 0 {
		return c.row
	}
	i := int(c.seen % uint64(len(c.replay.rows)))
	if c.byTime {
		t := now % c.replay.period
		i = sort.Search(len(c.replay.at), func(i int) bool { return c.replay.at[i] > t }) - 1
	}
	c.seen++
	c.row = &c.replay.rows[i]
	return c.row
}

// Set makes the cursor play a file that is open; its position is kept.
func (c *Cursor) Set(files *Library, f File, kind *Kind) {
	c.replay, c.byTime = files.Get(f, kind).(*replay), f.ByTime
}
