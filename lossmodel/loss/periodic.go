package loss

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// periodic loses every Every-th packet, beginning with that one: nothing is left
// to chance. A copy shares its datagram's fate.
type periodic struct{ Every int }

// maxPeriod is the longest period of periodic, in packets.
const maxPeriod = 1_000_000_000

func (periodic) Model() string       { return "periodic" }
func (p periodic) LossRate() float64 { return 1 / float64(max(p.Every, 1)) }

func (p periodic) Text() string { return periodicParams.text("periodic", p) }
func (p periodic) Check() error { return periodicParams.check(p) }

func (p periodic) Process(prev Process, _ *tracefile.Library) Process {
	q := prior[periodicProcess](prev)
	q.every = p.Every
	return q
}

func (p periodic) law() (Law, bool) {
	bits := make([]bool, min(p.Every, 1024)) // longer ones differ only in the mean
	bits[len(bits)-1] = true
	law := patternLaw(bits)
	law.Rate = p.LossRate()
	return law, true
}

type periodicProcess struct {
	every, since int // since: packets since the last one lost
	lost         bool
}

func (p *periodicProcess) Fork() Process { c := *p; return &c }

func (p *periodicProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.since++
		p.lost = p.since >= p.every
		if p.lost {
			p.since = 0
		}
	}
	if p.lost {
		pkt.Lost = Alone
	}
}

var periodicParams = params[periodic]{
	newParam(periodUnit, func(p *periodic) *int { return &p.Every }, "every", "", "N"),
}

var periodicKind = periodicParams.kind(nil, setting.ModelInfo{Name: "periodic", Summary: "every N-th packet is lost"})

var periodUnit = setting.Count("packets", 1, maxPeriod)
