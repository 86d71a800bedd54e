package lossmodel

import (
	"fmt"
	"time"
)

// StageKind names a stage of a link.
type StageKind uint8

// The stages, in the order in which a packet passes them; a netem line stands in
// for all the others.
const (
	StageDuplicate StageKind = iota
	StageLoss
	StageCorrupt
	StageRate
	StageDelay
	StageReorder
	StageNetem
	numStages
)

// String returns what the stage is called.
func (k StageKind) String() string {
	names := [numStages]string{"duplicate", "loss", "corrupt", "rate", "delay", "reorder", "netem"}
	if k < numStages {
		return names[k]
	}
	return fmt.Sprintf("stage(%d)", uint8(k))
}

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

// MaxSteps is the most stages that are on at once.
const MaxSteps = 6

// Trail is a packet's way through its link, stage by stage.
type Trail struct {
	N     int // of Steps
	Steps [MaxSteps]Step
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
	l.pipe.note(now, size, f, &l.trails[f.Copy])
}

// note is pass with a note of what each stage does.
func (p *pipeline) note(now time.Duration, size int, f *Fate, t *Trail) {
	t.N = 0
	for _, stage := range p.on {
		step := &t.Steps[t.N]
		*step = before(stage, now)
		delay, lost, copies, flipped := f.Delay, f.Lost, len(f.Copies), len(f.Corrupt)
		stage.Apply(now, size, f)
		step.Took = f.Delay - delay
		step.Copies, step.Flipped = uint8(len(f.Copies)-copies), uint16(min(len(f.Corrupt)-flipped, 1<<16-1))
		if lost == None {
			step.Lost = f.Lost
		}
		step.Bad = f.Bad && (step.Stage == StageLoss || step.Stage == StageNetem)
		t.N++
	}
}

// before is what is to be noted before a stage gets a packet.
func before(stage Stage, now time.Duration) (s Step) {
	switch x := stage.(type) {
	case *duplicateStage:
		s.Stage = StageDuplicate
	case *lossStage:
		s.Stage = StageLoss
	case *corruptStage:
		s.Stage = StageCorrupt
	case *rateStage:
		x.empty(now)
		s.Stage, s.Ahead, s.Room = StageRate, Queued{x.queued.n, x.backlog}, x.spec.Queue
	case *delayStage:
		s.Stage, s.Usual = StageDelay, x.spec.Latency
	case *reorderStage:
		s.Stage = StageReorder
	case *netemStage:
		s.Stage, s.Usual = StageNetem, x.latency
		s.Ahead, _ = x.gauge(now)
	default:
		panic(fmt.Sprintf("lossmodel: a stage of type %T has no name for its trail", stage))
	}
	return s
}
