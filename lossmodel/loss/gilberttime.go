package loss

import (
	"math"
	"time"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// gilbertTime is the Gilbert model in continuous time: a two-state Markov process that loses all packets in the
// bad state. Mean is the fraction of time in the bad state, Burst the mean duration of that state; both states
// have exponentially distributed durations.
//
// The state depends on the seed and on virtual time only, not on the packets. Two encoders, or a protocol that
// sends each packet twice, therefore meet the same bursts at the same times. In the Gilbert model, which counts
// packets, additional packets shorten a burst.
type gilbertTime struct {
	Mean  float64
	Burst time.Duration
}

// Bounds of gilbertTime.Burst.
const (
	minBurstTime = time.Millisecond
	maxBurstTime = setting.MaxDelay
)

func (gilbertTime) Model() string { return "gilbert" }

func (g gilbertTime) LossRate() float64 { return g.Mean }

func (g gilbertTime) Text() string { return units.FormatPercent(g.Mean) }

func (g gilbertTime) Check() error {
	if err := checkLossRate(g.Mean); err != nil {
		return err
	}
	if b := (BurstLength{Time: g.Burst}); !BurstLengthUnit.InRange(b) {
		return BurstLengthUnit.Refuse("burst", BurstLengthUnit.Format(b))
	}
	return nil
}

// goodTime returns the mean duration of the good state; 0 if the state is always bad.
func (g gilbertTime) goodTime() time.Duration {
	if g.Mean >= 1 {
		return 0
	}
	good := float64(g.Burst) * (1 - g.Mean) / g.Mean
	return time.Duration(min(max(good, 1), math.MaxInt64/1024)) // the limit leaves room for the tail of the distribution
}

// Process implements Model. The current state of prev ends at the same multiple of its mean duration.
func (g gilbertTime) Process(prev Process, _ *tracefile.Library) Process {
	p := reuse[burstClock](prev)
	before := p.mean
	p.mean = [2]time.Duration{g.goodTime(), g.Burst}
	switch {
	case !p.started || p.mean == before:
	case p.mean[stateGood] == 0:
		p.bad, p.until = true, never
	case before[stateGood] == 0: // the bad state had no end
		p.until = p.now + p.duration()
	default:
		state := p.state()
		rest := float64(p.until-p.now) / float64(before[state]) * float64(p.mean[state])
		p.until = p.now + time.Duration(min(rest, math.MaxInt64/1024))
	}
	p.start = random.NewChance(g.Mean)
	return p
}

// Timed is a Process whose state is a function of virtual time and of a random stream of its own.
type Timed interface {
	Process
	// Start sets the random stream, before the first packet. Later calls have no effect.
	Start(stream random.Stream)
	// Advance advances the state to now, before the parameters change.
	Advance(now time.Duration)
}

// Indexes of burstClock.mean.
const (
	stateGood = 0
	stateBad  = 1
)

// never is a time after the end of all runs.
const never = time.Duration(math.MaxInt64)

// burstClock is the process of gilbertTime. It draws one word for each change of the state.
type burstClock struct {
	stream  random.Stream
	mean    [2]time.Duration // mean duration of the good and of the bad state; a good state of 0 means always bad
	start   random.Chance    // probability that the first state is bad
	started bool
	bad     bool
	now     time.Duration // time of the last Advance
	until   time.Duration // when the current state ends
}

func (p *burstClock) Fork() Process { c := *p; return &c }

// state returns the index of the current state in mean.
func (p *burstClock) state() int {
	if p.bad {
		return stateBad
	}
	return stateGood
}

// duration draws the duration of the current state.
func (p *burstClock) duration() time.Duration {
	return random.ExponentialGap(p.stream.Next(0), p.mean[p.state()])
}

func (p *burstClock) Start(stream random.Stream) {
	if p.started {
		return
	}
	p.started, p.stream = true, stream
	p.bad = p.start.Hit(p.stream.Next(0))
	p.until = never
	if p.mean[stateGood] > 0 {
		p.until = p.duration()
	}
}

func (p *burstClock) Advance(now time.Duration) {
	p.now = max(p.now, now)
	for p.until <= now {
		p.bad = !p.bad
		p.until += p.duration()
	}
}

// Judge implements Process. A copy is lost with its datagram.
func (p *burstClock) Judge(pkt *Packet) {
	p.Advance(pkt.Sent)
	pkt.Bad = p.bad
	if p.bad {
		pkt.Lost = Burst
	}
}

// BurstLength is the mean length of a burst of losses: a number of packets or a time. The zero value means
// independent losses.
type BurstLength struct {
	Packets float64
	Time    time.Duration // not 0 if the burst is a time
}

// BurstLengthUnit is the unit of lengths of bursts.
var BurstLengthUnit = setting.Unit[BurstLength]{
	Name: setting.Burst.Name,
	Expected: `a mean run of lost packets from 1 to 1000000, such as 2.5, a time from 1ms to 1h, such as "30ms", ` +
		`or "off" for independent losses`,
	Min: setting.Burst.Min, Max: setting.Burst.Max,
	Parse: func(v any) (BurstLength, bool) {
		if n, ok := setting.Burst.Parse(v); ok {
			return BurstLength{Packets: n}, true
		}
		t, ok := setting.Span.Parse(v)
		return BurstLength{Time: t}, ok && t > 0
	},
	Format: func(b BurstLength) string {
		if b.Time != 0 {
			return units.FormatDuration(b.Time)
		}
		return setting.Burst.Format(b.Packets)
	},
	Number: func(b BurstLength) float64 {
		if b.Time != 0 { // beyond every number of packets on the ladder
			return setting.MaxBurst
		}
		return b.Packets
	},
	InRange: func(b BurstLength) bool {
		if b.Time != 0 {
			return b.Packets == 0 && b.Time >= minBurstTime && b.Time <= maxBurstTime
		}
		return setting.Burst.InRange(b.Packets)
	},
}
