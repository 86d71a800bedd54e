package lossmodel

import (
	"time"

	"wirelab/lossmodel/random"
)

// stageKind names a stage of a link.
type stageKind string

// Names of the stages, in the order in which a packet passes them. StageNetem replaces all others.
const (
	StageDuplicate stageKind = "duplicate"
	StageLoss      stageKind = "loss"
	stageCorrupt   stageKind = "corrupt"
	StageRate      stageKind = "rate"
	StageDelay     stageKind = "delay"
	StageReorder   stageKind = "reorder"
	StageNetem     stageKind = "netem"
)

// String returns the name of the stage.
func (k stageKind) String() string { return string(k) }

// Step is what one stage did to one packet.
type Step struct {
	Stage   stageKind
	Lost    Cause         // cause of the loss if this stage dropped the packet, otherwise None
	Bad     bool          // the loss model is in its bad state
	Copies  uint8         // number of copies made by this stage
	Flipped uint16        // bits flipped by this stage
	Delay   time.Duration // delay added by this stage
	// BaseDelay is the constant part of the delay: the latency of the delay stage. The rest is
	// random.
	BaseDelay  time.Duration
	QueueAhead QueueLength // content of the queue when the packet arrived at it
	QueueLimit int64       // size limit of the queue in bytes; 0 if it has none
	Discipline string      // queue discipline; empty for drop-tail
	Draw       random.Draw // the decision by which the stage lost, copied, damaged or reordered the packet, or did not
}

// maxSteps is the capacity of a trail: one step for each stage that can be on at once, and some
// for future stages.
const maxSteps = 8

// Trail records what each stage of a link did to one packet.
type Trail struct {
	N     int // number of valid Steps
	Steps [maxSteps]Step
}

// All returns the valid steps.
func (t *Trail) All() []Step { return t.Steps[:t.N] }

// Step returns the step of stage k; nil if the stage was off.
func (t *Trail) Step(k stageKind) *Step {
	for i := range t.All() {
		if t.Steps[i].Stage == k {
			return &t.Steps[i]
		}
	}
	return nil
}

// Delay returns the sum of the delays of all stages.
func (t *Trail) Delay() (sum time.Duration) {
	for i := range t.All() {
		sum += t.Steps[i].Delay
	}
	return max(0, sum) // a link delivers no packet before it was sent
}

// Served completes the step of the rate stage of a packet whose Verdict was Waiting, from its delivery.
func (t *Trail) Served(d *Delivery) {
	if s := t.Step(StageRate); s != nil && (d.Waited > 0 || d.Lost != None) {
		s.Delay, s.Lost = d.Waited, d.Lost
	}
}

// RecordTrails makes the link record a Trail for every packet from now on. It does not affect packets.
// Until RecordTrails is called nothing is recorded.
func (l *Link) RecordTrails() {
	if l.trails == nil {
		l.trails = new([1 + MaxCopies]Trail)
	}
}

// Trail returns the trail of the datagram last sent (number 0) or of a copy of it. It is nil if
// RecordTrails was not called or there is no such copy, and valid until the next Send.
func (l *Link) Trail(number int) *Trail {
	if l.trails == nil || number < 0 || number >= len(l.trails) {
		return nil
	}
	return &l.trails[number]
}

// applyStages passes a packet of size payload bytes, sent at now, through the stages, which store
// their decisions in f. It records a trail if RecordTrails was called.
func (l *Link) applyStages(now time.Duration, size int, f *Fate) {
	if l.trails == nil {
		l.pipe.apply(now, size, f)
		return
	}
	l.pipe.applyTraced(now, size, f, &l.trails[f.Copy])
}
