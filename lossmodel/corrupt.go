package lossmodel

import (
	"slices"
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
)

// maxFlips is the largest number of bits flipped in one datagram.
const maxFlips = 64

// Corruption has the parameters of the corrupt stage. With probability P, Bits different bits of
// the payload are flipped, or all if it has fewer. In addition every bit is flipped independently
// with probability BitRate. At most 64 bits are flipped in total. Headers are not damaged, so an
// empty datagram never is.
type Corruption struct {
	P       float64
	Bits    int     // number of bits flipped in a corrupted datagram, 1 to 64
	BitRate float64 // probability with which each bit is flipped, 0 to 0.1
}

// corruptStage is the stage that flips bits as its Corruption describes.
type corruptStage struct {
	stream    random.Stream
	chance    random.Chance
	bits      int
	bitErrors bitErrors
}

// reshape implements specStage. The stage is on if a bit can be flipped.
func (s *corruptStage) reshape(spec *Spec) bool {
	s.chance, s.bits = random.NewChance(spec.Corrupt.P), spec.Corrupt.Bits
	s.bitErrors = bitErrors{rate: spec.Corrupt.BitRate, noneProb: 1}
	return s.chance > 0 || s.bitErrors.rate > 0
}

// Apply implements Stage. size is the size of the datagram in bytes. Apply adds the positions of the flipped bits
// to f.Corrupt.
func (s *corruptStage) Apply(_ time.Duration, size int, f *Fate) {
	word := s.stream.Next(f.Copy)
	f.draw = random.Draw{Chance: s.chance, Word: word}
	flips := 0
	if s.chance.Hit(word) {
		flips = s.bits
	}
	positions := uint64(size) * 8
	if s.bitErrors.rate > 0 {
		flips += s.bitErrors.draw(random.DeriveWord(word, countWord), int(positions))
	}
	flips = min(flips, maxFlips, int(positions))
	f.Corrupt = appendFlips(f.Corrupt, word, size, flips)
}

// appendFlips appends positions of bits in a datagram of size bytes, drawn from word, until list has n. If it draws a
// position twice, it draws another one, so that all positions differ.
func appendFlips(list []int, word uint64, size, n int) []int {
	for i := 0; len(list) < n; i++ {
		bit := int(random.Below(random.DeriveWord(word, i), uint64(size)*8))
		if !slices.Contains(list, bit) {
			list = append(list, bit)
		}
	}
	return list
}

// FlippedBits returns the positions of the bits that the corrupt stage flipped in a datagram of size bytes; bit 0 is
// the lowest of byte 0. It is nil for other stages.
func (s *Step) FlippedBits(size int) []int {
	if s.Stage != stageCorrupt {
		return nil
	}
	return appendFlips(nil, s.Draw.Word, size, int(s.Flipped))
}

// countWord is the index of the derived word that gives the number of bit errors. Lower indices
// give positions.
const countWord = 1 << 20

func (s *corruptStage) fork() specStage { c := *s; return &c }

// row describes the corrupt stage and its keys.
func (*Corruption) row() stageRow {
	return stageRow{
		name:        stageCorrupt,
		setDefaults: func(s *Spec) { s.Corrupt.Bits = 1 },
		newStage:    func(context *stageContext) specStage { return &corruptStage{stream: context.stream(stageCorrupt)} },
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Corrupt.P }, KeyInfo{
				Key: "corrupt", Stage: "corrupt", Ladder: percentLadder,
				Help: "fraction of datagrams in which bits are flipped; a run discards them and counts the packets as corrupt, a proxy forwards them damaged",
			}),
			newKey(setting.Count("bits", 1, maxFlips), func(s *Spec) *int { return &s.Corrupt.Bits }, KeyInfo{
				Key: "corrupt_bits", Stage: "corrupt", Needs: []string{"corrupt"}, Ladder: []string{"1", "2", "4", "8", "16", "32", "64"},
				Help: "number of flipped bits in a corrupted datagram",
			}),
			newKey(bitErrorRateUnit, func(s *Spec) *float64 { return &s.Corrupt.BitRate }, KeyInfo{
				Key: "corrupt_ber", Stage: "corrupt", Ladder: []string{"off", "1e-09", "1e-08", "1e-07", "1e-06", "1e-05",
					"0.0001", "0.001"},
				Help: "bit error rate: each bit of the payload is flipped independently with this probability",
			}),
		},
	}
}
