package view

import "fmt"

// Standing is what a server expects a row to need.
type Standing uint8

// The standings.
const (
	Right    Standing = iota // the client shows the true value
	UnderWay                 // a packet under way contains the true value
	Waiting                  // the row should be sent
	Blocked                  // it should be sent, but equals the reference: an ack must change the reference first
)

// Reason explains the priority of a row.
type Reason struct {
	Row      int
	Standing Standing
	Packet   uint64  // that is under way with the row, if Standing is UnderWay
	Error    float64 // of what the client is expected to show: mm for cubes, steps for other rows
	Priority uint64  // by the policy, with the newest packet; 0 unless the row waits
	Waited   int     // frames since the row should be sent
	Bits     int     // that the row is estimated to take
	Factor   float64 // of the interest in the row, 0 to 1
	First    bool    // one of the rows that precede all others
}

// Explain returns why row i has its priority for client s, as of the newest frame.
func (f *Filler) Explain(s *Server, i int) Reason {
	cur, shown := f.row(f.cur.Table, i), s.row(s.expected, i)
	r := Reason{Row: i, Factor: 1, First: f.isFirst(i)}
	if EqualRows(cur, shown) {
		if s.expectedIn[i] != 0 {
			r.Standing, r.Packet = UnderWay, uint64(s.expectedIn[i])-1
		}
		return r
	}
	r.Standing = Waiting
	if EqualRows(cur, s.row(s.ref.Table, i)) {
		r.Standing = Blocked
	}
	r.Error, r.Bits = float64(f.metric.Distance(cur, shown))/ErrorUnit, f.estimateBits(s, i)
	r.Waited = int(f.frames - s.since[i])
	if f.interest.active {
		f.interest.aim(f)
		r.Factor = float64(f.interest.factor(f, i)) / 1024
	}
	accumulated := s.accumulated[i]
	r.Priority = f.priority(s, i, cur, shown)
	s.accumulated[i] = accumulated // priority has accumulated once more
	return r
}

// Text explains the reason in words. unit is that of errors, such as "mm".
func (r *Reason) Text(unit string) string {
	switch r.Standing {
	case Right:
		return "right"
	case UnderWay:
		return fmt.Sprintf("under way in packet %d", r.Packet)
	}
	text := fmt.Sprintf("%.0f %s off, waits %d frames, %d bits", r.Error, unit, r.Waited, r.Bits)
	if r.Factor < 1 {
		text += fmt.Sprintf(", × %.2f for its distance", r.Factor)
	}
	if r.First {
		text += ", precedes the others"
	}
	if r.Standing == Blocked {
		text += "; equals the reference: needs an ack first"
	}
	return text
}
