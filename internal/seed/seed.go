// Package seed derives independent random streams from one seed. A stream is named after the
// component that draws from it, so that no component changes the numbers of another one.
package seed

import "math/rand/v2"

// PCG returns the stream of a component.
func PCG(seed uint64, name string) *rand.PCG {
	h := Hash(name)
	return rand.NewPCG(mix(seed^h), mix(seed+h))
}

// Tagged returns the stream of a seed and a tag of at most eight characters, which are the bytes of
// the stream number. Existing recordings, trained models and tests depend on these streams; new
// code uses PCG.
func Tagged(seed uint64, tag string) *rand.PCG {
	number := uint64(0)
	for i := range len(tag) {
		number = number<<8 | uint64(tag[i])
	}
	return rand.NewPCG(seed, number)
}

// Hash returns the FNV-1a hash of a name.
func Hash(name string) uint64 {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3
	h := uint64(offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	return h
}

// Derive returns element i, counted from 1, of the SplitMix64 sequence (Steele, Lea and Flood,
// 2014) of a seed.
func Derive(seed uint64, i int) uint64 { return mix(seed + uint64(i)*0x9e3779b97f4a7c15) }

// mix is the finaliser of SplitMix64: a permutation in which every input bit affects every
// output bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
