package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// GilbertElliott is the full model of E. O. Elliott (1963): two states, good and
// bad, and losses in both. Each datagram first moves the chain, from good to bad
// with P and back with R, and is then lost with 1-H in the bad state and with 1-K
// in the good one. H = 0 and K = 1 is Gilbert by its transitions. tc writes
// it as gemodel p r 1-h 1-k.
//
// A copy of a datagram finds the state that the datagram found, but is lost or
// not by itself; fragments count as one.
type GilbertElliott struct{ P, R, H, K float64 }

// Model implements Model.
func (GilbertElliott) Model() string { return "gilbert-elliott" }

// LossRate implements Model.
func (g GilbertElliott) LossRate() float64 {
	bad := g.bad()
	return float64(bad*(1-g.H)) + float64((1-bad)*(1-g.K))
}

// bad returns the share of time in the bad state.
func (g GilbertElliott) bad() float64 {
	if g.P+g.R == 0 {
		return 0
	}
	return g.P / (g.P + g.R)
}

// Text implements Model.
func (g GilbertElliott) Text() string {
	return modelText("gilbert-elliott", "p", units.FormatPercent(g.P), "r", units.FormatPercent(g.R),
		"h", units.FormatPercent(g.H), "k", units.FormatPercent(g.K))
}

// Check implements Model.
func (g GilbertElliott) Check() error {
	if err := shares("p", g.P, "r", g.R, "h", g.H, "k", g.K); err != nil {
		return err
	}
	if g.R == 0 {
		return &setting.KeyError{Key: "loss.r", Value: "0%", Expected: "more than 0%: the bad state would never be left"}
	}
	return nil
}

func (g GilbertElliott) chain() markov {
	return markov{n: 2, next: [4][4]float64{{1 - g.P, g.P}, {g.R, 1 - g.R}}, loss: [4]float64{1 - g.K, 1 - g.H}}
}

// Process implements Model.
func (g GilbertElliott) Process(prev Process, _ *tracefile.Library) Process {
	p := prior[elliottProcess](prev)
	p.gilbertProcess.enter, p.gilbertProcess.leave = random.ChanceOf(g.P), random.ChanceOf(g.R)
	p.start = random.ChanceOf(g.bad())
	p.inGood, p.inBad = random.ChanceOf(1-g.K), random.ChanceOf(1-g.H)
	return p
}

// elliottProcess is the chain of Gilbert's with losses that are not certain.
type elliottProcess struct {
	gilbertProcess
	inGood, inBad random.Chance
}

func (p *elliottProcess) Fork() Process { c := *p; return &c }

func (p *elliottProcess) Judge(pkt *Packet) {
	p.advance(pkt)
	own := random.Further(pkt.Word, 0)
	switch {
	case p.bad && p.inBad.Hit(own):
		pkt.Lost = InBurst
	case !p.bad && p.inGood.Hit(own):
		pkt.Lost = Alone
	}
}

var elliottKind = Kind{elliottFrom, setting.ModelInfo{Name: "gilbert-elliott",
	Source:  "E. O. Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels, 1963",
	Summary: "a good and a bad state, with losses in both",
	Params: []setting.ParamInfo{
		paramOf("p", setting.Percent, "", "from good to bad, per packet"),
		paramOf("r", setting.Percent, "", "from bad to good, per packet; above 0%"),
		paramOf("h", setting.Percent, "0%", "share that arrives in the bad state"),
		paramOf("k", setting.Percent, "100%", "share that arrives in the good state"),
	},
}}

func elliottFrom(t Table) (Model, error) {
	var g GilbertElliott
	err := t.read(
		given(&g.P, "p", setting.Percent),
		given(&g.R, "r", setting.Percent),
		optional(&g.H, "h", setting.Percent, 0),
		optional(&g.K, "k", setting.Percent, 1))
	return g, err
}
