package lossmodel

import (
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Duplicate has the parameters of the duplicate stage. With probability P, Copies copies of a
// datagram are made, each with Delay added to its delay. Each copy passes the later stages
// separately.
type Duplicate struct {
	P      float64
	Copies int // number of copies of a datagram, 1 to MaxCopies
	Delay  time.Duration
	Trace  tracefile.File // capture whose copies are repeated, with the same delay after their datagram
}

// duplicateStage is the stage that copies datagrams as its Duplicate describes.
type duplicateStage struct {
	stream random.Stream
	chance random.Chance
	copies int
	delay  time.Duration
	files  *tracefile.Library
	trace  tracefile.Cursor
	traced bool // trace is in use
}

// reshape implements specStage. The stage is on if copies are possible.
func (s *duplicateStage) reshape(spec *Spec) bool {
	d := spec.Duplicate
	s.chance, s.copies, s.delay = random.NewChance(d.P), d.Copies, d.Delay
	s.traced = d.Trace.Path != ""
	if s.traced {
		s.trace.SetFile(s.files, d.Trace, tracefile.Losses)
	}
	return s.chance > 0 || s.traced
}

// Apply implements Stage. It adds the delays of the copies to f.Copies, at most MaxCopies. Copies are
// not duplicated again.
func (s *duplicateStage) Apply(now time.Duration, _ int, f *Fate) {
	if f.Copy > 0 {
		return
	}
	f.draw = random.Draw{Chance: s.chance, Word: s.stream.Next(0)}
	if s.chance.Hit(f.draw.Word) {
		for range s.copies {
			f.Copies = append(f.Copies, s.delay)
		}
	}
	if s.traced {
		copies := s.trace.Next(now, 0).Copies
		f.Copies = append(f.Copies, copies[:min(len(copies), MaxCopies-len(f.Copies))]...)
	}
}

func (s *duplicateStage) fork() specStage { c := *s; return &c }

// row describes the duplicate stage and its keys.
func (*Duplicate) row() stageRow {
	return stageRow{
		name:        StageDuplicate,
		setDefaults: func(s *Spec) { s.Duplicate.Copies = 1 },
		newStage: func(context *stageContext) specStage {
			return &duplicateStage{stream: context.stream(StageDuplicate), files: context.files}
		},
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Duplicate.P }, KeyInfo{
				Key: "duplicate", Stage: "duplicate", Ladder: percentLadder,
				Help: "fraction of datagrams that are duplicated; each copy passes the later stages separately",
			}),
			newKey(setting.Count("copies", 1, MaxCopies), func(s *Spec) *int { return &s.Duplicate.Copies }, KeyInfo{
				Key: "duplicate_copies", Stage: "duplicate", Needs: []string{"duplicate"}, Ladder: []string{"1", "2", "3", "4", "6", "8"},
				Help: "number of copies of a duplicated datagram",
			}),
			newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Duplicate.Delay }, KeyInfo{
				Key: "duplicate_delay", Stage: "duplicate", Needs: []string{"duplicate"}, Ladder: spanLadder,
				Help: "additional delay of copies",
			}),
			newFileKey(tracefile.Losses, "a capture", true, func(s *Spec) *tracefile.File { return &s.Duplicate.Trace }, KeyInfo{
				Key: "duplicate_trace", Stage: "duplicate",
				Help: "capture whose copies are repeated",
			}),
		},
	}
}
