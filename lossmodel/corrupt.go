package lossmodel

import (
	"slices"
	"time"
)

// MaxFlips is the most bits that are flipped in one datagram.
const MaxFlips = 64

// Corruption is what the corrupt stage does: with probability P, Bits different
// bits of the datagram are flipped (all of them, if it has fewer). Headers are
// never hit: an empty datagram stays whole.
type Corruption struct {
	P        float64
	Bits     int  // 1..MaxFlips
	Checksum bool // UDP's, modelled as perfect: it catches all damage
}

type corruptStage struct {
	stream stream
	chance chance
	bits   int
}

func (s *corruptStage) reshape(spec *Spec) bool {
	s.chance, s.bits = chanceOf(spec.Corrupt.P), spec.Corrupt.Bits
	return s.chance > 0
}

// Apply implements Stage.
func (s *corruptStage) Apply(_ time.Duration, size int, f *Fate) {
	word := s.stream.next(f.Copy)
	if !s.chance.hit(word) {
		return
	}
	positions := uint64(size) * 8
	for i := 0; len(f.Corrupt) < min(s.bits, int(positions)); i++ {
		bit := int(scale(further(word, i), positions))
		if !slices.Contains(f.Corrupt, bit) {
			f.Corrupt = append(f.Corrupt, bit)
		}
	}
}

func corruptSettings() []setting {
	return []setting{
		newSetting(percentUnit, func(s *Spec) *float64 { return &s.Corrupt.P }, KeyInfo{
			Key: "corrupt", Stage: "corrupt", Ladder: percentLadder,
			Help: "share of datagrams in which bits are flipped",
		}),
		newSetting(countUnit("bits", 1, MaxFlips), func(s *Spec) *int { return &s.Corrupt.Bits }, KeyInfo{
			Key: "corrupt_bits", Stage: "corrupt", Ladder: []string{"1", "2", "4", "8", "16", "32", "64"},
			Help: "bits flipped in a datagram that is corrupted",
		}),
		newSetting(switchUnit, func(s *Spec) *bool { return &s.Corrupt.Checksum }, KeyInfo{
			Key: "checksum", Stage: "corrupt",
			Help: "UDP's checksum, modelled as perfect: on, a damaged datagram ends as corrupt; off, the decoder gets it",
		}),
	}
}
