package lossmodel

import "time"

// MaxWait is the longest wait before the bottleneck: a queue without a limit
// still drops what would have to wait longer.
const MaxWait = time.Hour

// Rate is the bottleneck: a line and the drop-tail queue before it.
type Rate struct {
	BitsPerSecond int64 // of wire bytes, see WireBytes; 0: no bottleneck
	Queue         int64 // bytes waiting or being sent that it holds; 0: no limit
}

// rateStage is the line. It draws nothing: whether a packet finds room depends
// on those before it. Packets enter in order of sending, so the books are exact
// (Lindley's recursion), and each packet's time is final when it enters.
type rateStage struct {
	rate    uint64        // bits per second
	limit   int64         // bytes, 0 = none
	idle    time.Duration // when the line has sent all it has
	rest    uint64        // what rounding has saved up: idle is late by rest/rate ns
	queued  ring          // packets that have not left
	backlog int64         // their bytes
}

func (s *rateStage) reshape(spec *Spec) bool {
	if rate := uint64(spec.Rate.BitsPerSecond); rate != s.rate {
		s.rate, s.rest = rate, 0
	}
	s.limit = spec.Rate.Queue
	return s.rate > 0
}

// Apply implements Stage. A lost packet never comes to the queue.
func (s *rateStage) Apply(now time.Duration, size int, f *Fate) {
	if f.Lost != None {
		return
	}
	for s.queued.n > 0 && s.queued.front().leaves <= now {
		s.backlog -= s.queued.pop().bytes
	}
	wire := int64(size + udpHeader + ipHeader*f.Fragments)
	if s.limit > 0 && s.backlog+wire > s.limit || s.idle-now > MaxWait {
		f.lose(Queue)
		return
	}
	if s.idle < now {
		s.idle, s.rest = now, 0
	}
	s.idle += s.sendingTime(wire)
	s.backlog += wire
	s.queued.push(queued{leaves: s.idle, bytes: wire})
	f.Delay += s.idle - now
}

// sendingTime returns how long the line takes for a packet. Fractions of a
// nanosecond are carried to the next one, so a busy line sends exactly its rate.
func (s *rateStage) sendingTime(wire int64) time.Duration {
	work := uint64(wire)*8*uint64(time.Second) + s.rest // in units of 1/rate ns; below 2^50 + 2^40
	s.rest = work % s.rate
	return time.Duration(work / s.rate)
}

func rateSettings() []setting {
	return []setting{
		newSetting(rateUnit, func(s *Spec) *int64 { return &s.Rate.BitsPerSecond }, KeyInfo{
			Key: "rate", Stage: "rate", Ladder: []string{
				"64kbit", "128kbit", "256kbit", "384kbit", "512kbit", "768kbit", "1mbit", "1.5mbit", "2mbit", "3mbit",
				"5mbit", "10mbit", "20mbit", "50mbit", "100mbit", "1gbit", "off"},
			Help: "what the line carries, IPv4 and UDP headers included; kbps, kbit and kbit/s are 1000 bits a second, KB/s 1000 bytes",
		}),
		newSetting(sizeUnit, func(s *Spec) *int64 { return &s.Rate.Queue }, KeyInfo{
			Key: "queue", Stage: "rate", Ladder: []string{
				"4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1MB", "off"},
			Help: "bytes waiting or being sent that the drop-tail queue before the line holds; off: no limit. Nothing happens here while rate is off",
		}),
	}
}
