package playout

import (
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// mirror is Mirror's snapshot interpolation (SnapshotInterpolation.cs), with its constants: it displays a
// timeline that runs at normal speed, 2 % faster or 4 % slower, depending on the smoothed distance to the
// newest snapshot. The timeline is kept within one buffer time of its target, so it can jump.
type mirror struct {
	interval, buffer     time.Duration
	dynamic              bool // buffer follows the deviation of the delivery times
	tolerance            time.Duration
	catchup, slowdown    time.Duration // in millionths
	drift, delivery      movingMean
	started              bool
	line, advancedAt     time.Duration // the timeline, and when it was advanced to that value
	speed                time.Duration // difference from normal speed in millionths
	newest               time.Duration // source time of the newest snapshot
	newestAt, previousAt time.Duration // when it arrived, and when the newest one before it did
}

func newMirror(p policy.Policy, interval time.Duration) *mirror {
	rate := int64(time.Second / interval)
	m := &mirror{interval: interval, dynamic: p.Int("buffer") == 0, tolerance: time.Duration(p.Int("tolerance")) * interval,
		catchup: time.Duration(p.Int("catchup")), slowdown: time.Duration(p.Int("slowdown")),
		drift: newMovingMean(rate), delivery: newMovingMean(2 * rate)} // of one second, and of two
	m.buffer = time.Duration(p.Int("buffer")) * interval
	if m.dynamic {
		m.buffer = 2 * interval // until delivery times are known
	}
	return m
}

func (m *mirror) arrive(now, source time.Duration) {
	if m.dynamic && m.started {
		m.buffer = m.interval + m.delivery.deviation() + m.tolerance
	}
	if !m.started {
		m.started, m.line, m.advancedAt = true, source-m.buffer, now
		m.newest, m.newestAt = source, now
	} else {
		if source > m.newest {
			m.previousAt, m.newest, m.newestAt = m.newestAt, source, now
		}
		m.delivery.add(m.newestAt - m.previousAt)
	}
	m.advance(now)
	goal := source - m.buffer
	m.line = max(goal-m.buffer, min(m.line, goal+m.buffer))
	m.drift.add(source - m.line)
	switch drift := m.drift.value() - m.buffer; { // more than one interval away from the target
	case drift > m.interval:
		m.speed = m.catchup
	case drift < -m.interval:
		m.speed = -m.slowdown
	default:
		m.speed = 0
	}
}

// advance advances the timeline to now.
func (m *mirror) advance(now time.Duration) {
	step := now - m.advancedAt
	m.line += step + step*m.speed/1e6
	m.advancedAt = now
}

func (m *mirror) target(now time.Duration) time.Duration {
	m.advance(now)
	return m.line
}

// lightyear is the interpolation delay of lightyear: max(ratio * send interval, 5 ms) + 4 * jitter + one
// tick behind the mean transit time. lightyear measures the jitter by pings; here it is the deviation of
// the transit time.
type lightyear struct {
	margin     time.Duration // delay without jitter
	deviations time.Duration // delay in standard deviations of the transit time
	transit    movingMean
}

// lightyearSamples is the number of snapshots over which the transit time is averaged.
const lightyearSamples = 60

func (l *lightyear) arrive(now, source time.Duration) { l.transit.add(now - source) }

func (l *lightyear) target(now time.Duration) time.Duration {
	return now - l.transit.value() - l.margin - l.deviations*l.transit.deviation()
}

// decayingHistogram is a histogram of times in milliseconds that forgets, in integers.
type decayingHistogram struct {
	quantile uint64                 // in millionths
	keep     uint64                 // share of the weights that stays when a value is added, in 1/32768
	weights  [histogramRange]uint64 // value v ms has weight weights[v], in 1/2^30
	low, end int                    // only the weights from low to end-1 are not zero
	sum      uint64                 // of weights
	n        uint64                 // values added
}

// histogramRange is the number of values of a decayingHistogram. Times from 4 s on count as the last value.
const histogramRange = 4000

// newDecayingHistogram returns a histogram for the parameters quantile and forget of p. A value is added
// every interval.
func newDecayingHistogram(p policy.Policy, interval time.Duration) decayingHistogram {
	lost := min(32768*interval/p.Duration("forget"), 32767)
	return decayingHistogram{quantile: uint64(p.Int("quantile")), keep: 32768 - uint64(max(lost, 1))}
}

// add adds a value. At first all values have the same weight, until there are enough for the decay.
func (h *decayingHistogram) add(v time.Duration) {
	h.n++
	keep := min(h.keep, 32768*h.n/(h.n+1))
	h.sum = 0
	for i := h.low; i < h.end; i++ {
		h.weights[i] = h.weights[i] * keep >> 15
		h.sum += h.weights[i]
	}
	for h.low < h.end && h.weights[h.low] == 0 {
		h.low++
	}
	for h.low < h.end && h.weights[h.end-1] == 0 {
		h.end--
	}
	i := min(max(int(v/time.Millisecond), 0), len(h.weights)-1)
	if h.low == h.end {
		h.low, h.end = i, i+1
	}
	h.low, h.end = min(h.low, i), max(h.end, i+1)
	weight := uint64(1<<30) * (32768 - keep) >> 15
	h.weights[i] += weight
	h.sum += weight
}

// valueAt returns the value at quantile p, in millionths, rounded up to a whole millisecond.
func (h *decayingHistogram) valueAt(p uint64) time.Duration {
	sum := uint64(0)
	for i := h.low; i < h.end; i++ {
		sum += h.weights[i]
		if sum*1e6 >= h.sum*p {
			return time.Duration(i+1) * time.Millisecond
		}
	}
	return time.Duration(h.end) * time.Millisecond
}

// delayQuantile displays a snapshot when a share of the snapshots would have arrived: one send interval
// after a quantile of the transit time above its minimum of the last two seconds. It does not see losses.
type delayQuantile struct {
	interval time.Duration // between two snapshots
	least    ring.Minimum  // of the transit time
	transit  decayingHistogram
}

// leastWindow is the time over which delayQuantile takes the minimum.
const leastWindow = 2 * time.Second

func (d *delayQuantile) arrive(now, source time.Duration) {
	d.least.Add(now, now-source)
	d.least.DropBefore(now - leastWindow)
	d.transit.add(now - source - d.least.Value())
}

func (d *delayQuantile) target(now time.Duration) time.Duration {
	return now - d.least.Value() - d.interval - d.transit.valueAt(d.transit.quantile)
}

// ageQuantile displays the state whose age is a quantile of the age of the newest snapshot, sampled at each
// display tick: if the quantile is 99 %, a newer snapshot has arrived on 99 % of the ticks. It needs
// neither a clock offset nor the send interval, and a lost snapshot counts like a late one.
type ageQuantile struct {
	ages         decayingHistogram
	started      bool
	base         time.Duration // subtracted from ages, because the clocks of both ends are not synchronised
	newest       time.Duration // source time of the newest snapshot
	outage       time.Duration // ages this much above the usual minimum are left out; 0 leaves none out
	outageTicks  int           // display ticks after which an outage counts as the new normal
	ticksOut     int           // display ticks since the current outage began; 0 if none
	ticksTooLong int           // display ticks in a row with an age beyond the range of ages
}

const (
	ageMargin    = 500 * time.Millisecond // by which ages may become less than that of the first snapshot
	usualMinimum = 10_000                 // quantile of the age above which an outage begins, in millionths
	usualTicks   = 60                     // display ticks before outages are recognised
)

// arrive begins again with an empty histogram if the ages have left its range.
func (a *ageQuantile) arrive(now, source time.Duration) {
	delay := now - source
	if !a.started || delay < a.base || a.ticksTooLong > a.outageTicks {
		a.ages = decayingHistogram{quantile: a.ages.quantile, keep: a.ages.keep}
		a.started, a.base, a.ticksOut, a.ticksTooLong = true, delay-ageMargin, 0, 0
	}
	a.newest = max(a.newest, source)
}

func (a *ageQuantile) target(now time.Duration) time.Duration {
	age := now - a.newest - a.base
	if age < histogramRange*time.Millisecond {
		a.ticksTooLong = 0
	} else {
		a.ticksTooLong++
	}
	if a.outage > 0 && a.ages.n > usualTicks && age > a.ages.valueAt(usualMinimum)+a.outage {
		a.ticksOut++
	} else {
		a.ticksOut = 0
	}
	if a.ticksOut == 0 || a.ticksOut > a.outageTicks {
		a.ages.add(age)
	}
	return now - a.base - a.ages.valueAt(a.ages.quantile)
}
