package lossmodel

import "slices"

// Fork returns a second link in the very state of this one: what is sent through
// it from now on meets the fate that it would meet here, so that somebody who
// joins late is treated like those who were there from the start. Neither link
// knows of the other afterwards.
//
// What is under way arrives at the fork too, at its time, as damaged as here, but
// without its bytes and with the given tag: the newcomer did not send it, yet
// whatever an arrival sets off may have to be set off there as well.
func (l *Link) Fork(tag uint64) *Link {
	f := &Link{spec: l.spec, files: l.files, now: l.now, sent: l.sent, flying: slices.Clone(l.flying), lent: noSlot}
	f.pool.parcels, f.pool.free = slices.Clone(l.pool.parcels), slices.Clone(l.pool.free)
	for i := range f.pool.parcels {
		f.pool.parcels[i].data, f.pool.parcels[i].tag = nil, tag
	}
	if l.lent != noSlot { // its borrower is here, not there
		f.pool.put(l.lent)
	}
	f.pipe = l.pipe.fork()
	f.pipe.reshape(&f.spec)
	return f
}

// fork copies the stages with all their state; which of them are on is for
// reshape to say.
func (p *pipeline) fork() pipeline {
	f := pipeline{all: make([]shaper, len(p.all)), on: make([]Stage, 0, len(p.all)), netem: p.netem.fork().(*netemStage)}
	for i, stage := range p.all {
		f.all[i] = stage.fork()
		switch s := f.all[i].(type) {
		case *rateStage:
			f.rate = s
		case *delayStage:
			f.delay = s
		}
	}
	return f
}

func (s *duplicateStage) fork() shaper { c := *s; return &c }

func (s *lossStage) fork() shaper {
	c := *s
	if s.known != nil {
		c.known = make(map[string]lossProcess, len(s.known))
	}
	for model, process := range s.known {
		c.known[model] = process.fork()
	}
	return &c // reshape finds the process
}

func (s *corruptStage) fork() shaper { c := *s; return &c }

func (s *rateStage) fork() shaper {
	c := *s
	c.queued.items = slices.Clone(s.queued.items)
	return &c
}

func (s *delayStage) fork() shaper { c := *s; return &c }

func (s *reorderStage) fork() shaper { c := *s; return &c }

func (s *netemStage) fork() shaper {
	c := *s
	if s.qdisc != nil {
		c.qdisc = s.qdisc.Clone()
	}
	return &c
}

func (p *bernoulliProcess) fork() lossProcess { c := *p; return &c }
func (p *gilbertProcess) fork() lossProcess   { c := *p; return &c }
func (p *elliottProcess) fork() lossProcess   { c := *p; return &c }
func (p *fourStateProcess) fork() lossProcess { c := *p; return &c }
func (p *periodicProcess) fork() lossProcess  { c := *p; return &c }
func (p *patternProcess) fork() lossProcess   { c := *p; return &c }
func (p *traceLossProcess) fork() lossProcess { c := *p; return &c }
