package capture

import "time"

// Packet is one row: a packet, or one copy of it.
type Packet struct {
	Seq  uint64
	Copy int           // 0, or 1.. for a duplicate
	Sent time.Duration // by the sender's clock; 0 without a column send_us
	Took time.Duration // from sending to arrival; below 0 if the clocks differ; 0 if lost
	Lost bool
}

// Arrived returns when the packet came, by the receiver's clock.
func (p *Packet) Arrived() time.Duration { return p.Sent + p.Took }

// Capture is what a file held.
type Capture struct {
	Packets    []Packet // in the order of the file
	Unfinished int      // rows of packets that were under way when the capture ended
	HasSent    bool     // the file said when packets were sent
	HasDelay   bool     // the file said how long they took
}
