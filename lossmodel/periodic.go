package lossmodel

import "time"

// Periodic loses every Every-th packet, beginning with that one: nothing is left
// to chance. A copy shares its datagram's fate.
type Periodic struct{ Every int }

// MaxPeriod is the longest period of Periodic, in packets.
const MaxPeriod = 1_000_000_000

// Model implements LossModel.
func (Periodic) Model() string { return "periodic" }

func (p Periodic) mean() float64 { return 1 / float64(max(p.Every, 1)) }

func (p Periodic) text() string { return words("periodic", "every", periodUnit.format(p.Every)) }

func (p Periodic) check() error {
	if !periodUnit.in(p.Every) {
		return periodUnit.refuse("loss.every", periodUnit.format(p.Every))
	}
	return nil
}

func (p Periodic) process(prev lossProcess, _ *library) lossProcess {
	q, ok := prev.(*periodicProcess)
	if !ok {
		q = &periodicProcess{}
	}
	q.every = p.Every
	return q
}

func (p Periodic) law() (LossLaw, bool) {
	bits := make([]bool, min(p.Every, 1024)) // longer ones differ only in the mean
	bits[len(bits)-1] = true
	law := patternLaw(bits)
	law.Rate = p.mean()
	return law, true
}

type periodicProcess struct {
	every, since int // since: packets since the last one lost
	lost         bool
}

func (p *periodicProcess) judge(_ time.Duration, _ uint64, f *Fate) {
	if f.Copy == 0 {
		p.since++
		if p.lost = p.since >= p.every; p.lost {
			p.since = 0
		}
	}
	if p.lost {
		f.lose(Loss)
	}
}

func periodicFrom(t lossTable) (LossModel, error) {
	var p Periodic
	err := t.read(number(&p.Every, "every", periodUnit))
	return p, err
}

var periodUnit = countUnit("packets", 1, MaxPeriod)
