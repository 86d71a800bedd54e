package adaptive

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// receiver is the end that decodes and controls the models.
type receiver struct {
	endpoint
	asking     bool               // no packet has named the newest model yet
	made       [heldModels]madeAt // model i was made at made[i%heldModels]
	ids        []uint16           // batches of the newest model
	newestTick uint32             // the newest tick received
	any        bool
	stride     int // least distance between two received ticks, because a sender may skip some

	complete     int   // batches beyond maxAge that were complete
	came, missed int64 // messages
}

// madeAt is when a model was made: the newest tick at that time. Ticks wrap around, so
// it is valid only while the model is young.
type madeAt struct {
	tick  uint32
	young bool
}

// maxLateness bounds the lateness of a message, in messages. After a gap as long the receiver
// begins with new batches.
const maxLateness = 1 << 14

func newReceiver(p settings) *receiver {
	r := &receiver{endpoint: newEndpoint(p), stride: p.Batch}
	r.batches.closed = r.close
	return r
}

// Decode implements encoders.Decoder.
func (r *receiver) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	var c rangecoder.Coder
	c.Read(src)
	newest, used := codeLabels(&c, 0, 0)
	size := codeSize(&c, 0, r.params.Message)
	index, ok := r.models.find(used)
	if !ok || r.predates(dst.Tick, index) {
		return nil, fmt.Errorf("adaptive: model %d is not held: %w", used, encoders.ErrCorrupt)
	}
	var err error
	if dst.Body, err = readBody(&c, dst.Body[:0], size, r.models.use(index)); err != nil {
		return nil, err
	}
	if !r.params.Static {
		r.observe(dst, newest)
	}
	return nil, nil
}

// predates reports whether a message is older than the model it names. Its label then
// means a model seven before.
func (r *receiver) predates(tick uint32, index uint64) bool {
	b := &r.made[index%heldModels]
	return index > 0 && b.young && between(b.tick, tick) <= 0
}

// between returns how far tick b is after tick a; ticks wrap around.
func between(a, b uint32) int { return int(int16(uint16(b) - uint16(a))) }

// observe learns from a message which models the sender has, and counts it.
func (r *receiver) observe(f *frame.Frame, newest int) {
	for i := range r.made {
		if d := between(r.made[i].tick, f.Tick); d > maxLateness || d < -maxLateness {
			r.made[i].young = false
		}
	}
	if index, ok := r.models.find(newest); r.asking && ok && index == r.models.newest && !r.predates(f.Tick, index) {
		r.asking = false
	}
	gap := between(r.newestTick, f.Tick)
	jump := r.any && (gap > maxLateness || gap < -maxLateness)
	if id, _ := r.batches.idOf(f.Tick); r.asking && (jump || r.batches.age(id, r.ids[0]) > maxAge) {
		r.models.pop() // the sender forgot the batches before the request could arrive
		r.asking = false
	}
	switch {
	case !r.any || jump:
		r.newestTick, r.any = f.Tick, true
		r.batches.forgetAll()
	case gap > 0:
		r.stride = min(r.stride, gap)
		r.missed += int64(gap/r.stride - 1)
		r.newestTick = f.Tick
	default:
		r.missed = max(0, r.missed-1) // it was only late
	}
	r.came++
	r.batches.addMessage(f.Tick, f.Body)
}

// close counts a batch that is too old to be used.
func (r *receiver) close(b *batch) {
	if r.isComplete(b) {
		r.complete++
	}
}

// isComplete reports whether all messages of a batch came, as far as is known if the sender skips
// ticks. The fingerprint decides.
func (r *receiver) isComplete(b *batch) bool {
	size := r.batches.size
	if int(b.id) == r.batches.round()-1 {
		size = ticks - (r.batches.round()-1)*size
	}
	return b.n == size || b.id != r.batches.newest && b.n >= max(1, size/r.stride)
}

// Report implements encoders.Feedback: the newest model, and the request for it until
// the sender confirms it.
func (r *receiver) Report(dst []byte) []byte {
	if r.params.Static {
		return dst
	}
	if !r.asking {
		r.ask()
	}
	dst = append(dst, uint8(r.models.newest))
	if !r.asking {
		return dst
	}
	dst = append(dst, uint8(len(r.ids)))
	for _, id := range r.ids {
		dst = binary.LittleEndian.AppendUint16(dst, id)
	}
	return binary.LittleEndian.AppendUint32(dst, r.models.hash)
}

// ask makes a new model if enough batches are complete, the oldest first.
func (r *receiver) ask() {
	r.ids = r.ids[:0]
	for back := maxAge; back >= 0 && r.batches.any; back-- {
		id := uint16((int(r.batches.newest) + r.batches.round() - back) % r.batches.round())
		if b := r.batches.get(id); b != nil && !b.spent && r.isComplete(b) {
			r.ids = append(r.ids, id)
		}
	}
	if len(r.ids) < r.params.Ask {
		return
	}
	hash, ok := r.fingerprint(r.ids)
	if !ok {
		return
	}
	r.learn(r.ids, hash)
	r.asking, r.made[r.models.newest%heldModels] = true, madeAt{r.newestTick, true}
}

// Learn implements encoders.Feedback; a receiver gets no reports.
func (r *receiver) Learn([]byte) error { return nil }

// Gauges implements encoders.Gauged.
func (r *receiver) Gauges() []encoders.Gauge {
	own := r.gauges()
	passed := r.batches.expired * int64(r.batches.size) / int64(max(r.batches.size, r.stride))
	return []encoders.Gauge{
		own[0],
		{Name: "loss seen", Unit: "%", Value: percent(r.missed, r.came+r.missed)},
		{Name: "batches lost", Unit: "%", Value: percent(max(0, passed-int64(r.complete)), passed)},
		own[2], own[1],
	}
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
