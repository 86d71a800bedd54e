package lossmodel

import (
	"time"
)

// StageKind names a stage of a link.
type StageKind string

// The stages that code outside this package speaks of, in the order in which a
// packet passes them; a netem line replaces all the others.
const (
	StageDuplicate StageKind = "duplicate"
	StageLoss      StageKind = "loss"
	StageCorrupt   StageKind = "corrupt"
	StageRate      StageKind = "rate"
	StageDelay     StageKind = "delay"
	StageReorder   StageKind = "reorder"
	StageNetem     StageKind = "netem"
)

// String returns what the stage is called.
func (k StageKind) String() string { return string(k) }

// Step is what one stage did to one packet.
type Step struct {
	Stage   StageKind
	Lost    Cause // None unless it was this stage that ended the packet
	Bad     bool  // the loss model is in its bad state
	Copies  uint8 // made here
	Flipped uint16
	Took    time.Duration // what the stage adds to the packet's time
	// Usual is what a packet takes without chance: the delay stage's latency. What
	// Took has beyond it, or below it, is chance.
	Usual time.Duration
	Ahead Queued // what stood in the queue when the packet came to it
	Room  int64  // bytes that the queue holds; 0: no limit, or none in bytes
}

// maxSteps is how many steps a trail holds: one for each stage that can be on at
// once, and room for more stages.
const maxSteps = 8

// Trail is a packet's way through its link, stage by stage.
type Trail struct {
	N     int // of Steps
	Steps [maxSteps]Step
}

// All returns the steps.
func (t *Trail) All() []Step { return t.Steps[:t.N] }

// Of returns what a stage did; nil if the stage was off.
func (t *Trail) Of(k StageKind) *Step {
	for i := range t.All() {
		if t.Steps[i].Stage == k {
			return &t.Steps[i]
		}
	}
	return nil
}

// Took returns the time on the way.
func (t *Trail) Took() (sum time.Duration) {
	for i := range t.All() {
		sum += t.Steps[i].Took
	}
	return max(0, sum)
}

// Watch makes the link note from now on what each stage does to each packet; it
// changes nothing that a packet could notice. Without it nothing is noted, and it
// costs nothing.
func (l *Link) Watch() {
	if l.trails == nil {
		l.trails = new([1 + MaxCopies]Trail)
	}
}

// Trail returns the way of the datagram last sent, or of a copy of it, on a link
// that is watched; nil on others. It holds until the next Send.
func (l *Link) Trail(number int) *Trail {
	if l.trails == nil || number < 0 || number >= len(l.trails) {
		return nil
	}
	return &l.trails[number]
}

// pass sends a packet through the stages, on a watched link with a note of each.
func (l *Link) pass(now time.Duration, size int, f *Fate) {
	if l.trails == nil {
		l.pipe.pass(now, size, f)
		return
	}
	l.pipe.trace(now, size, f, &l.trails[f.Copy])
}
