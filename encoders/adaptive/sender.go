package adaptive

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// reportTimeout is the number of messages without a report after which a sender uses the pretrained
// model, which a restarted receiver can decode, too.
const reportTimeout = 512

// A sender encodes messages and builds the models that reports request.
type sender struct {
	endpoint
	acked       uint64   // index of the newest model that the receiver confirmed
	sinceReport int      // messages sent since the last report
	trial       []byte   // with try_all: a packet that may not be sent
	candidates  []uint64 // with try_all: models to try
}

// newSender returns a sender with the initial model.
func newSender(p settings) *sender { return &sender{endpoint: newEndpoint(p)} }

func (s *sender) Encode(dst []byte, cur *frame.Frame, _ []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Body) > maxMessage || len(cur.Table) > 0 {
		return dst, nil, fmt.Errorf("adaptive: message of %d bytes and %d numbers, expected at most %d bytes and no numbers", len(cur.Body),
			len(cur.Table), maxMessage)
	}
	used := min(s.acked, s.models.newest) // index of the model; 0 is the pretrained one
	s.sinceReport++
	const inFlight = 0 // if packets arrive in order, the receiver is one model ahead at most
	if s.sinceReport > reportTimeout || !s.isHeldByReceiver(used, inFlight) {
		used = 0
	}
	if s.params.TryAll && used > 0 {
		used = s.shortest(cur.Body, used)
	}
	dst = s.appendPacket(dst, cur.Body, used, b)
	if !s.params.Static {
		s.batches.addMessage(cur.Tick, cur.Body)
	}
	return dst, nil, nil
}

// maxModelsInFlight is the number of models that the receiver may build while a packet is in
// flight. A model takes a batch, so packets may arrive that many batches late.
const maxModelsInFlight = 3

// isHeldByReceiver reports whether the receiver still has a model when a packet arrives. The
// receiver may be one model ahead of the sender, and inFlight more models ahead by then.
func (s *sender) isHeldByReceiver(index, inFlight uint64) bool {
	return index+maxModels-1 > s.models.newest+inFlight
}

// shortest encodes message with every model up to newest that both endpoints have and returns the index of
// the model that gives the shortest packet. The receiver always has newest and 0, the pretrained model.
func (s *sender) shortest(message []byte, newest uint64) uint64 {
	best, size := newest, 0
	s.candidates = s.models.appendAvailable(s.candidates[:0])
	for _, i := range s.candidates {
		if i > newest || i > 0 && i < newest && !s.isHeldByReceiver(i, maxModelsInFlight) {
			continue
		}
		s.trial = s.appendPacket(s.trial[:0], message, i, nil) // nil: a trial is not charged
		if size == 0 || len(s.trial) <= size {
			best, size = i, len(s.trial)
		}
	}
	return best
}

// Report implements encoders.Feedback. A sender has nothing to report.
func (s *sender) Report(dst []byte) []byte { return dst }

// Learn implements encoders.Feedback: it applies a report of the receiver, see receiver.Report.
func (s *sender) Learn(report []byte) error {
	if len(report) == 0 || s.params.Static {
		return fmt.Errorf("adaptive: %w: %d bytes; a report has at least 1 byte, and a sender with a static model gets none", errReport, len(report))
	}
	// held is the receiver's newest model. Its number is sent modulo 256; it is the one nearest to the
	// sender's newest model.
	held := int64(s.models.newest) + int64(int8(report[0]-uint8(s.models.newest)))
	if held < 0 || held > int64(s.models.newest)+1 {
		return fmt.Errorf("adaptive: %w: receiver's newest model is %d, expected at most %d", errReport, held, s.models.newest+1)
	}
	if len(report) > 1 {
		ids, hash, err := s.parseRequest(report[1:])
		if err != nil {
			return err
		}
		s.applyRequest(uint64(held), ids, hash)
	}
	if uint64(held) <= s.models.newest { // an old or repeated report does not lower acked
		s.acked, s.sinceReport = max(s.acked, uint64(held)), 0
	}
	return nil
}

// parseRequest reads a request: a byte with the number of batches, the numbers of the batches, oldest first (16 bits
// each), and the hash of their statistics (32 bits). The error wraps errReport.
func (s *sender) parseRequest(src []byte) (ids []uint16, hash uint32, err error) {
	n := int(src[0])
	if n < 1 || n > maxAge+1 || len(src) != 1+2*n+4 {
		return nil, 0, fmt.Errorf("adaptive: %w: request of %d bytes for %d batches, expected 5 bytes and 2 per batch, for 1 to %d batches", errReport,
			len(src), n, maxAge+1)
	}
	var list [maxAge + 1]uint16
	for i := range n {
		list[i] = binary.LittleEndian.Uint16(src[1+2*i:])
		if int(list[i]) >= s.batches.batchesPerPeriod() || !s.batches.started || s.batches.age(s.batches.newest, list[i]) < 0 ||
			i > 0 && s.batches.age(list[i], list[i-1]) <= 0 {
			return nil, 0, fmt.Errorf("adaptive: %w: batch %d was never sent or is out of order", errReport, list[i])
		}
	}
	return list[:n], binary.LittleEndian.Uint32(src[1+2*n:]), nil
}

// applyRequest builds model index from the batches ids, unless it exists already, or the sender's
// statistics of these batches are missing or do not have the hash.
func (s *sender) applyRequest(index uint64, ids []uint16, hash uint32) {
	if index < s.models.newest || index == s.models.newest && (index == 0 || s.models.hash == hash) {
		return // a repeated request
	}
	if own, ok := s.fingerprint(ids); !ok || own != hash {
		return // forgotten, or the receiver wrongly assumed that a batch was complete
	}
	if index == s.models.newest { // a restarted receiver requests another model with the same number
		s.models.pop()
	}
	s.buildNextModel(ids, hash)
}

func (s *sender) Gauges() []encoders.Gauge { return s.gauges() }
