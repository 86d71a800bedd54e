// Package random provides the random numbers of links: seeded streams, probabilities and quantiles
// in integer arithmetic, so that a seed gives the same decisions on every machine.
package random

import (
	"math/rand/v2"

	"wirelab/internal/seed"
)

// MaxCopies is the largest number of copies of a datagram that have their own random words.
const MaxCopies = 8

// Stream is the random stream of one stage: one 64-bit word per datagram. Words for copies of the
// datagram, and further words for a stage, are derived from it. The position of the generator
// thus depends only on the number of datagrams.
type Stream struct {
	pcg  rand.PCG
	word uint64 // random word of the current datagram
}

// NewStream returns a stream seeded by the seed of the session and the full name of the stage.
func NewStream(session uint64, name string) Stream { return Stream{pcg: *seed.PCG(session, name)} }

// Next returns the word of a datagram (number 0) or of one of its copies. Number 0 must come
// first, because it draws a new word.
func (s *Stream) Next(number int) uint64 {
	if number == 0 {
		s.word = s.pcg.Uint64()
		return s.word
	}
	return seed.Derive(s.word, number)
}

// DeriveWord returns a further random word for the datagram or copy that has word. i, from 0 on,
// numbers the further words of a stage. They differ from the words of the datagram's copies, which
// Next derives with the numbers 1 to MaxCopies.
func DeriveWord(word uint64, i int) uint64 { return seed.Derive(word, MaxCopies+1+i) }
