package experiment

import "time"

// pace measures how fast virtual time really goes.
type pace struct {
	wall, virtual time.Duration
	started       bool
	factor        float64
}

func (p *pace) note(wall, virtual time.Duration) {
	if !p.started || virtual < p.virtual {
		p.wall, p.virtual, p.started = wall, virtual, true
		return
	}
	if d := wall - p.wall; d >= time.Second {
		p.factor = float64(virtual-p.virtual) / float64(d)
		p.wall, p.virtual = wall, virtual
	}
}

func (p *pace) rest() { p.started = false }
