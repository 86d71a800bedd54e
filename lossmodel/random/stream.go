// Package random is where the decisions of a link come from: seeded streams of
// words, probabilities and quantiles in integers, so that one seed gives the same
// decisions on every machine. It knows no links.
package random

import "math/rand/v2"

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
func NewStream(seed uint64, name string) Stream {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3 // FNV-1a, 64 bits
	h := uint64(offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	var s Stream
	s.pcg.Seed(Mix(seed^h), Mix(seed+h))
	return s
}

// Next returns the word for one copy of the present datagram. Copy 0, the
// datagram itself, must come first: it draws.
func (s *Stream) Next(number int) uint64 {
	if number == 0 {
		s.word = s.pcg.Uint64()
		return s.word
	}
	return derive(s.word, number)
}

// Further returns word i of those a stage needs beyond the first; they share no
// word with those of the copies.
func Further(word uint64, i int) uint64 { return derive(word, MaxCopies+1+i) }

// derive returns word i of the sequence that SplitMix64 (Steele, Lea, Flood 2014)
// makes of a seed; i counts from 1.
func derive(word uint64, i int) uint64 { return Mix(word + uint64(i)*0x9e3779b97f4a7c15) }

// Mix is the finaliser of SplitMix64: a permutation in which every input bit
// moves every output bit.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
