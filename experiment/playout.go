package experiment

import "time"

// playout is the receiver's interpolation buffer, reduced to what decides
// whether there is something to show: the newest snapshot's time against the
// moment on display. A display tick is starved when no snapshot at or after
// that moment has come; a snapshot is late when its moment has passed.
//
// The receiver does not know the link's latency. It estimates the offset of its
// clock as the least of (arrival - time of the snapshot) over the last five to
// ten seconds, as jitter buffers do, and shows what was sent offset + delay ago.
type playout struct {
	delay    time.Duration
	started  bool
	first    time.Duration // source time of the first snapshot
	newest   time.Duration // source time of the newest snapshot
	now, old time.Duration // least offset in this window and in the one before
	turn     time.Duration // when the next window begins
}

const offsetWindow = 5 * time.Second

// arrive notes a decoded snapshot and reports whether it came too late to show.
func (p *playout) arrive(now, source time.Duration) (late bool) {
	offset := now - source
	if !p.started {
		*p = playout{delay: p.delay, started: true, first: source, newest: source, now: offset, old: offset, turn: now + offsetWindow}
		return false
	}
	if now >= p.turn {
		p.old, p.now, p.turn = p.now, offset, now+offsetWindow
	}
	p.now = min(p.now, offset)
	p.newest = max(p.newest, source)
	return source < p.target(now)
}

// target returns the source time that is on display at now.
func (p *playout) target(now time.Duration) time.Duration {
	return now - min(p.now, p.old) - p.delay
}

// display makes one tick of the display: whether it has begun, and whether it
// had nothing to interpolate to.
func (p *playout) display(now time.Duration) (shown, starved bool) {
	if !p.started || p.target(now) < p.first {
		return false, false
	}
	return true, p.newest < p.target(now)
}
