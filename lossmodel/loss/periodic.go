package loss

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// Periodic loses every Every-th packet, beginning with that one: nothing is left
// to chance. A copy shares its datagram's fate.
type Periodic struct{ Every int }

// MaxPeriod is the longest period of Periodic, in packets.
const MaxPeriod = 1_000_000_000

// Model implements Model.
func (Periodic) Model() string { return "periodic" }

// LossRate implements Model.
func (p Periodic) LossRate() float64 { return 1 / float64(max(p.Every, 1)) }

// Text implements Model.
func (p Periodic) Text() string { return modelText("periodic", "every", periodUnit.Format(p.Every)) }

// Check implements Model.
func (p Periodic) Check() error {
	if !periodUnit.In(p.Every) {
		return periodUnit.Refuse("loss.every", periodUnit.Format(p.Every))
	}
	return nil
}

// Process implements Model.
func (p Periodic) Process(prev Process, _ *tracefile.Library) Process {
	q := prior[periodicProcess](prev)
	q.every = p.Every
	return q
}

func (p Periodic) law() (Law, bool) {
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
		if p.lost = p.since >= p.every; p.lost {
			p.since = 0
		}
	}
	if p.lost {
		pkt.Lost = Alone
	}
}

var periodicKind = Kind{periodicFrom, setting.ModelInfo{Name: "periodic",
	Summary: "every N-th packet is lost",
	Params: []setting.ParamInfo{
		paramOf("every", periodUnit, "", "N"),
	},
}}

func periodicFrom(t Table) (Model, error) {
	var p Periodic
	err := t.read(given(&p.Every, "every", periodUnit))
	return p, err
}

var periodUnit = setting.Count("packets", 1, MaxPeriod)
