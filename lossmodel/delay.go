package lossmodel

import (
	"fmt"
	"strings"
	"time"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// MaxDelay is the maximum value of the keys that set a delay.
const MaxDelay = setting.MaxDelay

// Delay has the parameters of the delay stage. The delay is a constant latency plus jitter plus
// the other parts. A negative sum counts as zero.
type Delay struct {
	Latency      time.Duration
	Jitter       time.Duration // unit of the distribution: half of the range if uniform, the standard deviation if normal
	Distribution Distribution
	Shape        float64 // shape of the gamma distribution: 0.5 to 16 in steps of 0.5; 0 means DefaultShape
	Correlation  float64 // exact correlation of the jitter of successive packets, from 0 to below 1
	Table        Table   // the distribution of the jitter if Distribution is Tabled
	// KeepOrder makes a packet leave this stage no earlier than the packet sent before
	// it, whatever its jitter. This increases the mean delay: see Gauges.OrderCost. Lost
	// packets take part, so that losses change no delay. A copy has the jitter of its
	// datagram and follows it. The reorder stage comes later and can still reorder.
	KeepOrder bool
	// During the last SpikeLength of every interval of SpikeEvery, packets take
	// SpikeHeight longer, as at the handover of a satellite. With KeepOrder, packets
	// sent just after a spike wait for the packets sent during it.
	SpikeEvery, SpikeHeight, SpikeLength time.Duration
	// Burst is added to packets that arrive while the loss model is in its bad state,
	// since bursts of losses often come with longer delays.
	Burst time.Duration
	// Trace is a capture whose delays are added.
	Trace tracefile.File
}

// delayStage delays packets as its spec describes.
type delayStage struct {
	stream          random.Stream
	files           *tracefile.Library
	spec            Delay
	process         jitterProcess
	trace           tracefile.Cursor
	jitter          time.Duration // jitter of the present datagram
	latestDeparture time.Duration // latest time at which a packet leaves the stage
	totalWait       time.Duration // sum of the waits that KeepOrder caused, over the datagrams that were not lost
	waitCount       uint64        // number of the datagrams in totalWait
}

// reshape implements specStage. The stage is on if a packet can be delayed or KeepOrder is set.
func (s *delayStage) reshape(spec *Spec) bool {
	s.spec = spec.Delay
	s.process.reshape(&s.spec, s.files)
	if f := s.spec.Trace; f.Path != "" {
		s.trace.SetFile(s.files, f, tracefile.Delays)
	}
	d := &s.spec
	return d.Latency > 0 || d.Jitter > 0 || d.KeepOrder || d.Burst > 0 || d.SpikeEvery > 0 || d.Trace.Path != ""
}

// Apply implements Stage: it adds the delay of this stage to f.Delay. Without jitter it uses no random
// numbers. With KeepOrder, packets do not overtake each other, and a copy has the jitter of its datagram.
func (s *delayStage) Apply(now time.Duration, _ int, f *Fate) {
	entry := now + f.Delay // when the packet enters this stage: f.Delay is the delay of the stages before it
	if s.spec.Jitter == 0 {
		s.jitter = 0
	} else if f.Copy == 0 || !s.spec.KeepOrder {
		s.jitter = s.process.next(s.stream.Next(f.Copy), f.Copy)
	}
	f.ownDelay = max(0, s.spec.Latency+s.jitter+s.extraDelay(now, f))
	if f.waits { // leave continues when the packet has left the line
		f.Delay += f.ownDelay
		return
	}
	departure := entry + f.ownDelay
	if s.spec.KeepOrder {
		departure = s.inOrder(departure, f.Copy == 0 && f.Lost == None)
	}
	s.latestDeparture = max(s.latestDeparture, departure)
	f.Delay, f.departs = departure-now, departure
}

// leave returns when a packet that left the line at now leaves the stage.
func (s *delayStage) leave(now time.Duration, p *storedPacket) time.Duration {
	departure := now + p.ownDelay
	if s.spec.KeepOrder {
		departure = s.inOrder(departure, p.copyNumber == 0)
	}
	s.latestDeparture = max(s.latestDeparture, departure)
	return departure
}

// extraDelay returns the sum of the delays that a spike, the bad state of the loss model and the trace add to a
// packet sent at now. Time is divided into intervals of SpikeEvery, and a spike lasts from SpikeLength before the
// end of each interval to its end.
func (s *delayStage) extraDelay(now time.Duration, f *Fate) (d time.Duration) {
	if every := s.spec.SpikeEvery; every > 0 && now%every >= every-s.spec.SpikeLength {
		d += s.spec.SpikeHeight
	}
	if f.Bad {
		d += s.spec.Burst
	}
	if s.spec.Trace.Path != "" {
		d += s.trace.Next(now, f.Copy).Delay
	}
	return d
}

// inOrder returns the time at which a packet leaves the stage with KeepOrder: departure, or the latest
// departure of an earlier packet if that is later. If isCounted is set, the wait is counted for
// Gauges.OrderCost; it is not for copies and lost packets.
func (s *delayStage) inOrder(departure time.Duration, isCounted bool) time.Duration {
	wait := max(0, s.latestDeparture-departure)
	if isCounted {
		s.totalWait += wait
		s.waitCount++
	}
	return departure + wait
}

func (s *delayStage) fork() specStage { c := *s; return &c }

// describe reports the latency as the constant part of the delay.
func (s *delayStage) describe(_ time.Duration, step *Step) { step.BaseDelay = s.spec.Latency }

// gauge sets g.OrderCost to the mean wait that KeepOrder caused.
func (s *delayStage) gauge(_ time.Duration, g *Gauges) {
	if s.waitCount > 0 {
		g.OrderCost = s.totalWait / time.Duration(s.waitCount)
	}
}

// row describes the delay stage and its keys.
func (*Delay) row() stageRow {
	return stageRow{
		name:  StageDelay,
		keys:  delayKeys(),
		check: (*Spec).checkDelay,
		newStage: func(context *stageContext) specStage {
			return &delayStage{stream: context.stream(StageDelay), files: context.files}
		},
	}
}

// checkDelay checks the settings of the delay stage that must fit each other: the length and the interval of
// spikes, and the distribution "table" and its table.
func (s *Spec) checkDelay() error {
	d := &s.Delay
	switch {
	case d.SpikeEvery > 0 && d.SpikeLength > d.SpikeEvery:
		return &KeyError{Key: "spike_length", Value: units.FormatDuration(d.SpikeLength),
			Expected: fmt.Sprintf("at most spike_every, which is %s", units.FormatDuration(d.SpikeEvery))}
	case d.Distribution == Tabled && d.Table == Table{}:
		return &KeyError{Key: "delay_table", Value: "off",
			Expected: "quantiles or a file, because the distribution is table"}
	}
	return nil
}

// delayKeys returns the keys of the delay stage.
func delayKeys() []keyRow {
	return []keyRow{
		latencyKey(),
		newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.Jitter }, KeyInfo{
			Key: "jitter", Stage: "delay", Ladder: spanLadder,
			Help: "variation of the delay: half of the range if uniform, the standard deviation if normal",
		}),
		newKey(distributionUnit(), func(s *Spec) *Distribution { return &s.Delay.Distribution }, KeyInfo{
			Key: "distribution", Stage: "delay", Needs: []string{"jitter"},
			Help: "distribution of the jitter; each packet has its own, so packets may overtake each other; " +
				"exponential and gamma are never negative; table uses delay_table",
			Source: "pareto and paretonormal: the tables of tc netem, by their formulas",
		}),
		newComputedKey(shapeUnit, func(s *Spec) float64 { return s.Delay.shape() }, func(s *Spec, k float64) { s.Delay.setShape(k) }, KeyInfo{
			Key: "jitter_shape", Stage: "delay", Needs: []string{"jitter", "distribution = gamma"}, Ladder: []string{"0.5", "1", "1.5", "2", "3", "4", "6", "8", "12", "16"},
			Help: "shape of the gamma distribution; 1 is exponential, higher values are more symmetric",
		}),
		newKey(jitterCorrelationUnit, func(s *Spec) *float64 { return &s.Delay.Correlation }, KeyInfo{
			Key: "jitter_correlation", Stage: "delay", Needs: []string{"jitter"}, Ladder: []string{"0%", "10%", "25%", "50%", "75%", "90%", "95%", "99%"},
			Help:   "exact correlation of the jitter of successive packets; normal jitter changes gradually, any other stays the same for some packets",
			Source: "P. A. Jacobs, P. A. W. Lewis, Discrete Time Series Generated by Mixtures, 1978",
		}),
		delayTableKey(KeyInfo{
			Key: "delay_table", Stage: "delay", Needs: []string{"jitter", "distribution = table"},
			Help: `table of distribution "table": quantiles in units of the jitter, such as "-1 0 0.5 3", or a file in tc's format with 8192 per unit`,
		}),
		newKey(setting.Switch, func(s *Spec) *bool { return &s.Delay.KeepOrder }, KeyInfo{
			Key: "keep_order", Stage: "delay", Needs: []string{"jitter or spike_every or burst_delay or delay_trace or duplicate_delay or a change of latency"},
			Help: "packets wait for earlier packets instead of overtaking them; this increases the mean delay",
		}),
		newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.SpikeEvery }, KeyInfo{
			Key: "spike_every", Stage: "delay", Needs: []string{"spike_height", "spike_length"}, Ladder: []string{"0ms", "500ms", "1s", "2s", "5s", "10s", "15s", "30s", "60s"},
			Help: "interval between delay spikes; each spike is at the end of its interval; 0ms: none",
		}),
		newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.SpikeHeight }, KeyInfo{
			Key: "spike_height", Stage: "delay", Needs: []string{"spike_every", "spike_length"}, Ladder: spanLadder,
			Help: "additional delay of packets sent during a spike",
		}),
		newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.SpikeLength }, KeyInfo{
			Key: "spike_length", Stage: "delay", Needs: []string{"spike_every", "spike_height"}, Ladder: spanLadder,
			Help: "length of a spike, at most spike_every",
		}),
		newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.Burst }, KeyInfo{
			Key: "burst_delay", Stage: "delay", Needs: []string{"loss = gilbert-elliott or loss = four-state"}, Ladder: spanLadder,
			Help: "additional delay of packets that are not lost in the bad state of a loss model (gilbert-elliott, four-state)",
		}),
		newFileKey(tracefile.Delays, "a capture", true, func(s *Spec) *tracefile.File { return &s.Delay.Trace }, KeyInfo{
			Key: "delay_trace", Stage: "delay",
			Help: `capture whose delays are added; by=time replays it by send time; "trace" sets this, duplicate_trace and loss`,
		}),
	}
}

// latencyKey returns the key latency, which also accepts latency and jitter in one text. Without a
// jitter in the text, the jitter is not changed.
func latencyKey() keyRow {
	s := newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Delay.Latency }, KeyInfo{
		Key: "latency", Stage: "delay", Ladder: spanLadder,
		Help: `one-way delay; "50ms±10ms", "50ms+-10ms" and "50ms 10ms" also set the jitter`,
	})
	setLatency := s.Set
	s.Set = func(spec *Spec, value any) error {
		text, ok := value.(string)
		if !ok {
			return setLatency(spec, value)
		}
		latency, jitter, both := splitJitter(text)
		if !both {
			return setLatency(spec, value)
		}
		a, okA := setting.Span.Parse(latency)
		b, okB := setting.Span.Parse(jitter)
		if !okA || !okB || !setting.Span.InRange(a) || !setting.Span.InRange(b) {
			return &KeyError{Key: "latency", Value: setting.FormatValue(value),
				Expected: fmt.Sprintf(`%s, or two of them as in "50ms±10ms"`, setting.Span.Expected)}
		}
		spec.Delay.Latency, spec.Delay.Jitter = a, b
		return nil
	}
	return s
}

// jitterCorrelationUnit excludes 100 %, with which the jitter would never change.
var jitterCorrelationUnit = setting.Unit[float64]{
	Name: "%", Expected: `a correlation from 0% to 99.99%, such as "25%"`, Min: "0%", Max: "99.99%",
	Parse: setting.Percent.Parse, Format: units.FormatPercent,
	Number:  func(p float64) float64 { return p * 100 },
	InRange: func(p float64) bool { return p >= 0 && p <= 0.9999 },
}

// splitJitter splits "50ms±10ms" and its other spellings; ok is false if the text has no jitter.
func splitJitter(s string) (latency, jitter string, ok bool) {
	for _, sep := range []string{"±", "+-", "+/-"} {
		if latency, jitter, ok := strings.Cut(s, sep); ok {
			return latency, jitter, true
		}
	}
	// "50ms 10ms": the last of several words begins with a digit.
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, " \t")
	if i < 0 || s[i+1] < '0' || s[i+1] > '9' {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
