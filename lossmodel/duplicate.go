package lossmodel

import (
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Duplicate is what the duplicate stage does: with probability P a datagram is
// followed by Copies copies of it, each of which arrives Delay later than it
// otherwise would. Each copy meets the later stages on its own. Trace adds the
// copies that came in a capture, as much later than their datagram as there.
type Duplicate struct {
	P      float64
	Copies int // 1..MaxCopies
	Delay  time.Duration
	Trace  tracefile.File
}

type duplicateStage struct {
	stream random.Stream
	chance random.Chance
	copies int
	delay  time.Duration
	files  *tracefile.Library
	trace  tracefile.Cursor
	traced bool
}

func (s *duplicateStage) reshape(spec *Spec) bool {
	d := spec.Duplicate
	s.chance, s.copies, s.delay = random.ChanceOf(d.P), d.Copies, d.Delay
	s.traced = d.Trace.Path != ""
	if s.traced {
		s.trace.Set(s.files, d.Trace, tracefile.Losses)
	}
	return s.chance > 0 || s.traced
}

// Apply implements Stage. Copies are not copied again.
func (s *duplicateStage) Apply(now time.Duration, _ int, f *Fate) {
	if f.Copy > 0 {
		return
	}
	if s.chance.Hit(s.stream.Next(0)) {
		for range s.copies {
			f.Copies = append(f.Copies, s.delay)
		}
	}
	if s.traced {
		copies := s.trace.Play(now, 0).Copies
		f.Copies = append(f.Copies, copies[:min(len(copies), MaxCopies-len(f.Copies))]...)
	}
}

func (s *duplicateStage) fork() specStage { c := *s; return &c }

func (*Duplicate) row() stageRow {
	return stageRow{
		name:    StageDuplicate,
		initial: func(s *Spec) { s.Duplicate.Copies = 1 },
		make: func(p *stageContext) specStage {
			return &duplicateStage{stream: p.stream(StageDuplicate), files: p.files}
		},
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Duplicate.P }, KeyInfo{
				Key: "duplicate", Stage: "duplicate", Ladder: percentLadder,
				Help: "share of datagrams that are sent twice or more; each copy meets the later stages on its own",
			}),
			newKey(setting.Count("copies", 1, MaxCopies), func(s *Spec) *int { return &s.Duplicate.Copies }, KeyInfo{
				Key: "duplicate_copies", Stage: "duplicate", Ladder: []string{"1", "2", "3", "4", "6", "8"},
				Help: "copies made of a datagram that is duplicated",
			}),
			newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Duplicate.Delay }, KeyInfo{
				Key: "duplicate_delay", Stage: "duplicate", Ladder: spanLadder,
				Help: "how much later than it otherwise would a copy arrives",
			}),
			newFile(tracefile.Losses, "a capture", true, func(s *Spec) *tracefile.File { return &s.Duplicate.Trace }, KeyInfo{
				Key: "duplicate_trace", Stage: "duplicate",
				Help: "copies that came in a capture come again",
			}),
		},
	}
}
