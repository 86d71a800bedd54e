package datagram

import "slices"

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

// Bounds of a log.
const (
	maxRecords = 160
	maxLogged  = 12 << 10 // units
)

// log holds the messages of acknowledged datagrams: of each kind and key the last two. It is the
// memo of a datagram: the logs of its references, and the datagram itself.
type log struct {
	records []record // the oldest first
	units   []byte
}

// record is one message.
type record struct {
	tick    uint32 // of its datagram
	start   uint16 // first unit of the message in the datagram
	from, n uint16 // its units in the log
	kind    uint8
	key     uint8
	now     uint32 // the datagram's clock
}

func (l *log) of(r *record) []byte { return l.units[r.from : r.from+r.n] }

// when orders records by datagram, and by place in it.
func (r *record) when() uint64 { return uint64(r.tick)<<16 | uint64(r.start) }

// merger merges logs.
type merger struct {
	count [maxKinds][256]uint8
}

// merge fills l with a, b, and the messages of a newer datagram, which are in order in own and
// units.
func (w *merger) merge(l, a, b *log, own []record, units []byte) {
	l.records, l.units = l.records[:0], l.units[:0]
	for i := len(own) - 1; i >= 0; i-- {
		w.keep(l, &own[i], units[own[i].from:own[i].from+own[i].n])
	}
	i, j := len(a.records)-1, len(b.records)-1
	for i >= 0 || j >= 0 {
		if j < 0 || i >= 0 && a.records[i].when() >= b.records[j].when() {
			if j >= 0 && a.records[i].when() == b.records[j].when() {
				j-- // the same message
			}
			w.keep(l, &a.records[i], a.of(&a.records[i]))
			i--
		} else {
			w.keep(l, &b.records[j], b.of(&b.records[j]))
			j--
		}
	}
	for i := range l.records {
		w.count[l.records[i].kind][l.records[i].key] = 0
	}
	slices.Reverse(l.records)
}

// keep appends a record, unless l holds two newer ones of its kind and key, or is full.
func (w *merger) keep(l *log, r *record, units []byte) {
	n := &w.count[r.kind][r.key]
	if *n == 2 || len(l.records) == maxRecords || len(l.units)+len(units) > maxLogged {
		return
	}
	*n++
	kept := *r
	kept.from = uint16(len(l.units))
	l.units = append(l.units, units...)
	l.records = append(l.records, kept)
}

// find returns the last two records of a kind and key, nil if none. A negative key
// stands for any.
func (l *log) find(kind uint8, key int) (last, before *record) {
	for i := len(l.records) - 1; i >= 0; i-- {
		r := &l.records[i]
		if r.kind != kind || key >= 0 && int(r.key) != key {
			continue
		}
		if last != nil {
			return last, r
		}
		last = r
	}
	return last, nil
}
