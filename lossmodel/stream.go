package lossmodel

import "math/rand/v2"

// stream is a stage's source of chance: one 64-bit word per datagram. Copies of
// the datagram, and stages that need more than one word, derive theirs from it.
// So the number of draws depends on nothing but the number of datagrams.
type stream struct {
	pcg  rand.PCG
	word uint64 // of the present datagram
}

// newStream seeds a stream from the session's seed and the stage's full name.
func newStream(seed uint64, name string) stream {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3 // FNV-1a, 64 bits
	h := uint64(offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	var s stream
	s.pcg.Seed(mix(seed^h), mix(seed+h))
	return s
}

// next returns the word for one copy of the present datagram. Copy 0, the
// datagram itself, must come first: it draws.
func (s *stream) next(number int) uint64 {
	if number == 0 {
		s.word = s.pcg.Uint64()
		return s.word
	}
	return derive(s.word, number)
}

// further returns word i of those a stage needs beyond the first; they share no
// word with those of the copies.
func further(word uint64, i int) uint64 { return derive(word, MaxCopies+1+i) }

// derive returns word i of the sequence that SplitMix64 (Steele, Lea, Flood 2014)
// makes of a seed; i counts from 1.
func derive(word uint64, i int) uint64 { return mix(word + uint64(i)*0x9e3779b97f4a7c15) }

// mix is the finaliser of SplitMix64: a permutation in which every input bit
// moves every output bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
