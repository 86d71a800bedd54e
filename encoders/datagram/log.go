package datagram

import "slices"

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

// keep appends a record, unless there are two newer ones of its kind and key, or no room.
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

// find returns the last two records of a kind and key, nil where there are none. A negative key
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
