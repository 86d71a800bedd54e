package loss_test

import (
	"math"
	"strings"
	"testing"

	"wirelab/internal/setting"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/random"
)

// examples has parameters by model. A model without an example is tested at the minimum of its
// parameters.
var examples = map[string]string{
	"bernoulli": "p=5%", "gilbert": "mean=5% burst=2", "gilbert-elliott": "p=1% r=20% h=10% k=99%",
	"four-state": "p13=1% p31=30% p32=10% p23=40% p14=1%", "correlated": "p=10% rho=25%", "periodic": "every=9",
	"pattern": "bits=00010",
}

// newModel returns the example of a model.
func newModel(t *testing.T, name string, params []setting.ParamInfo) loss.Model {
	t.Helper()
	text := examples[name]
	if text == "" {
		for _, p := range params {
			text += " " + p.Name + "=" + p.Min
		}
	}
	table, ok := loss.Parse(name + " " + text)
	m, err := loss.Read(table)
	if !ok || err != nil {
		t.Fatalf("%s %s: %v", name, text, err)
	}
	return m
}

// Every model has its loss rate, its fork makes the same decisions, and its text parses as the
// same model.
func TestModels(t *testing.T) {
	for _, k := range loss.Kinds() {
		if k.Name == "trace" {
			continue // needs a capture; tested with links
		}
		t.Run(k.Name, func(t *testing.T) {
			m := newModel(t, k.Name, k.Params)
			if text := m.Text(); strings.HasPrefix(text, k.Name) {
				table, _ := loss.Parse(text)
				if back, err := loss.Read(table); err != nil || back != m {
					t.Errorf("%s parses as %v, %v", text, back, err)
				}
			}
			const n = 200_000
			p, lost := m.Process(nil, nil), 0.0
			s := random.NewStream(1, k.Name)
			for i := range n {
				word := s.Next(0)
				pkt := loss.Packet{Word: word, Fragments: 1}
				fork := pkt
				if i%1000 == 0 {
					p.Fork().Judge(&fork)
				}
				if p.Judge(&pkt); i%1000 == 0 && fork != pkt {
					t.Fatalf("packet %d: %+v, fork %+v", i, pkt, fork)
				}
				if pkt.Lost != loss.NotLost {
					lost++
				}
			}
			law, ok := loss.Analyze(m)
			if !ok || math.Abs(law.Rate-m.LossRate()) > 1e-12 {
				law.Rate, law.Variance = m.LossRate(), 1
			}
			if got := lost / n; math.Abs(got-law.Rate) > 6*math.Sqrt(law.Variance/n)+1e-4 {
				t.Errorf("lost %.5f, expected %.5f", got, law.Rate)
			}
		})
	}
}
