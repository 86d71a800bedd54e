package playout

import (
	"math"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/internal/window"
)

// Policies are the playout policies that adapt to the arrivals.
var Policies = policy.Set{
	{Name: "mirror", Summary: "Mirror's dynamic snapshot interpolation: two intervals plus the deviation of the delivery times",
		Params: []policy.Param{
			policy.Count("buffer", 0, 0, 32, "fixed number of intervals to buffer; 0 adapts the number"),
			policy.Count("tolerance", 1, 0, 32, "intervals added to one interval and the deviation"),
			policy.Percent("catchup", 20_000, 0, 500_000, "how much faster the display runs when it is late"),
			policy.Percent("slowdown", 40_000, 0, 500_000, "how much slower the display runs when it is early"),
		}},
	{Name: "lightyear", Summary: "lightyear: a multiple of the send interval plus a multiple of the jitter plus one tick",
		Params: []policy.Param{
			policy.Percent("ratio", 1_700_000, 0, 10_000_000, "delay in send intervals"),
			policy.Time("least", 5*time.Millisecond, 0, time.Second, "the least delay for the interval"),
			policy.Count("jitter", 4, 0, 32, "delay in standard deviations of the transit time"),
			speedParam(50_000),
		}},
	{Name: "delay", Summary: "quantile of the transit time above its minimum of two seconds, plus one send interval, as NetEq does",
		Params: []policy.Param{quantileParam(990_000), forgetParam, speedParam(250_000)}},
	{Name: "age", Summary: "quantile of the age of the newest snapshot at display ticks; counts losses as it counts delay",
		Params: []policy.Param{quantileParam(999_000), forgetParam,
			policy.Time("outage", 150*time.Millisecond, 0, 10*time.Second,
				"ages this much above the usual ones are left out for two seconds, because no delay outlasts an outage; 0ms leaves none out"),
			speedParam(250_000)}},
}

// forgetParam is the parameter for how fast histograms adapt.
var forgetParam = policy.Time("forget", 8*time.Second, time.Second, time.Hour, "time after which a sample has 1/e of its weight")

// quantileParam returns the parameter for the quantile that the display waits for.
func quantileParam(def int64) policy.Param {
	return policy.Percent("quantile", def, 500_000, 999_999, "share of the samples that are in time")
}

// speedParam returns the parameter for the speed of corrections.
func speedParam(def int64) policy.Param {
	return policy.Percent("speed", def, 10_000, 500_000, "how much faster or slower the display runs to correct its delay")
}

// MaxDelay is the longest fixed playout delay.
const MaxDelay = time.Hour

// Timing selects how long a display delays snapshots: by a fixed delay, or by a policy. Timings can be
// compared with ==.
type Timing struct {
	Delay  time.Duration // fixed playout delay; 0 if Policy is set
	Policy policy.Policy // zero for a fixed delay
}

// Fixed returns the timing with a fixed playout delay.
func Fixed(delay time.Duration) Timing { return Timing{Delay: delay} }

// ParseTiming parses a time such as "85ms" or a policy such as "age quantile=99%". The error is a
// *setting.KeyError.
func ParseTiming(text string) (Timing, error) {
	if d, ok := units.ParseDuration(text); ok {
		if d < 0 || d > MaxDelay {
			return Timing{}, &setting.KeyError{Key: "delay", Value: setting.FormatValue(text), Expected: `a time from 0s to 1h, such as "85ms"`}
		}
		return Fixed(d), nil
	}
	p, err := Policies.Parse(text)
	return Timing{Policy: p}, err
}

// IsFixed reports whether the delay is fixed.
func (t Timing) IsFixed() bool { return t.Policy == policy.Policy{} }

// String returns the text for ParseTiming, with all parameters of a policy.
func (t Timing) String() string {
	if t.IsFixed() {
		return t.Delay.String()
	}
	return t.Policy.String()
}

// Label returns the text for ParseTiming without parameters that have their default.
func (t Timing) Label() string {
	if t.IsFixed() {
		return "fixed " + units.FormatDuration(t.Delay)
	}
	return t.Policy.Label()
}

// Rhythm contains the intervals that a playout policy is configured with.
type Rhythm struct {
	Send    time.Duration // between two snapshots
	Display time.Duration // between two display ticks
	Tick    time.Duration // between two ticks of the source
}

// estimator is a playout policy: it observes arrivals, and chooses the source time that the display
// should show.
type estimator interface {
	// arrive records a snapshot with source time source that was decoded at now.
	arrive(now, source time.Duration)
	// target returns the source time that the display should show at now. It is called once for each display
	// tick, and only after the first arrival.
	target(now time.Duration) time.Duration
}

// pace limits how the displayed time follows the target of an estimator.
type pace struct {
	ppm      time.Duration // the displayed time runs faster or slower by at most this share, in millionths
	deadband time.Duration // smaller differences are not corrected
	direct   bool          // the displayed time is the target: the estimator limits the speed itself
}

// fixedPace is the pace of a fixed playout delay: a quarter faster or slower.
var fixedPace = pace{ppm: 250_000}

func newEstimator(t Timing, r Rhythm) (estimator, pace) {
	p := t.Policy
	speed := func() pace { return pace{ppm: time.Duration(p.Int("speed"))} }
	switch p.Name() {
	case "mirror":
		return newMirror(p, r.Send), pace{direct: true}
	case "lightyear":
		with := speed()
		with.deadband = r.Tick
		return &lightyear{margin: max(r.Send*time.Duration(p.Int("ratio"))/1e6, p.Duration("least")) + r.Tick,
			deviations: time.Duration(p.Int("jitter")), transit: newMovingMean(lightyearSamples)}, with
	case "delay":
		return &delayQuantile{interval: r.Send, transit: newDecayingHistogram(p, r.Send)}, speed()
	case "age":
		return &ageQuantile{ages: newDecayingHistogram(p, r.Display), outage: p.Duration("outage"),
			outageTicks: int(2 * time.Second / r.Display)}, speed()
	}
	return &fixedDelay{delay: t.Delay}, fixedPace
}

// fixedDelay is the policy of a fixed playout delay. Like a jitter buffer, it estimates the offset of the
// receiver's clock as the minimum of (arrival time - source time) over the last five to ten seconds.
type fixedDelay struct {
	delay  time.Duration
	offset window.Minimum // of the receiver's clock, plus the latency of a snapshot
}

// OffsetPeriod is the period of the minimum of the offsets between clocks that a fixed delay estimates.
const OffsetPeriod = 5 * time.Second

func (f *fixedDelay) arrive(now, source time.Duration) { f.offset.Add(now, now-source, OffsetPeriod) }

func (f *fixedDelay) target(now time.Duration) time.Duration { return now - f.offset.Value() - f.delay }

// movingMean is an exponential moving mean and variance of times, in integers.
type movingMean struct {
	n        int64 // the newest value has the weight 2/(n+1)
	started  bool
	mean     int64 // in 1/256 ns
	variance int64 // in 1/256 square microseconds
}

// Bounds, so that the variance does not overflow: of the deviations that count, in microseconds, and of
// movingMean.n.
const (
	maxDeviation   = 1_000_000
	maxMeanSamples = 10_000
)

func newMovingMean(samples int64) movingMean {
	return movingMean{n: min(max(samples, 1), maxMeanSamples)}
}

// add adds a value.
func (m *movingMean) add(v time.Duration) {
	if !m.started {
		m.started, m.mean = true, int64(v)<<8
		return
	}
	d := int64(v)<<8 - m.mean
	m.mean += d * 2 / (m.n + 1)
	us := min(max(d/256/1000, -maxDeviation), maxDeviation)
	m.variance = (m.variance + us*us<<8*2/(m.n+1)) * (m.n - 1) / (m.n + 1)
}

func (m *movingMean) value() time.Duration { return time.Duration(m.mean >> 8) }

// deviation returns the standard deviation.
func (m *movingMean) deviation() time.Duration {
	return time.Duration(isqrt(m.variance)) * time.Microsecond / 16
}

// isqrt returns the integer part of the square root of x, 0 or more. The result is the same on all machines,
// because IEEE 754 defines the square root to the last bit.
func isqrt(x int64) int64 {
	r := int64(math.Sqrt(float64(x)))
	if r*r > x { // the conversion or the root was rounded up; the root of a square is exact
		r--
	}
	return r
}
