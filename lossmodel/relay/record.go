package relay

import (
	"bufio"
	"io"
	"strconv"

	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// record writes the outcome of the datagrams of one direction as CSV, as package capture
// reads it: recv_us is when the link meant a datagram to leave. Further columns say whose
// it was, its size, and when it really left; with the seed they tell its fate again.
type record struct {
	way  Way
	out  *bufio.Writer
	line []byte
}

// NewRecord begins a record.
func NewRecord(w io.Writer, way Way) *record {
	r := &record{way: way, out: bufio.NewWriter(w)}
	r.out.WriteString("seq,send_us,recv_us,copy,client,bytes,left_us\n") // bufio's errors stick
	return r
}

// Write adds the rows that an event settles.
func (r *record) Write(e *Event) error {
	if e.Way != r.way {
		return nil
	}
	switch e.Kind {
	case Entered:
		if e.Verdict.Lost != lossmodel.None {
			r.row(e, 0, true)
		}
		for i, lost := range e.Verdict.CopyLost[:e.Verdict.Copies] {
			if lost != lossmodel.None {
				r.row(e, i+1, true)
			}
		}
	case Left, abandoned:
		r.row(e, e.Copy, false)
	default:
		r.row(e, e.Copy, true)
	}
	return nil
}

// row writes one row. recv_us is empty for what was still under way.
func (r *record) row(e *Event, number int, lost bool) {
	b := strconv.AppendUint(r.line[:0], e.Seq, 10)
	b = capture.AppendMicros(append(b, ','), e.Sent)
	switch b = append(b, ','); {
	case lost:
		b = append(b, "lost"...)
	case e.Kind == Left:
		b = capture.AppendMicros(b, e.Due)
	}
	b = strconv.AppendInt(append(b, ','), int64(number), 10)
	b = strconv.AppendInt(append(b, ','), int64(e.Client.Turn), 10)
	b = strconv.AppendInt(append(b, ','), int64(len(e.Data)), 10)
	switch b = append(b, ','); e.Kind {
	case Left:
		b = capture.AppendMicros(b, e.At)
	case overrun:
		b = append(b, "overrun"...)
	case unsent:
		b = append(b, "unsent"...)
	}
	r.line = append(b, '\n')
	_, _ = r.out.Write(r.line)
}

// Flush writes out what is buffered.
func (r *record) Flush() error { return r.out.Flush() }
