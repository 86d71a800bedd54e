package lossmodel

import (
	"time"
)

// pipeline is the row of stages that a packet passes.
type pipeline struct {
	all   []specStage
	rows  []stageRow  // of all
	on    []Stage     // those of all that have something to do, in the same order
	names []StageKind // of on
}

// newPipeline makes the stages of a link.
func newPipeline(p *stageContext) pipeline {
	var l pipeline
	for _, row := range stages().rows {
		if row.make != nil {
			l.all, l.rows = append(l.all, row.make(p)), append(l.rows, row)
		}
	}
	return l
}

// reshape sets the parameters of all stages, or only those of a stage that is on
// and replaces the others.
func (p *pipeline) reshape(spec *Spec) {
	p.on, p.names = p.on[:0], p.names[:0]
	for _, replacing := range []bool{true, false} {
		for i, stage := range p.all {
			if p.rows[i].replaces == replacing && stage.reshape(spec) {
				p.on, p.names = append(p.on, stage), append(p.names, p.rows[i].name)
			}
		}
		if len(p.on) > 0 {
			return
		}
	}
}

// pass decides a packet's fate.
func (p *pipeline) pass(now time.Duration, size int, f *Fate) {
	for _, stage := range p.on {
		stage.Apply(now, size, f)
	}
}

// trace is pass with a note of what each stage does.
func (p *pipeline) trace(now time.Duration, size int, f *Fate, t *Trail) {
	t.N = len(p.on)
	for i, stage := range p.on {
		step := &t.Steps[i]
		*step = Step{Stage: p.names[i]}
		if d, ok := stage.(describer); ok {
			d.describe(now, step)
		}
		delay, lost, bad, copies, flipped := f.Delay, f.Lost, f.Bad, len(f.Copies), len(f.Corrupt)
		stage.Apply(now, size, f)
		step.Took = f.Delay - delay
		step.Copies, step.Flipped = uint8(len(f.Copies)-copies), uint16(min(len(f.Corrupt)-flipped, 1<<16-1))
		if lost == None {
			step.Lost = f.Lost
		}
		step.Bad = f.Bad && !bad
	}
}

// fork copies the stages with all their state; reshape must follow.
func (p *pipeline) fork() pipeline {
	f := pipeline{rows: p.rows}
	for _, stage := range p.all {
		f.all = append(f.all, stage.fork())
	}
	return f
}
