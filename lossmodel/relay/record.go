package relay

import (
	"bufio"
	"io"
	"strconv"

	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// record is a Writer that writes the datagrams of one direction as CSV in the format of package
// capture. recv_us is the due time. The additional columns are the client, the payload size and
// the time of sending. With the seed, every fate can be computed again from a record.
type record struct {
	direction Direction
	out       *bufio.Writer
	line      []byte
}

// NewRecord returns a record and writes its header.
func NewRecord(w io.Writer, direction Direction) *record {
	r := &record{direction: direction, out: bufio.NewWriter(w)}
	r.out.WriteString("seq,send_us,recv_us,copy,client,bytes,left_us\n") // an error is returned by Flush
	return r
}

// Write writes the rows whose outcome an event determines. When a datagram enters the link, these are the rows of
// the datagram and its copies that the link loses. The other rows are written when the datagram or the copy
// leaves or is dropped.
func (r *record) Write(e *Event) error {
	if e.Way != r.direction {
		return nil
	}
	switch e.Kind {
	case Entered:
		if e.Verdict.Lost != lossmodel.None {
			r.writeRow(e, 0, true)
		}
		for i, lost := range e.Verdict.CopyLost[:e.Verdict.Copies] {
			if lost != lossmodel.None {
				r.writeRow(e, i+1, true)
			}
		}
	case Left, abandoned:
		r.writeRow(e, e.Copy, false)
	default: // dropped, unsent, overLimit
		r.writeRow(e, e.Copy, true)
	}
	return nil
}

// writeRow writes one row. If lost is true, recv_us is "lost"; otherwise it is the due time, or
// empty for a datagram still in flight. left_us is the time of sending, or why the datagram was not
// sent.
func (r *record) writeRow(e *Event, copyNumber int, lost bool) {
	b := strconv.AppendUint(r.line[:0], e.Seq, 10)
	b = capture.AppendMicros(append(b, ','), e.Sent)
	switch b = append(b, ','); {
	case lost:
		b = append(b, "lost"...)
	case e.Kind == Left:
		b = capture.AppendMicros(b, e.Due)
	}
	b = strconv.AppendInt(append(b, ','), int64(copyNumber), 10)
	b = strconv.AppendInt(append(b, ','), int64(e.Client.Number), 10)
	b = strconv.AppendInt(append(b, ','), int64(len(e.Data)), 10)
	switch b = append(b, ','); e.Kind {
	case Left:
		b = capture.AppendMicros(b, e.At)
	case overLimit:
		b = append(b, "overrun"...)
	case unsent:
		b = append(b, "unsent"...)
	}
	r.line = append(b, '\n')
	_, _ = r.out.Write(r.line)
}

// Flush writes buffered data.
func (r *record) Flush() error { return r.out.Flush() }
