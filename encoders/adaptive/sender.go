package adaptive

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// reportTimeout is the number of messages without a report after which a sender uses the trained
// model, which a receiver that was replaced can read too.
const reportTimeout = 512

// sender is the end that encodes. It does what reports request.
type sender struct {
	endpoint
	acked       uint64 // the newest model that the receiver confirmed
	sinceReport int    // messages since a report
	trial       []byte // of try_all: a packet that may not be sent
	list        []uint64
}

func newSender(p settings) *sender { return &sender{endpoint: newEndpoint(p)} }

// Encode implements encoders.Encoder.
func (s *sender) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Body) > maxMessage || len(cur.Table) > 0 {
		return dst, nil, fmt.Errorf("adaptive: message of %d bytes and %d numbers, expected at most %d and none", len(cur.Body),
			len(cur.Table), maxMessage)
	}
	used := min(s.acked, s.models.newest)
	s.sinceReport++
	if s.sinceReport > reportTimeout || !s.safe(used, 0) {
		used = 0
	}
	if s.params.TryAll && used > 0 {
		used = s.shortest(cur.Body, used)
	}
	dst = s.write(dst, cur.Body, used, b)
	if !s.params.Static {
		s.batches.addMessage(cur.Tick, cur.Body)
	}
	return dst, nil, nil
}

// maxLateBatches is the number of models that the receiver may make while a packet is on its way.
// A model takes a batch, so packets may come that many batches late.
const maxLateBatches = 3

// safe reports whether the receiver still holds a model: it may be one model ahead, and
// later models ahead when the packet arrives.
func (s *sender) safe(index, later uint64) bool { return index+heldModels-1 > s.models.newest+later }

// shortest codes with every model that both ends hold and returns the best.
func (s *sender) shortest(message []byte, newest uint64) uint64 {
	best, size := newest, 0
	s.list = s.models.held(s.list[:0])
	for _, i := range s.list {
		if i > newest || i > 0 && i < newest && !s.safe(i, maxLateBatches) {
			continue
		}
		s.trial = s.write(s.trial[:0], message, i, nil)
		if size == 0 || len(s.trial) <= size {
			best, size = i, len(s.trial)
		}
	}
	return best
}

// Report implements encoders.Feedback; a sender has nothing to report.
func (s *sender) Report(dst []byte) []byte { return dst }

// Learn implements encoders.Feedback. A report holds the newest model of the receiver (8
// bits) and, until the sender has it, the request: the number of batches, their numbers
// (16 bits each), their fingerprint.
func (s *sender) Learn(report []byte) error {
	if len(report) == 0 || s.params.Static {
		return fmt.Errorf("adaptive: %w: %d bytes, expected some, and a sender that learns", errReport, len(report))
	}
	held := int64(s.models.newest) + int64(int8(report[0]-uint8(s.models.newest)))
	if held < 0 || held > int64(s.models.newest)+1 {
		return fmt.Errorf("adaptive: %w: it holds model %d, expected at most %d", errReport, held, s.models.newest+1)
	}
	if len(report) > 1 {
		ids, hash, err := s.parse(report[1:])
		if err != nil {
			return err
		}
		s.applyRequest(uint64(held), ids, hash)
	}
	if uint64(held) <= s.models.newest { // an old report, or one again, takes nothing back
		s.acked, s.sinceReport = max(s.acked, uint64(held)), 0
	}
	return nil
}

// parse reads a request.
func (s *sender) parse(src []byte) (ids []uint16, hash uint32, err error) {
	n := int(src[0])
	if n < 1 || n > maxAge+1 || len(src) != 1+2*n+4 {
		return nil, 0, fmt.Errorf("adaptive: %w: %d bytes that ask for %d batches", errReport, len(src), n)
	}
	var list [maxAge + 1]uint16
	for i := range n {
		list[i] = binary.LittleEndian.Uint16(src[1+2*i:])
		if int(list[i]) >= s.batches.round() || !s.batches.any || s.batches.age(s.batches.newest, list[i]) < 0 || i > 0 &&
			s.batches.age(list[i], list[i-1]) <= 0 {
			return nil, 0, fmt.Errorf("adaptive: %w: batch %d, which was never sent or is out of order", errReport, list[i])
		}
	}
	return list[:n], binary.LittleEndian.Uint32(src[1+2*n:]), nil
}

// applyRequest makes the requested model unless it exists, or the statistics are missing
// or differ.
func (s *sender) applyRequest(index uint64, ids []uint16, hash uint32) {
	if index < s.models.newest || index == s.models.newest && (index == 0 || s.models.hash == hash) {
		return // a repeated request
	}
	if own, ok := s.fingerprint(ids); !ok || own != hash {
		return // forgotten, or other statistics: a receiver may wrongly assume that a batch is complete
	}
	if index == s.models.newest { // another receiver requested another model of this number
		s.models.pop()
	}
	s.learn(ids, hash)
}

// Gauges implements encoders.Gauged.
func (s *sender) Gauges() []encoders.Gauge { return s.gauges() }
