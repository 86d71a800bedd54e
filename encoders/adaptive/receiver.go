package adaptive

import (
	"encoding/binary"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// A receiver decodes messages and controls the models.
type receiver struct {
	endpoint
	requesting bool                 // the newest model was requested, but no packet has named it yet
	builtAt    [maxModels]buildTime // model i was built at builtAt[i%maxModels]
	requested  []uint16             // batches of the newest model
	newestTick uint32               // the newest tick received
	started    bool                 // a message was received; newestTick is valid
	stride     int                  // least difference of two received ticks: the sender may send only every n-th tick

	completeBatches  int   // batches beyond maxAge that were complete
	received, missed int64 // numbers of messages that arrived and that did not
}

// A buildTime is the newest tick at the time when a model was built. Ticks wrap around, so it is
// valid only while the model is young.
type buildTime struct {
	tick  uint32
	valid bool // the tick is that of a young model
}

// maxLateness bounds the lateness of a message, in messages. A larger gap makes the receiver start
// with new batches.
const maxLateness = 1 << 14

// newReceiver returns a receiver without messages.
func newReceiver(p settings) *receiver {
	r := &receiver{endpoint: newEndpoint(p), stride: p.Batch} // until a smaller difference of ticks is received
	r.batches.onForget = r.countForgotten
	return r
}

func (r *receiver) Decode(dst *frame.Frame, src []byte, _ []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	var c rangecoder.Coder
	c.Read(src)
	newest, used := codeLabels(&c, 0, 0) // a reader ignores the arguments
	size := codeSize(&c, 0, r.params.UsualSize)
	index, ok := r.models.find(used)
	if !ok || r.predates(dst.Tick, index) {
		return nil, fmt.Errorf("adaptive: unknown model label %d: %w", used, encoders.ErrCorrupt)
	}
	var err error
	if dst.Body, err = readBody(&c, dst.Body[:0], size, r.models.build(index)); err != nil {
		return nil, err
	}
	if !r.params.Static {
		r.observe(dst, newest)
	}
	return nil, nil
}

// predates reports whether a message is older than the model that its label now means. The label
// then meant the model seven before.
func (r *receiver) predates(tick uint32, index uint64) bool {
	b := &r.builtAt[index%maxModels]
	return index > 0 && b.valid && tickDifference(b.tick, tick) <= 0
}

// tickDifference returns b-a for the lower 16 bits of ticks, in [-32768, 32767].
func tickDifference(a, b uint32) int { return int(int16(uint16(b) - uint16(a))) }

// observe updates the receiver's state with a decoded message: which models the sender has, which
// messages were missed, and the statistics. newest is the label of the sender's newest model.
func (r *receiver) observe(f *frame.Frame, newest int) {
	for i := range r.builtAt { // so long after a model was built no packet is older than the model
		if d := tickDifference(r.builtAt[i].tick, f.Tick); d > maxLateness || d < -maxLateness {
			r.builtAt[i].valid = false
		}
	}
	if index, ok := r.models.find(newest); r.requesting && ok && index == r.models.newest && !r.predates(f.Tick, index) {
		r.requesting = false
	}
	gap := tickDifference(r.newestTick, f.Tick)
	jump := r.started && (gap > maxLateness || gap < -maxLateness)
	if id, _ := r.batches.locate(f.Tick); r.requesting && (jump || r.batches.age(id, r.requested[0]) > maxAge) {
		r.models.pop() // the sender forgot the batches before the request arrived
		r.requesting = false
	}
	switch {
	case !r.started || jump:
		r.newestTick, r.started = f.Tick, true
		r.batches.forgetAll()
	case gap > 0:
		r.stride = min(r.stride, gap)
		r.missed += int64(gap/r.stride - 1) // messages between the two; late ones are subtracted below
		r.newestTick = f.Tick
	default:
		r.missed = max(0, r.missed-1) // late, not lost
	}
	r.received++
	r.batches.addMessage(f.Tick, f.Body)
}

// countForgotten counts a batch that is too old to be used, if it was complete.
func (r *receiver) countForgotten(b *batch) {
	if r.isComplete(b) {
		r.completeBatches++
	}
}

// isComplete reports whether all messages of a batch arrived. If the sender skips ticks this is an
// estimate from the stride; the fingerprint decides whether the sender accepts the request.
func (r *receiver) isComplete(b *batch) bool {
	size := r.batches.size
	if int(b.id) == r.batches.batchesPerPeriod()-1 {
		size = tickPeriod - (r.batches.batchesPerPeriod()-1)*size // the last batch of a period may be shorter
	}
	// The newest batch may still get messages, so an estimate is not enough.
	return b.messages == size || b.id != r.batches.newest && b.messages >= max(1, size/r.stride)
}

// Report implements encoders.Feedback. A report is the index of the newest model (8 bits) and,
// until the sender confirms that model, the request for it: the count of its batches (8 bits), their
// ids (16 bits each) and the fingerprint of their statistics (32 bits), which models.hash holds.
func (r *receiver) Report(dst []byte) []byte {
	if r.params.Static {
		return dst
	}
	if !r.requesting {
		r.requestModel() // sets r.requesting if enough batches are complete
	}
	dst = append(dst, uint8(r.models.newest))
	if !r.requesting {
		return dst
	}
	dst = append(dst, uint8(len(r.requested)))
	for _, id := range r.requested {
		dst = binary.LittleEndian.AppendUint16(dst, id)
	}
	return binary.LittleEndian.AppendUint32(dst, r.models.hash)
}

// requestModel builds a new model from the complete batches, the oldest first, if there are enough
// of them, and starts to request it.
func (r *receiver) requestModel() {
	r.requested = r.requested[:0]
	for age := maxAge; age >= 0 && r.batches.started; age-- {
		// The batch that is age batches before the newest one; numbers of batches repeat after a period.
		id := uint16((int(r.batches.newest) + r.batches.batchesPerPeriod() - age) % r.batches.batchesPerPeriod())
		if b := r.batches.get(id); b != nil && !b.released && r.isComplete(b) {
			r.requested = append(r.requested, id)
		}
	}
	if len(r.requested) < r.params.MinBatches {
		return
	}
	hash, ok := r.fingerprint(r.requested)
	if !ok {
		return
	}
	r.buildNextModel(r.requested, hash)
	r.requesting, r.builtAt[r.models.newest%maxModels] = true, buildTime{r.newestTick, true}
}

// Learn implements encoders.Feedback. A receiver gets no reports.
func (r *receiver) Learn([]byte) error { return nil }

// Gauges implements encoders.Gauged. A batch counts as lost if messages of it were still missing when it became
// older than maxAge and was forgotten: it can no longer become part of a model.
func (r *receiver) Gauges() []encoders.Gauge {
	shared := r.gauges() // models built, statistics, memory
	// If the sender uses only every n-th tick and n exceeds a batch, most batches have no message.
	forgotten := r.batches.expired * int64(r.batches.size) / int64(max(r.batches.size, r.stride))
	return []encoders.Gauge{
		shared[0],
		{Name: "loss seen", Unit: "%", Value: percent(r.missed, r.received+r.missed)},
		{Name: "batches lost", Unit: "%", Value: percent(max(0, forgotten-int64(r.completeBatches)), forgotten)},
		shared[2], shared[1],
	}
}

// percent returns part in percent of whole; 0 if whole is 0.
func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
