package lossmodel

import (
	"slices"
	"strings"
	"time"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

type lossStage struct {
	stream  random.Stream
	files   *tracefile.Library
	process loss.Process
	packet  loss.Packet             // reused
	known   map[string]loss.Process // by model: a model that comes back finds its state
}

func (s *lossStage) reshape(spec *Spec) bool {
	m := spec.Loss
	if m == nil {
		return false
	}
	if _, reads := m.(loss.FileModel); !reads && m.LossRate() == 0 {
		return false
	}
	if s.known == nil {
		s.known = map[string]loss.Process{}
	}
	s.process = m.Process(s.known[m.Model()], s.files)
	s.known[m.Model()] = s.process
	return true
}

// Apply implements Stage.
func (s *lossStage) Apply(now time.Duration, _ int, f *Fate) {
	p := &s.packet
	p.Sent, p.Word, p.Copy, p.Fragments = now, s.stream.Next(f.Copy), f.Copy, f.Fragments
	p.Lost, p.Bad = loss.Arrives, false
	s.process.Judge(p)
	f.Bad = p.Bad
	if p.Lost != loss.Arrives {
		f.lose(lossCauses[p.Lost])
	}
}

var lossCauses = [...]Cause{loss.Arrives: None, loss.Alone: Loss, loss.InBurst: Burst, loss.InFragment: Fragment}

func (s *lossStage) fork() specStage {
	c := *s
	if s.known != nil {
		c.known = make(map[string]loss.Process, len(s.known))
	}
	for model, process := range s.known {
		c.known[model] = process.Fork()
	}
	return &c // reshape finds the process
}

func lossRow() stageRow {
	return stageRow{
		name: StageLoss,
		keys: lossKeys(),
		make: func(p *stageContext) specStage { return &lossStage{stream: p.stream(StageLoss), files: p.files} },
		check: func(s *Spec) error {
			if s.Loss == nil {
				return nil
			}
			return s.Loss.Check()
		},
	}
}

// The keys loss and burst speak of Bernoulli and Gilbert together: a burst makes
// it Gilbert's, "off" makes it independent again. A burst is remembered while the
// loss is 0%, so that the two can be set in any order.

func lossKeys() []keyRow {
	return []keyRow{
		lossKey(),
		newComputed(setting.Burst, func(s *Spec) float64 { return loss.BurstOf(s.Loss) },
			func(s *Spec, burst float64) { s.Loss = loss.WithBurst(s.Loss, burst) }, KeyInfo{
				Key: "burst", Stage: "loss", Ladder: []string{"off", "1.5", "2", "3", "4", "5", "7", "10", "15", "20", "50", "100"},
				Help:   "mean number of packets lost in a row, by Gilbert's model; off: each packet is lost by itself",
				Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
			}),
	}
}

// lossKey also takes a model in words: "gilbert mean=5% burst=2".
func lossKey() keyRow {
	k := newComputed(setting.Percent, func(s *Spec) float64 { return loss.RateOf(s.Loss) },
		func(s *Spec, mean float64) { s.Loss = loss.WithMean(s.Loss, mean) }, KeyInfo{
			Key: "loss", Stage: "loss", Ladder: percentLadder,
			Help: `share of packets lost; or a model, as "gilbert mean=5% burst=2" or as a table: ` +
				`{model = "bernoulli", p = "5%"}, {model = "gilbert", mean = "5%", burst = 2.0}`,
		})
	for _, m := range loss.Kinds() {
		k.Models = append(k.Models, m.ModelInfo)
	}
	share := k.Set
	k.Set = func(s *Spec, value any) error {
		text, _ := value.(string)
		table, ok := loss.Parse(text)
		if !ok {
			return share(s, value)
		}
		return s.setLoss(table)
	}
	k.Get = func(s *Spec) any {
		if s.Loss == nil {
			return units.FormatPercent(0)
		}
		return s.Loss.Text()
	}
	return k
}

// setLoss replaces the whole model.
func (s *Spec) setLoss(table loss.Table) error {
	model, err := loss.Read(table)
	if err == nil {
		s.Loss = model
	}
	return err
}

// setLossParam is a key such as "loss.r": a parameter of the model that is set.
// ok is false if that model's parameters have keys of their own, or if it has none
// of that name.
func (s *Spec) setLossParam(name string, value any) (err error, ok bool) {
	switch s.Loss.(type) {
	case nil, loss.Bernoulli, loss.Gilbert:
		return nil, false
	}
	kind, err := loss.KindOf(s.Loss.Model())
	if err != nil || !slices.Contains(kind.ParamNames(), name) {
		return nil, false
	}
	table, _ := loss.Parse(s.Loss.Text())
	table[name] = value
	return s.setLoss(table), true
}

// regroupLoss returns the keys of table with those of a loss model's table, as
// "loss.model" and "loss.r", put back together, so that their order does not
// matter.
func regroupLoss(table map[string]any) map[string]any {
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
	kind, err := loss.KindOf(value)
	if err == nil && kind.Name == "bernoulli" {
		s.Loss = loss.WithBurst(s.Loss, 0)
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

// setTrace is the key "trace": losses, delays and copies of one capture, or, with
// "off", of none.
func (s *Spec) setTrace(value any) error {
	u := tracefile.Unit("a capture", true)
	f, err := u.Read("trace", value)
	if err != nil {
		return err
	}
	s.Delay.Trace, s.Duplicate.Trace = f, f
	switch _, was := s.Loss.(loss.Trace); {
	case f.Path != "":
		s.Loss = loss.Trace{File: f}
	case was:
		s.Loss = nil
	}
	return nil
}
