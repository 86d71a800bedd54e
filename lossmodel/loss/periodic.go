package loss

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// periodic loses every Every-th packet. The first Every-1 packets are not lost. Copies are lost
// with their datagram.
type periodic struct{ Every int }

// maxPeriod is the largest value of periodic.Every, in packets.
const maxPeriod = 1_000_000_000

func (periodic) Model() string { return "periodic" }

func (p periodic) LossRate() float64 { return 1 / float64(max(p.Every, 1)) }

func (p periodic) Text() string { return periodicParams.text("periodic", p) }

func (p periodic) Check() error { return periodicParams.check(p) }

// Process implements Model. The count since the last loss is kept when the period changes.
func (p periodic) Process(prev Process, _ *tracefile.Library) Process {
	q := reuse[periodicProcess](prev)
	q.every = p.Every
	return q
}

// closedForm analyzes the model as a pattern of Every-1 arrivals and one loss.
func (p periodic) closedForm() (closedForm, bool) {
	// A longer period than 1024 changes little but the rate, which is set below.
	const maxBits = 1024
	bits := make([]bool, min(p.Every, maxBits))
	bits[len(bits)-1] = true
	form := analyzePattern(bits)
	form.Rate = p.LossRate()
	return form, true
}

// periodicProcess counts packets and loses every Every-th one.
type periodicProcess struct {
	every, count int  // period, packets since the last lost one
	lost         bool // outcome of the current datagram
}

func (p *periodicProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. A copy has the outcome of its datagram.
func (p *periodicProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.count++
		p.lost = p.count >= p.every
		if p.lost {
			p.count = 0
		}
	}
	if p.lost {
		pkt.Lost = Independent
	}
}

var periodicParams = params[periodic]{
	newParam(periodUnit, func(p *periodic) *int { return &p.Every }, "every", "", "packets from one loss to the next"),
}

var periodicKind = periodicParams.newKind(nil, setting.ModelInfo{Name: "periodic", Summary: "every N-th packet is lost"})

var periodUnit = setting.Count("packets", 1, maxPeriod)
