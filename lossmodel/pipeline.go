package lossmodel

import (
	"time"

	"wirelab/lossmodel/random"
)

// pipeline is the sequence of stages of a link.
type pipeline struct {
	stages      []specStage
	rows        []stageRow  // parallel to stages
	active      []Stage     // stages that are on, in the same order
	activeNames []stageKind // names of the stages in active
}

// newPipeline creates the stages of a link, all off until reshape.
func newPipeline(context *stageContext) pipeline {
	var p pipeline
	for _, row := range stages().rows {
		if row.newStage != nil { // the row of the key mtu has no stage
			p.stages, p.rows = append(p.stages, row.newStage(context)), append(p.rows, row)
		}
	}
	return p
}

// reshape sets the parameters of all stages. If a stage that replaces the others (netem) is on,
// only that stage is active.
func (p *pipeline) reshape(spec *Spec) {
	p.active, p.activeNames = p.active[:0], p.activeNames[:0]
	for _, replacing := range []bool{true, false} { // first the stages that replace others
		for i, stage := range p.stages {
			if p.rows[i].replaces == replacing && stage.reshape(spec) {
				p.active, p.activeNames = append(p.active, stage), append(p.activeNames, p.rows[i].name)
			}
		}
		if len(p.active) > 0 {
			return
		}
	}
}

// advance advances the state of the stages to now, before reshape.
func (p *pipeline) advance(now time.Duration) {
	for _, stage := range p.stages {
		if timed, ok := stage.(timedStage); ok {
			timed.advance(now)
		}
	}
}

// apply passes a packet of size payload bytes, sent at now, through the active stages, which store
// their decisions in f.
func (p *pipeline) apply(now time.Duration, size int, f *Fate) {
	for _, stage := range p.active {
		stage.Apply(now, size, f)
	}
}

// applyTraced passes a datagram of size bytes that is sent at now through the active stages, which modify its fate
// f. It records in t what each stage does, by comparing f before and after the stage.
func (p *pipeline) applyTraced(now time.Duration, size int, f *Fate, t *Trail) {
	t.N = len(p.active)
	for i, stage := range p.active {
		step := &t.Steps[i]
		*step = Step{Stage: p.activeNames[i]}
		if d, ok := stage.(describer); ok {
			d.describe(now, step)
		}
		delay, lost, bad, copies, flipped := f.Delay, f.Lost, f.Bad, len(f.Copies), len(f.Corrupt)
		f.draw = random.Draw{}
		stage.Apply(now, size, f)
		step.Delay = f.Delay - delay
		step.Draw = f.draw
		// The step has what this stage added to the fate.
		step.Copies, step.Flipped = uint8(len(f.Copies)-copies), uint16(min(len(f.Corrupt)-flipped, 1<<16-1))
		if lost == None {
			step.Lost = f.Lost
		}
		step.Bad = f.Bad && !bad
	}
}

// fork returns a copy with all state. The caller must call reshape on the copy.
func (p *pipeline) fork() pipeline {
	f := pipeline{rows: p.rows} // reshape sets the active stages
	for _, stage := range p.stages {
		f.stages = append(f.stages, stage.fork())
	}
	return f
}
