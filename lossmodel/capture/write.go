package capture

import (
	"bufio"
	"io"
	"iter"
	"strconv"
	"time"
)

// Write writes rows as seq,send_us,recv_us,copy in the format that Read reads. It stops at the
// first error of w.
func Write(w io.Writer, rows iter.Seq[Packet]) error {
	out := bufio.NewWriter(w)
	out.WriteString("seq,send_us,recv_us,copy\n") // an error is returned by Flush
	var line []byte
	for p := range rows {
		line = strconv.AppendUint(line[:0], p.Seq, 10)
		line = AppendMicros(append(line, ','), p.Sent)
		line = append(line, ',')
		if p.Lost {
			line = append(line, "lost"...)
		} else {
			line = AppendMicros(line, p.Arrived())
		}
		line = strconv.AppendInt(append(line, ','), int64(p.Copy), 10)
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// AppendMicros appends a duration in microseconds, with up to three decimals and without trailing
// zeros.
func AppendMicros(b []byte, d time.Duration) []byte {
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	b = strconv.AppendInt(b, int64(d/time.Microsecond), 10)
	if ns := int(d % time.Microsecond); ns > 0 {
		b = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return b
}
