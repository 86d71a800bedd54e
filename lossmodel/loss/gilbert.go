package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Gilbert loses packets in bursts (E. N. Gilbert 1960, in the form that loses
// everything in the bad state): a chain of two states, advanced once for each
// datagram. Mean is the share lost in the long run, Burst the mean number of
// packets lost in a row, at least 1. So the bad state is left with r = 1/Burst and
// entered with p = r Mean/(1-Mean). Mean 1 loses everything.
//
// A burst is a condition of the path at one moment: a copy of a datagram finds
// the state that the datagram found, and fragments count as one.
type Gilbert struct{ Mean, Burst float64 }

// Model implements Model.
func (Gilbert) Model() string { return "gilbert" }

// LossRate implements Model.
func (g Gilbert) LossRate() float64 { return g.Mean }

// Text implements Model.
func (g Gilbert) Text() string { return units.FormatPercent(g.Mean) }

// rates returns the probabilities of entering and of leaving the bad state.
func (g Gilbert) rates() (enter, leave float64) {
	if g.Mean >= 1 {
		return 1, 0
	}
	leave = 1 / g.Burst
	return leave * g.Mean / (1 - g.Mean), leave
}

// Check implements Model.
func (g Gilbert) Check() error {
	if err := checkRate(g.Mean); err != nil {
		return err
	}
	if !(g.Burst >= 1 && g.Burst <= setting.MaxBurst) {
		return setting.Burst.Refuse("burst", units.FormatDecimal(g.Burst))
	}
	// The rounding of the text's decimals must not refuse the very limit.
	if enter, _ := g.rates(); enter > 1+1e-9 {
		return &setting.KeyError{Key: "burst", Value: units.FormatDecimal(g.Burst), Expected: fmt.Sprintf(
			"at least %.4g packets at a mean loss of %s: shorter bursts cannot lose so much",
			g.Mean/(1-g.Mean), units.FormatPercent(g.Mean))}
	}
	return nil
}

// Process implements Model.
func (g Gilbert) Process(prev Process, _ *tracefile.Library) Process {
	p := prior[gilbertProcess](prev)
	enter, leave := g.rates()
	p.enter, p.leave, p.start = random.ChanceOf(enter), random.ChanceOf(leave), random.ChanceOf(g.Mean)
	return p
}

type gilbertProcess struct {
	enter, leave random.Chance
	start        random.Chance // of being in the bad state at first: the chain starts stationary
	bad, begun   bool
}

func (p *gilbertProcess) Fork() Process { c := *p; return &c }

func (p *gilbertProcess) Judge(pkt *Packet) {
	p.advance(pkt)
	if p.bad {
		pkt.Lost = InBurst
	}
}

// advance moves the chain for a datagram, and tells the later stages of the state.
func (p *gilbertProcess) advance(pkt *Packet) {
	if pkt.Copy == 0 {
		switch {
		case !p.begun:
			p.begun, p.bad = true, p.start.Hit(pkt.Word)
		case p.bad:
			p.bad = !p.leave.Hit(pkt.Word)
		default:
			p.bad = p.enter.Hit(pkt.Word)
		}
	}
	pkt.Bad = p.bad
}

func (g Gilbert) chain() markov {
	if g.Mean >= 1 {
		return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{1}}
	}
	enter, leave := g.rates()
	return markov{n: 2, next: [4][4]float64{{1 - enter, enter}, {leave, 1 - leave}}, loss: [4]float64{0, 1}}
}

var gilbertKind = Kind{gilbertFrom, setting.ModelInfo{Name: "gilbert", Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
	Summary: "bursts, in which everything is lost",
	Params: []setting.ParamInfo{
		paramOf("mean", setting.Percent, "", "share lost"),
		paramOf("burst", setting.Burst, "off", "mean number of packets lost in a row; off: that of independent losses"),
	},
}}

// gilbertFrom reads mean and burst. Without a burst, or with "off", it is that of
// independent losses, 1/(1-mean), which is Bernoulli's model.
func gilbertFrom(t Table) (Model, error) {
	mean, err := required(t, "mean", setting.Percent)
	if err != nil {
		return nil, err
	}
	value, ok := t["burst"]
	if !ok {
		return WithMean(nil, mean), nil
	}
	burst, err := setting.Burst.Read("loss.burst", value)
	return WithBurst(WithMean(nil, mean), burst), err
}
