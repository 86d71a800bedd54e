package lossmodel

import (
	"slices"
	"strings"
)

// The keys loss and burst speak of Bernoulli and Gilbert together: a burst makes
// it Gilbert's, "off" makes it independent again. A burst is remembered while the
// loss is 0%, so that the two can be set in any order.

func lossSettings() []setting {
	return []setting{
		lossSetting(),
		newComputed(burstUnit, func(s *Spec) float64 { return burstOf(s.Loss) },
			func(s *Spec, burst float64) { s.Loss = withBurst(s.Loss, burst) }, KeyInfo{
				Key: "burst", Stage: "loss", Ladder: []string{"off", "1.5", "2", "3", "4", "5", "7", "10", "15", "20", "50", "100"},
				Help:   "mean number of packets lost in a row, by Gilbert's model; off: each packet is lost by itself",
				Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
			}),
	}
}

// lossSetting also takes a model in words: "gilbert mean=5% burst=2".
func lossSetting() setting {
	k := newComputed(percentUnit, func(s *Spec) float64 { return meanOf(s.Loss) },
		func(s *Spec, mean float64) { s.Loss = withMean(s.Loss, mean) }, KeyInfo{
			Key: "loss", Stage: "loss", Ladder: percentLadder,
			Help: `share of packets lost; or a model, as "gilbert mean=5% burst=2" or as a table: ` +
				`{model = "bernoulli", p = "5%"}, {model = "gilbert", mean = "5%", burst = 2.0}`,
			Models: LossModels(),
		})
	share := k.set
	k.set = func(s *Spec, value any) error {
		text, _ := value.(string)
		table, ok := lossWords(text)
		if !ok {
			return share(s, value)
		}
		return s.setLoss(table)
	}
	k.get = func(s *Spec) string {
		if s.Loss == nil {
			return formatPercent(0)
		}
		return s.Loss.text()
	}
	return k
}

// setLoss replaces the whole model.
func (s *Spec) setLoss(table lossTable) error {
	model, err := lossFrom(table)
	if err == nil {
		s.Loss = model
	}
	return err
}

// lossWords reads "gilbert mean=5% burst=2" as a table; ok is false if the text
// does not begin with a model's name.
func lossWords(text string) (table lossTable, ok bool) {
	words, ok := splitWords(text)
	if !ok || len(words) == 0 {
		return nil, false
	}
	if _, err := lossKindOf(words[0]); err != nil {
		return nil, false
	}
	table = lossTable{"model": words[0]}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		table[key] = value
	}
	return table, true
}

func meanOf(m LossModel) float64 {
	if m == nil {
		return 0
	}
	return m.mean()
}

func burstOf(m LossModel) float64 {
	if g, ok := m.(Gilbert); ok {
		return g.Burst
	}
	return 0
}

// withMean gives Gilbert's model another mean, and makes all others Bernoulli's:
// the text "5%" must mean one thing, whatever was set before.
func withMean(m LossModel, mean float64) LossModel {
	if g, ok := m.(Gilbert); ok {
		return Gilbert{Mean: mean, Burst: g.Burst}
	}
	if mean == 0 {
		return nil
	}
	return Bernoulli{P: mean}
}

// withBurst makes a model Gilbert's, or, with a burst of 0, Gilbert's Bernoulli's;
// a model whose bursts are a matter of other parameters stays as it is.
func withBurst(m LossModel, burst float64) LossModel {
	if burst == 0 {
		if _, ok := m.(Gilbert); ok {
			return withMean(nil, meanOf(m))
		}
		return m
	}
	return Gilbert{Mean: meanOf(m), Burst: burst}
}

// setLossParam is a key such as "loss.r": a parameter of the model that is set.
// ok is false if that model's parameters have keys of their own, or if it has none
// of that name.
func (s *Spec) setLossParam(name string, value any) (err error, ok bool) {
	switch s.Loss.(type) {
	case nil, Bernoulli, Gilbert:
		return nil, false
	}
	kind, err := lossKindOf(s.Loss.Model())
	if err != nil || !slices.Contains(kind.params(), name) {
		return nil, false
	}
	table, _ := lossWords(s.Loss.text())
	table[name] = value
	return s.setLoss(table), true
}

// gatherLoss returns the keys of table with those of a loss model's table, as
// "loss.model" and "loss.r", put back together, so that their order does not
// matter.
func gatherLoss(table map[string]any) map[string]any {
	switch table["loss.model"] {
	case nil, "bernoulli", "gilbert": // their keys work one by one
		return table
	}
	model, rest := map[string]any{}, map[string]any{}
	for key, value := range table {
		if name, ok := strings.CutPrefix(key, "loss."); ok {
			model[name] = value
		} else {
			rest[key] = value
		}
	}
	rest["loss"] = model
	return rest
}

// setLossModel is the key "loss.model" by itself. Gilbert's model without a burst
// is that of independent losses, so it changes nothing until a burst is set.
func (s *Spec) setLossModel(value any) error {
	kind, err := lossKindOf(value)
	if err == nil && kind.Name == "bernoulli" {
		s.Loss = withBurst(s.Loss, 0)
	}
	return err
}

// percentLadder and spanLadder are the stops of the sliders for shares and times.
var (
	percentLadder = []string{"0%", "0.1%", "0.2%", "0.5%", "1%", "2%", "3%", "5%", "7%", "10%",
		"15%", "20%", "25%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "100%"}
	spanLadder = []string{"0ms", "1ms", "2ms", "5ms", "10ms", "15ms", "20ms", "25ms", "30ms", "40ms", "50ms", "60ms", "80ms",
		"100ms", "125ms", "150ms", "200ms", "250ms", "300ms", "400ms", "500ms", "750ms", "1s", "1.5s", "2s"}
)
