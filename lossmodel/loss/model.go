// Package loss has the loss models of links: independent losses, bursts, patterns, and losses
// from a capture. It does not depend on links. A Model is a value with the parameters; its
// Process decides packet by packet.
//
// To add a model, write a file with the model, its process and its kind, and add the kind to the
// table in table.go. The key loss then accepts the model as text and as a table, lists it with
// its parameters, and keeps its state when a link is reshaped.
package loss

import (
	"time"

	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Model has the parameters of a loss model. Models can be compared with ==.
type Model interface {
	// Model returns the name of the model, the value of the key model in a loss table.
	Model() string
	// LossRate returns the long-run fraction of packets lost; 0 if it depends on a file.
	LossRate() float64
	// Check returns an error if the parameters are out of range or inconsistent.
	Check() error
	// Text returns the value of the key loss: the loss rate if the key burst has the rest,
	// otherwise the model with its parameters, such as "periodic every=9".
	Text() string
	// Process returns a process with these parameters. prev is the last process of the same kind
	// of model on the link, whose state is kept; nil if there was none. A model that reads a file
	// gets its content from files.
	Process(prev Process, files *tracefile.Library) Process
}

// FileModel is a Model that may read a file.
type FileModel interface {
	Model
	// Open reads the file, if any, and returns the model with the file's hash.
	Open(files *tracefile.Library) (Model, error)
}

// Process decides which packets are lost.
type Process interface {
	// Judge sets the outcome of a packet. Datagrams must be passed in order of sending, each
	// followed by its copies.
	Judge(pkt *Packet)
	// Fork returns an independent copy with the same state.
	Fork() Process
}

// Packet is a datagram, or a copy of it, and its outcome.
type Packet struct {
	Sent      time.Duration // virtual time of sending
	Word      uint64        // random word; every copy has its own
	Copy      int           // 0 for the datagram, 1 and up for copies
	Fragments int           // number of IP fragments

	Lost outcome     // whether and why the packet is lost, set by Judge
	Bad  bool        // set by Judge: the model is in its bad state, whether or not this packet is lost
	Draw random.Draw // set by Judge if a random number decided about this packet
}

// outcome is whether and why a packet was lost.
type outcome uint8

// Outcomes of a packet.
const (
	NotLost     outcome = iota
	Independent         // the packet was lost independently of other packets
	Burst               // the packet was lost in the bad state of a model with memory
	Fragment            // the packet lost one of its IP fragments; unfragmented it would have arrived
)

// reuse returns prev if it has type *P, so that its state is kept, otherwise a new P.
func reuse[P any](prev Process) *P {
	if p, ok := any(prev).(*P); ok {
		return p
	}
	return new(P)
}

// RateOf returns the loss rate of a model; 0 for nil.
func RateOf(m Model) float64 {
	if m == nil {
		return 0
	}
	return m.LossRate()
}

// BurstOf returns the mean burst of a Gilbert model; the zero BurstLength for any other.
func BurstOf(m Model) BurstLength {
	switch m := m.(type) {
	case Gilbert:
		return BurstLength{Packets: m.Burst}
	case gilbertTime:
		return BurstLength{Time: m.Burst}
	}
	return BurstLength{}
}

// WithMean returns a Gilbert model with another mean, or a Bernoulli model in place of any other,
// so that a text such as "5%" has the same meaning whatever was set before. It returns nil for a
// mean of 0 without a burst.
func WithMean(m Model, mean float64) Model {
	burst := BurstOf(m)
	switch {
	case burst != BurstLength{}:
		return newGilbert(mean, burst)
	case mean == 0:
		return nil
	}
	return Bernoulli{P: mean}
}

// WithBurst returns a Gilbert model with the loss rate of m and the given burst. The zero burst
// turns a Gilbert model into a Bernoulli model and leaves other models unchanged.
func WithBurst(m Model, burst BurstLength) Model {
	if burst != (BurstLength{}) {
		return newGilbert(RateOf(m), burst)
	}
	if BurstOf(m) != (BurstLength{}) {
		return WithMean(nil, RateOf(m)) // nil instead of m, because WithMean would keep the burst of m
	}
	return m
}

// newGilbert returns a Gilbert model with a burst in packets or in time.
func newGilbert(mean float64, burst BurstLength) Model {
	if burst.Time != 0 {
		return gilbertTime{Mean: mean, Burst: burst.Time}
	}
	return Gilbert{Mean: mean, Burst: burst.Packets}
}
