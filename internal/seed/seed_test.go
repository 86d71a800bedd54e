package seed_test

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"testing"

	"wirelab/internal/seed"
)

// The hash is that of the standard library.
func TestHash(t *testing.T) {
	for _, name := range []string{"", "down.loss", "world/random", "ä"} {
		h := fnv.New64a()
		h.Write([]byte(name))
		if got := seed.Hash(name); got != h.Sum64() {
			t.Errorf("Hash(%q) = %x, want %x", name, got, h.Sum64())
		}
	}
}

// The first elements of SplitMix64 for the seed 1234567 as the reference implementation in C by
// Vigna prints them (https://prng.di.unimi.it/splitmix64.c).
func TestDerive(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := seed.Derive(1234567, i+1); got != want {
			t.Errorf("element %d is %d, want %d", i+1, got, want)
		}
	}
}

// The bytes of a tag are the number of the stream.
func TestTagged(t *testing.T) {
	for tag, number := range map[string]uint64{"rpc": 0x727063, "mdn": 0x6d646e, "files": 0x66696c6573, "search\n": 0x7365617263680a} {
		if got, want := seed.Tagged(7, tag).Uint64(), rand.NewPCG(7, number).Uint64(); got != want {
			t.Errorf("the stream %q begins with %x, want %x", tag, got, want)
		}
	}
}

// Streams of similar seeds and names are independent: half of the bits differ.
func TestStreamsDiffer(t *testing.T) {
	sum, n := 0, 0
	for s := range uint64(50) {
		base := seed.PCG(s, "down.loss").Uint64()
		for _, other := range []uint64{seed.PCG(s+1, "down.loss").Uint64(), seed.PCG(s, "down.losS").Uint64(), seed.PCG(s, "up.loss").Uint64()} {
			sum, n = sum+bits.OnesCount64(base^other), n+1
		}
	}
	if mean := float64(sum) / float64(n); mean < 30 || mean > 34 {
		t.Errorf("%.1f of 64 bits differ, want about 32", mean)
	}
}
