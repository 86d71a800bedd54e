package datagram

// message is a message that another is compared with.
type message struct {
	units []byte
	now   uint32 // the clock of its datagram
}

func (m message) at(i int) byte {
	if uint(i) < uint(len(m.units)) {
		return m.units[i]
	}
	return 0
}

// history is the number of units before the present one that contexts may use.
const history = 16

// walk is the position in a datagram and the state of contexts. Both ends take the same steps,
// because these depend only on what has been coded.
type walk struct {
	m    *model
	log  *log // nil if nothing was acknowledged
	n    int  // bytes of the datagram
	pos  int  // bytes done
	done int  // units done

	kind    uint8
	start   int // byte where the message began
	first   int // unit where it did
	now     uint32
	last4   uint32
	before  [maxKinds]span // the last whole message of a kind in this datagram
	records []record       // the messages so far; their units are those of this walk

	ref, ref2 message // the last two with the same key, or the last ones
	any       message // the last of the kind
	src       [sources]byte
	num       number
	units     [history + maxUnits]byte
}

type span struct {
	from, to int // units
	now      uint32
}

func (w *walk) begin(m *model, n int, l *log) {
	w.m, w.log, w.n, w.pos, w.done = m, l, n, 0, 0
	w.kind, w.start, w.first, w.now, w.last4 = 0, 0, 0, 0, 0
	w.before = [maxKinds]span{}
	w.records = w.records[:0]
	clear(w.units[:history])
	w.num = number{}
	w.refer()
}

// here returns the unit's place in the message, at its place in the model.
func (w *walk) here() int { return w.done - w.first }

func (w *walk) at() int {
	at := w.here()
	if at >= maxPlaces {
		at = maxPlaces - 4 + at&3
	}
	return int(w.kind)*maxPlaces + at
}

// group returns the group of the next bytes, nil if the next byte is in none.
func (w *walk) group() *group {
	k := &w.m.kinds[w.kind]
	at := w.pos - w.start
	if at >= len(k.at) || k.at[at] == 0 {
		return nil
	}
	g := &k.groups[k.at[at]-1]
	if w.pos+int(g.span) > w.n {
		return nil
	}
	return g
}

// unit adds a unit.
func (w *walk) unit(u byte) {
	w.units[history+w.done] = u
	w.done++
	if w.log != nil && w.here() == int(w.m.kinds[w.kind].key)+1 {
		w.refer()
	}
}

// bytes continues after the bytes of a group.
func (w *walk) bytes(b []byte) {
	for _, b := range b {
		w.last4 = w.last4<<8 | uint32(b)
	}
	w.pos += len(b)
	k := &w.m.kinds[w.kind]
	if c := int(k.clock); c >= 0 && w.pos-w.start >= c+4 && w.pos-w.start-len(b) < c+4 {
		w.now = clockTime(w.last4>>(8*uint(w.pos-w.start-c-4)), k.timing)
	}
	if w.pos >= 4 {
		if t := w.m.anchors.find(w.last4); t != 0 {
			w.next(t, 4)
			return
		}
	}
	if k.size > 0 && w.pos-w.start >= int(k.size) && w.pos < w.n {
		w.next(k.then, 0)
	}
}

// next begins a message, back bytes and units ago.
func (w *walk) next(kind uint8, back int) {
	w.close(w.done - back)
	w.kind, w.start, w.first = kind, w.pos-back, w.done-back
	w.num = number{before: w.num.before}
	w.refer()
}

// close ends the message before unit end.
func (w *walk) close(end int) {
	if end <= w.first {
		return
	}
	w.before[w.kind] = span{w.first, end, w.now}
	key := uint8(0)
	if k := int(w.m.kinds[w.kind].key); k >= 0 && k < end-w.first {
		key = w.units[history+w.first+k]
	}
	w.records = append(w.records, record{start: uint16(w.first), from: uint16(w.first), n: uint16(min(end-w.first, maxLogged)), kind: w.kind, key: key, now: w.now})
}

// refer looks up the messages to compare with. The last one of a kind may be in the same datagram.
func (w *walk) refer() {
	w.any = message{}
	if s := w.before[w.kind]; s.to > 0 {
		w.any = message{w.units[history+s.from : history+s.to], s.now}
	} else if w.log != nil {
		if r, _ := w.log.find(w.kind, -1); r != nil {
			w.any = message{w.log.of(r), r.now}
		}
	}
	w.ref, w.ref2 = w.any, w.any
	if w.log == nil {
		return
	}
	key := 0
	if k := int(w.m.kinds[w.kind].key); k >= 0 {
		if w.here() <= k {
			return
		}
		key = int(w.units[history+w.first+k])
	}
	last, before := w.log.find(w.kind, key)
	if last == nil {
		return
	}
	w.ref = message{w.log.of(last), last.now}
	w.ref2 = w.ref
	if before != nil {
		w.ref2 = message{w.log.of(before), before.now}
	}
}
