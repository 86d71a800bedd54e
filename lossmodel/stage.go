package lossmodel

import (
	"fmt"
	"time"

	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// MaxCopies is the most copies the duplicate stage makes of one datagram.
const MaxCopies = random.MaxCopies

// Cause says which stage ended a packet.
type Cause uint8

// The causes of loss.
const (
	None     Cause = iota // not lost
	Loss                  // dropped by itself, independently of its neighbours
	Burst                 // dropped in the bad state of a model with memory
	Queue                 // the queue before the bottleneck was full
	Fragment              // would have survived whole, but one of its fragments was dropped
	Corrupt               // damaged, and the checksum says so; a Link delivers these, marked Damaged
	NumCauses
)

// String returns the cause's name as reports spell it; None is "none".
func (c Cause) String() string {
	names := [NumCauses]string{"none", "loss", "burst", "queue", "fragment", "corrupt"}
	if c < NumCauses {
		return names[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// Fate is what has been decided so far about one datagram, or about one copy of
// it, on its way through the stages. A link reuses its fates; a stage must not
// keep one.
type Fate struct {
	Copy      int             // which copy this is: 0 for the datagram itself
	Fragments int             // as IP cuts it: fixed before the first stage
	Lost      Cause           // the first cause stands
	Bad       bool            // the loss model is in its bad state, whether this packet was lost or not
	Delay     time.Duration   // since sending
	Copies    []time.Duration // one per copy to be made: its extra delay
	Corrupt   []int           // positions of flipped bits, bit 0 the lowest of byte 0
}

// lose ends the packet unless it was lost before.
func (f *Fate) lose(c Cause) {
	if f.Lost == None {
		f.Lost = c
	}
}

// reset makes f the fate of a packet about which nothing has been decided.
func (f *Fate) reset(number, fragments int) {
	*f = Fate{Copy: number, Fragments: fragments, Copies: f.Copies[:0], Corrupt: f.Corrupt[:0]}
}

// Stage is one thing that happens to packets. It owns its random stream and is
// called once for each datagram sent, in order of time, then once for each copy
// of that datagram. It draws for lost packets too. size is the UDP payload in
// bytes.
type Stage interface {
	Apply(now time.Duration, size int, f *Fate)
}

// specStage is a stage with parameters in a Spec.
type specStage interface {
	Stage
	// reshape replaces the parameters and keeps the state. on reports whether the stage
	// can have an effect; while it is false, the link does not call the stage, and the
	// stage uses no random numbers.
	reshape(*Spec) (on bool)
	// fork returns a copy that shares no mutable state.
	fork() specStage
}

// describer is a stage that adds to a packet's trail what only it knows.
type describer interface {
	describe(now time.Duration, s *Step)
}

// gauger is a stage that adds to a link's gauges.
type gauger interface {
	gauge(now time.Duration, g *Gauges)
}

// stageRow is what a link and its keys need to know about a stage.
type stageRow struct {
	name     StageKind
	keys     []keyRow                      // in the order in which users should meet them
	initial  func(*Spec)                   // sets what is not zero in DefaultSpec; nil: nothing
	check    func(*Spec) error             // what the keys mean together; nil: nothing. The error is a *KeyError
	make     func(*stageContext) specStage // nil: the keys are not those of a stage
	replaces bool                          // while it is on, no other stage is
}

// stageContext is what a new stage is given.
type stageContext struct {
	seed  uint64
	link  string
	files *tracefile.Library
}

// stream returns the random stream of the given name, for this link alone.
func (p *stageContext) stream(name StageKind) random.Stream {
	return random.NewStream(p.seed, p.link+"."+string(name))
}
