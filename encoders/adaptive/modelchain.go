package adaptive

// heldModels is the number of models that an end holds beside the trained one.
const heldModels = 7

// A label names a model in a packet in three bits: one of the last seven, or the trained
// one, which every end holds.
const labelTrained = heldModels

func labelOf(index uint64) int {
	if index == 0 {
		return labelTrained
	}
	return int((index - 1) % heldModels)
}

// modelChain holds the models of one end, each made from the one before by mixing in
// batches. Model 0 is the trained one; the others are kept as differences and built when
// they are used.
type modelChain struct {
	packing
	base    tally                 // of the oldest model held
	steps   [heldModels - 1]tally // step i is what made model i of model i-1
	hash    uint32                // of the request that asked for the newest
	oldest  uint64                // the model that base is of
	newest  uint64
	ready   uint64 // the model that is ready
	isReady bool
	model   model
}

// mostSeen bounds the count of bytes in a model. Beyond it all counts are halved, so
// that the model follows a changing stream.
const mostSeen = 1 << 15

// most bounds a model, in entries.
func (p packing) most() int { return []int{256, 1536, 16384, 16384}[p.order] }

// mostStep bounds the difference between two models, in entries.
func (p packing) mostStep() int { return []int{256, 704, 4096, 8192}[p.order] }

// find returns the model of a label, and whether it is held.
func (l *modelChain) find(label int) (index uint64, ok bool) {
	if label == labelTrained {
		return 0, true
	}
	for i := l.newest; i > 0 && i+heldModels > l.newest; i-- {
		if labelOf(i) == label {
			return i, i >= l.oldest
		}
	}
	return 0, false
}

// push makes a new model of the newest one and the statistics.
func (l *modelChain) push(sums tally, hash uint32) {
	if l.newest-l.oldest == heldModels-1 {
		l.oldest++
		l.base = l.mix(l.base, *l.step(l.oldest))
	}
	l.newest++
	step := l.step(l.newest)
	*step = grow((*step)[:0], len(sums))
	copy(*step, sums)
	l.hash = hash
}

// step is the difference from model i-1 to model i.
func (l *modelChain) step(i uint64) *tally { return &l.steps[i%(heldModels-1)] }

// pop removes the newest model.
func (l *modelChain) pop() {
	if l.ready == l.newest {
		l.isReady = false
	}
	l.newest--
	l.hash = 0
}

func (l *modelChain) mix(into, sums tally) tally {
	return l.limit(l.add(into, sums), l.most(), mostSeen)
}

// use builds a model, 0 for the trained one, and returns it.
func (l *modelChain) use(index uint64) *model {
	if l.isReady && l.ready == index {
		return &l.model
	}
	top := &l.model.own[l.order]
	t, from := top.keys[:0], l.oldest
	switch {
	case index == 0:
	case l.isReady && l.ready >= l.oldest && l.ready < index:
		t, from = top.tally(l.packing), l.ready // most often the one before
	default:
		t = grow(t, len(l.base))
		copy(t, l.base)
	}
	for i := from + 1; i <= index; i++ {
		t = l.mix(t, *l.step(i))
	}
	top.keys = t
	l.model.ready(l.packing)
	l.ready, l.isReady = index, true
	return &l.model
}

// bytes returns the memory of the models.
func (l *modelChain) bytes() int {
	n := 4*cap(l.base) + l.model.bytes()
	for _, s := range l.steps {
		n += 4 * cap(s)
	}
	return n
}

// held lists the models held: the trained one, then the others in ascending order, so
// that each can be built from the one before.
func (l *modelChain) held(dst []uint64) []uint64 {
	dst = append(dst, 0)
	for i := max(l.oldest, 1); i <= l.newest; i++ {
		dst = append(dst, i)
	}
	return dst
}
