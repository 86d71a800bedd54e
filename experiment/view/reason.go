package view

import "fmt"

// standing is what a server expects a row to need.
type standing uint8

// The standings. From Waiting on the row should be sent.
const (
	Right    standing = iota // the client shows the true value
	UnderWay                 // a packet under way contains the true value
	Waiting                  // the row should be sent
	Blocked                  // it should be sent, but equals the reference: an ack must change the reference first
	TooLarge                 // it should be sent, but did not fit into a packet alone; it is tried again every second
)

// String returns the standing in words.
func (s standing) String() string {
	return [...]string{"right", "under way", "waiting", "blocked", "too large"}[s]
}

// Reason explains the priority of a row.
type Reason struct {
	Row      int
	Standing standing
	Packet   uint64  // that is under way with the row, if standing is UnderWay
	Error    float64 // of what the client is expected to show: mm for cubes, steps for other rows
	Weighted float64 // the same with the weights of fields
	Constant float64 // what the policy adds to the error, in the same unit
	Priority uint64  // by the policy, with the newest packet; 0 unless the row waits
	Waited   int     // frames since the row should be sent
	Bits     int     // that the row is estimated to take
	Group    float64 // product of the weights of the row's groups
	Factor   float64 // of the interest in the row, 0 to 1
	First    bool    // one of the rows that precede all others
}

// Explain returns why row i has its priority for client s, as of the newest frame.
func (f *Filler) Explain(s *Server, i int) Reason {
	expected := s.expected[i]
	cost := f.cost(i, expected)
	r := Reason{Row: i, Group: 1, Factor: 1, First: f.isFirst(i)}
	if cost == 0 {
		if _, packet := s.underWay(i, len(s.records)); packet != nil {
			r.Standing, r.Packet = UnderWay, packet.seq
		}
		return r
	}
	r.Standing = Waiting
	if !f.differs(i, s.ref[i]) {
		r.Standing = Blocked
	} else if s.tooLarge.Has(i) {
		r.Standing = TooLarge
	}
	cur, shown := f.curRow(i), f.values.row(i, expected)
	r.Error, r.Weighted = float64(f.metric.Distance(cur, shown))/ErrorUnit, float64(f.metric.weighted(cur, shown))/ErrorUnit
	r.Constant, r.Bits = float64(f.ruleConstant(cur, shown))/ErrorUnit, f.estimateBits(s, i)
	r.Group = float64(f.interest.groupFactor(f, i)) / weightUnit
	row := s.waitingRowOf(i) // a copy, because priority accumulates
	r.Waited = f.waited(&row)
	f.interest.aim(f)
	if f.interest.active {
		r.Factor = float64(f.interest.factor(f, i)) / 1024
	}
	r.Priority = f.priority(s, i, &row, cost)
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
	if r.Weighted != r.Error {
		text += fmt.Sprintf(", %.0f %s with weights", r.Weighted, unit)
	}
	if r.Constant > 0 {
		text += fmt.Sprintf(", + %.3g %s constant", r.Constant, unit)
	}
	if r.Group != 1 {
		text += fmt.Sprintf(", × %.3g for its group", r.Group)
	}
	if r.Factor < 1 {
		text += fmt.Sprintf(", × %.2f for its distance", r.Factor)
	}
	if r.First {
		text += ", precedes the others"
	}
	switch r.Standing {
	case Blocked:
		text += "; equals the reference: needs an ack first"
	case TooLarge:
		text += "; does not fit into a packet alone"
	}
	return text
}
