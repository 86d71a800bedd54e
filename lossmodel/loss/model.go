// Package loss decides which packets of a series are lost: by chance, in bursts, by a
// pattern or as in a capture. It knows no links. A model is a plain value, its
// parameters; a Process is what decides by them, packet by packet.
//
// To add a model, write a file with the model, its process and its Kind, and add the
// Kind to the table in table.go. The key loss then takes it, as text and as a table,
// lists it with its parameters, and keeps its state when a link is reshaped.
package loss

import (
	"time"

	"wirelab/lossmodel/tracefile"
)

// Model is the parameters of one way to lose packets. Values compare with ==.
type Model interface {
	// Model returns the name that a loss table's model key takes.
	Model() string
	// LossRate returns the share of packets lost in the long run; 0 if that depends on
	// a file.
	LossRate() float64
	// Check returns an error if the parameters are out of range or contradict each other.
	Check() error
	// Text returns what the key loss reads as: the rate alone where the key burst
	// says the rest, otherwise the model in words, "periodic every=9".
	Text() string
	// Process returns what decides by these parameters. prev is what the link last
	// used for this kind of model, nil at first; its state is kept. A model that
	// reads a file finds it in files.
	Process(prev Process, files *tracefile.Library) Process
}

// FileModel is a model that may read a file.
type FileModel interface {
	Model
	// Open opens the file, if any, and returns the model with the file's hash.
	Open(files *tracefile.Library) (Model, error)
}

// Process decides packet by packet.
type Process interface {
	// Judge decides about a packet. Datagrams come in order of sending, each
	// followed by its copies.
	Judge(pkt *Packet)
	// Fork returns a copy that shares nothing that changes.
	Fork() Process
}

// Packet is a datagram, or a copy of it, and what was decided about it.
type Packet struct {
	Sent      time.Duration
	Word      uint64 // random; one of the datagram's own, others for its copies
	Copy      int    // 0 for the datagram itself
	Fragments int    // as IP cuts it

	Lost reason
	Bad  bool // the model is in its bad state, whether this packet was lost or not
}

// reason is why a packet was lost.
type reason uint8

// The reasons.
const (
	Arrives    reason = iota // it was not lost
	Alone                    // independently of its neighbours
	InBurst                  // in the bad state of a model with memory
	InFragment               // whole it would have arrived, but one of its fragments was lost
)

// prior returns prev if it is a P, otherwise a new P.
func prior[P any](prev Process) *P {
	if p, ok := any(prev).(*P); ok {
		return p
	}
	return new(P)
}

// RateOf returns the loss rate of a model; nil loses nothing.
func RateOf(m Model) float64 {
	if m == nil {
		return 0
	}
	return m.LossRate()
}

// BurstOf returns the mean burst of Gilbert's model, 0 for any other.
func BurstOf(m Model) float64 {
	if g, ok := m.(Gilbert); ok {
		return g.Burst
	}
	return 0
}

// WithMean gives Gilbert's model another mean, and makes all others Bernoulli's:
// the text "5%" must mean one thing, whatever was set before.
func WithMean(m Model, mean float64) Model {
	if g, ok := m.(Gilbert); ok {
		return Gilbert{Mean: mean, Burst: g.Burst}
	}
	if mean == 0 {
		return nil
	}
	return Bernoulli{P: mean}
}

// WithBurst makes a model Gilbert's, or, with a burst of 0, Gilbert's Bernoulli's;
// a model with other parameters for bursts is returned unchanged.
func WithBurst(m Model, burst float64) Model {
	if burst == 0 {
		if _, ok := m.(Gilbert); ok {
			return WithMean(nil, RateOf(m))
		}
		return m
	}
	return Gilbert{Mean: RateOf(m), Burst: burst}
}
