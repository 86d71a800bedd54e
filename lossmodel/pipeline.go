package lossmodel

import "time"

// shaper is a stage that a Spec can set. reshape replaces its parameters, keeps
// its state, and says whether there is anything for it to do; while there is
// not, it is not called and draws nothing.
type shaper interface {
	Stage
	reshape(*Spec) (on bool)
	// fork returns a copy that shares nothing that changes.
	fork() shaper
}

// pipeline is the row of stages that a packet passes.
type pipeline struct {
	all []shaper
	on  []Stage // those of all that have something to do, in the same order

	rate  *rateStage // of all: for the gauges
	delay *delayStage
	netem *netemStage // instead of all, if its line is on
}

// newPipeline lists the stages in their order. The package comment says why the
// bottleneck stands where it does.
func newPipeline(seed uint64, name string, files *library) pipeline {
	stream := func(stage string) stream { return newStream(seed, name+"."+stage) }
	rate := &rateStage{files: files}
	delay := &delayStage{stream: stream("delay"), files: files}
	all := []shaper{
		&duplicateStage{stream: stream("duplicate"), files: files},
		&lossStage{stream: stream("loss"), files: files},
		&corruptStage{stream: stream("corrupt")},
		rate,
		delay,
		&reorderStage{stream: stream("reorder")},
	}
	return pipeline{all: all, on: make([]Stage, 0, len(all)), rate: rate, delay: delay,
		netem: newNetemStage(seed, name+".netem")}
}

func (p *pipeline) reshape(spec *Spec) {
	p.on = p.on[:0]
	if p.netem.reshape(spec) {
		p.on = append(p.on, p.netem)
		return
	}
	for _, stage := range p.all {
		if stage.reshape(spec) {
			p.on = append(p.on, stage)
		}
	}
}

// pass decides a packet's fate.
func (p *pipeline) pass(now time.Duration, size int, f *Fate) {
	for _, stage := range p.on {
		stage.Apply(now, size, f)
	}
}
