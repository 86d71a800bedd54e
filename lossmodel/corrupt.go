package lossmodel

import (
	"slices"
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
)

// maxFlips is the most bits that are flipped in one datagram.
const maxFlips = 64

// Corruption is what the corrupt stage does: with probability P, Bits different
// bits of the datagram are flipped (all of them, if it has fewer). Besides, each
// bit is flipped by itself with probability BitRate, though no more than maxFlips
// in all. Headers are never hit: an empty datagram stays whole.
type Corruption struct {
	P        float64
	Bits     int     // 1..maxFlips
	BitRate  float64 // 0 to 0.1
	Checksum bool    // UDP's, modelled as perfect: it catches all damage
}

type corruptStage struct {
	stream random.Stream
	chance random.Chance
	bits   int
	each   bitErrors
}

func (s *corruptStage) reshape(spec *Spec) bool {
	s.chance, s.bits = random.ChanceOf(spec.Corrupt.P), spec.Corrupt.Bits
	s.each = bitErrors{rate: spec.Corrupt.BitRate, none: 1}
	return s.chance > 0 || s.each.rate > 0
}

// Apply implements Stage.
func (s *corruptStage) Apply(_ time.Duration, size int, f *Fate) {
	word := s.stream.Next(f.Copy)
	flips := 0
	if s.chance.Hit(word) {
		flips = s.bits
	}
	positions := uint64(size) * 8
	if s.each.rate > 0 {
		flips += s.each.count(random.Further(word, bitWord), int(positions))
	}
	flips = min(flips, maxFlips, int(positions))
	for i := 0; len(f.Corrupt) < flips; i++ {
		bit := int(random.Below(random.Further(word, i), positions))
		if !slices.Contains(f.Corrupt, bit) {
			f.Corrupt = append(f.Corrupt, bit)
		}
	}
}

// bitWord is which further word says how many bits are flipped one by one; those
// before it, of which no datagram needs so many, say where.
const bitWord = 1 << 20

func (s *corruptStage) fork() specStage { c := *s; return &c }

func (*Corruption) row() stageRow {
	return stageRow{
		name:    StageCorrupt,
		initial: func(s *Spec) { s.Corrupt.Bits, s.Corrupt.Checksum = 1, true },
		make:    func(p *stageContext) specStage { return &corruptStage{stream: p.stream(StageCorrupt)} },
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Corrupt.P }, KeyInfo{
				Key: "corrupt", Stage: "corrupt", Ladder: percentLadder,
				Help: "share of datagrams in which bits are flipped",
			}),
			newKey(setting.Count("bits", 1, maxFlips), func(s *Spec) *int { return &s.Corrupt.Bits }, KeyInfo{
				Key: "corrupt_bits", Stage: "corrupt", Ladder: []string{"1", "2", "4", "8", "16", "32", "64"},
				Help: "bits flipped in a datagram that is corrupted",
			}),
			newKey(bitRateUnit, func(s *Spec) *float64 { return &s.Corrupt.BitRate }, KeyInfo{
				Key: "corrupt_ber", Stage: "corrupt", Ladder: []string{"off", "1e-09", "1e-08", "1e-07", "1e-06", "1e-05",
					"0.0001", "0.001"},
				Help: "bit error rate: each bit of a datagram's payload is flipped by itself with this probability",
			}),
			newKey(setting.Switch, func(s *Spec) *bool { return &s.Corrupt.Checksum }, KeyInfo{
				Key: "checksum", Stage: "corrupt",
				Help: "UDP's checksum, modelled as perfect: on, a damaged datagram ends as corrupt; off, the decoder gets it",
			}),
		},
	}
}
