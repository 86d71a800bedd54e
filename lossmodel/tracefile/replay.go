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

// Losses and Delays read a capture for a Cursor. Delays requires that the capture has delays.
var (
	Losses = &Kind{func(data []byte) (any, error) { return readReplay(data, false) }}
	Delays = &Kind{func(data []byte) (any, error) { return readReplay(data, true) }}
)

// replay is a capture that was prepared so that a link can repeat its losses and delays.
type replay struct {
	rows   []row
	sentAt []time.Duration // send time of each row, from 0, non-decreasing
	period time.Duration   // time after which a replay by time repeats; 0 if the capture has no times
}

// row is the outcome of one datagram.
type row struct {
	Lost   bool
	Delay  time.Duration   // delay of the datagram; if it was lost, of its first copy or of the datagram before
	Copies []time.Duration // delays of the copies that arrived, relative to Delay; may be negative
}

// errNoTimes means that a capture cannot be replayed by time.
var errNoTimes = errors.New("by=time needs a column send_us with increasing times")

// readReplay reads a capture. With needDelays the capture must have delays that are not negative. A
// lost datagram gets the delay of its first copy that arrived, or of the datagram before.
func readReplay(data []byte, needDelays bool) (*replay, error) {
	c, err := capture.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if needDelays && !c.HasDelay {
		return nil, errors.New("delays need a column recv_us or delay_us")
	}
	seq, err := c.Sequence()
	if err != nil {
		return nil, err
	}
	r := &replay{rows: make([]row, len(seq.Datagrams)), sentAt: make([]time.Duration, len(seq.Datagrams))}
	delay := firstDelay(seq.Datagrams)
	for i := range seq.Datagrams {
		d := &seq.Datagrams[i]
		switch {
		case !d.Lost:
			delay = d.Took
		case len(d.Copies) > 0:
			delay = d.Copies[0]
		}
		row := row{Lost: d.Lost, Delay: delay}
		for _, t := range d.Copies[:min(len(d.Copies), random.MaxCopies)] {
			row.Copies = append(row.Copies, t-delay)
		}
		r.rows[i] = row
		if err := checkDelays(d, delay, needDelays); err != nil {
			return nil, err
		}
	}
	r.setTimes(seq.Datagrams, c.HasSent)
	return r, nil
}

// firstDelay returns the delay of the first datagram that arrived. Datagrams lost before it get
// this delay.
func firstDelay(all []capture.Datagram) time.Duration {
	for i := range all {
		if !all[i].Lost {
			return all[i].Took
		}
	}
	return 0
}

// checkDelays returns an error if a delay of a datagram or its copies is out of range. Negative
// delays are an error only if needDelays is set.
func checkDelays(d *capture.Datagram, delay time.Duration, needDelays bool) error {
	for _, t := range append([]time.Duration{delay}, d.Copies...) {
		switch {
		case t > setting.MaxDelay:
			return fmt.Errorf("packet %d has a delay of %v, expected at most %v", d.Seq, t, setting.MaxDelay)
		case t < 0 && needDelays:
			return fmt.Errorf("packet %d arrives %v before it is sent: the clocks differ; correct the times or fit a model",
				d.Seq, -t)
		}
	}
	return nil
}

// setTimes sets the send times, relative to the first one and not decreasing. The capture repeats
// one mean interval after its last packet. If the capture has no times (known is false) or a single
// packet, it cannot be replayed by time, and the period stays 0.
func (r *replay) setTimes(all []capture.Datagram, known bool) {
	if n := len(all); known && n > 1 {
		for i := range all {
			r.sentAt[i] = max(0, all[i].Sent-all[0].Sent)
			if i > 0 {
				r.sentAt[i] = max(r.sentAt[i], r.sentAt[i-1])
			}
		}
		r.period = r.sentAt[n-1] + r.sentAt[n-1]/time.Duration(n-1)
	}
}

// Cursor is the position of a stage in a replay. It counts the datagrams passed to the stage.
type Cursor struct {
	replay *replay
	byTime bool
	count  uint64 // datagrams so far
	row    *row   // row of the current datagram
}

// Next returns the row for the next datagram (number 0), which is sent at now, or for a copy of the
// current one (1 and up), which has the same row. By time, the row is chosen by now; otherwise the
// datagrams take the rows in order.
func (c *Cursor) Next(now time.Duration, number int) *row {
	if number > 0 {
		return c.row
	}
	i := int(c.count % uint64(len(c.replay.rows)))
	if c.byTime {
		// The row is the last one sent at or before t; the first row was sent at 0.
		t := now % c.replay.period
		i = sort.Search(len(c.replay.sentAt), func(i int) bool { return c.replay.sentAt[i] > t }) - 1
	}
	c.count++
	c.row = &c.replay.rows[i]
	return c.row
}

// SetFile makes the cursor replay a file that was opened in files as a capture. The position in
// the replay is kept.
func (c *Cursor) SetFile(files *Library, f File, kind *Kind) {
	c.replay, c.byTime = files.Get(f, kind).(*replay), f.ByTime
}
