// Package random is where the decisions of a link come from: seeded streams of
// words, probabilities and quantiles in integers, so that one seed gives the same
// decisions on every machine. It knows no links.
package random

import (
	"math/rand/v2"

	"wirelab/internal/seed"
)

// MaxCopies is the most copies of a datagram that get words of their own.
const MaxCopies = 8

// Stream is the random stream of one stage: one 64-bit word per datagram. Copies of
// the datagram, and stages that need more than one word, derive theirs from it.
// So the number of draws depends on nothing but the number of datagrams.
type Stream struct {
	pcg  rand.PCG
	word uint64 // of the present datagram
}

// NewStream seeds a stream from the session's seed and the stage's full name.
func NewStream(session uint64, name string) Stream { return Stream{pcg: *seed.PCG(session, name)} }

// Next returns the word for one copy of the present datagram. Copy 0, the
// datagram itself, must come first: it draws.
func (s *Stream) Next(number int) uint64 {
	if number == 0 {
		s.word = s.pcg.Uint64()
		return s.word
	}
	return seed.Derive(s.word, number)
}

// Further returns word i of those a stage needs beyond the first; they share no
// word with those of the copies.
func Further(word uint64, i int) uint64 { return seed.Derive(word, MaxCopies+1+i) }
