package lossmodel

import (
	"fmt"
	"time"

	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// MaxCopies is the largest number of copies of one datagram.
const MaxCopies = random.MaxCopies

// Cause is the reason for which a packet was lost.
type Cause uint8

// Causes of loss.
const (
	None     Cause = iota // the packet is not lost
	Loss                  // the packet was dropped independently of other packets
	Burst                 // the packet was dropped in the bad state of a loss model with memory
	Queue                 // the packet was dropped because the queue before the line was full
	Fragment              // the packet lost one of its IP fragments; unfragmented it would have arrived
	NumCauses
)

// String returns the name of the cause as used in reports; None is "none".
func (c Cause) String() string {
	names := [NumCauses]string{"none", "loss", "burst", "queue", "fragment"}
	if c < NumCauses {
		return names[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// Fate is what the stages so far have decided about a datagram or a copy of it. A link reuses
// Fates; a stage must not keep a pointer to one.
type Fate struct {
	Copy      int             // 0 for the datagram, 1 and up for copies
	Fragments int             // number of IP fragments, fixed before the first stage
	Lost      Cause           // cause of the loss, the first one if several stages drop the packet
	Bad       bool            // the loss model is in its bad state, whether or not this packet was lost
	Delay     time.Duration   // total delay since sending
	Copies    []time.Duration // additional delay of each copy to be made
	Corrupt   []int           // positions of flipped bits; bit 0 is the lowest of byte 0

	draw  random.Draw // of the last stage that drew a random number
	waits bool        // the packet waits before a line: Delay is without the wait
	lineTimes
}

// lineTimes are the times and the size of a packet at the bottleneck, which re-timing needs.
type lineTimes struct {
	lineBytes  int64         // size on the line
	leaves     time.Duration // when it leaves the line; 0 if it has left the line or waits before one
	ownDelay   time.Duration // of the delay stage, without the wait for other packets that KeepOrder causes
	departs    time.Duration // when it leaves the delay stage; not set while it waits before a line
	delayAfter time.Duration // of the stages after the delay stage
}

// markLost sets the cause of loss unless there is one already.
func (f *Fate) markLost(c Cause) {
	if f.Lost == None {
		f.Lost = c
	}
}

// reset initializes f for a datagram (number 0) or a copy of it (1 and up). It reuses the slices of f. The other
// fields of lineTimes are not used until the rate stage has set them together with lineBytes.
func (f *Fate) reset(number, fragments int) {
	f.Copy, f.Fragments, f.Lost, f.Bad, f.Delay = number, fragments, None, false, 0
	f.Copies, f.Corrupt = f.Copies[:0], f.Corrupt[:0]
	f.waits, f.lineBytes, f.ownDelay = false, 0, 0
}

// Stage is one effect of a link. It owns its random stream. Apply is called once for each
// datagram in order of time, followed by each copy of that datagram, including packets that an
// earlier stage has lost. size is the UDP payload in bytes.
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

// timedStage is implemented by stages with parameters that act over time. advance is called before reshape: until
// now the old parameters apply.
type timedStage interface {
	advance(now time.Duration)
}

// describer is implemented by stages that add details to a packet's trail. describe is called
// before Apply.
type describer interface {
	describe(now time.Duration, s *Step)
}

// gauger is implemented by stages that add to a link's gauges.
type gauger interface {
	gauge(now time.Duration, g *Gauges)
}

// stageRow describes a stage to a link and its keys.
type stageRow struct {
	name        stageKind
	keys        []keyRow                      // keys of the stage in the order in which users see them
	setDefaults func(*Spec)                   // sets defaults that are not zero; nil if none
	check       func(*Spec) error             // checks that the keys are consistent and returns a *KeyError if not; nil if each key is checked alone
	newStage    func(*stageContext) specStage // nil if the keys belong to no stage
	replaces    bool                          // while a stage with this flag is on, no other stage is applied
}

// stageContext is passed to the constructor of a stage.
type stageContext struct {
	seed     uint64             // seed of the link, see NewLink
	linkName string             // name of the link, such as "down"
	files    *tracefile.Library // files that the spec names
}

// stream returns the random stream of a stage of this link. Its seed depends on the name of the link
// and of the stage, so that a change of one stage does not affect the others.
func (c *stageContext) stream(name stageKind) random.Stream {
	return random.NewStream(c.seed, c.linkName+"."+string(name))
}
