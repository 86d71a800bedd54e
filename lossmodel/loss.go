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

// lossStage applies the loss model of a spec.
type lossStage struct {
	stream    random.Stream
	times     random.Stream // of models whose state depends on time
	files     *tracefile.Library
	process   loss.Process
	packet    loss.Packet             // buffer of Apply, reused
	processes map[string]loss.Process // by model name; a model that is selected again continues with its state
}

// reshape implements specStage. It selects the process of the spec's model, which continues with the
// state that it had when the model was last used. The stage is on if packets can be lost.
func (s *lossStage) reshape(spec *Spec) bool {
	m := spec.Loss
	if m == nil {
		return false
	}
	// The loss rate of a model that reads a file is unknown and reported as 0.
	if _, readsFile := m.(loss.FileModel); !readsFile && m.LossRate() == 0 {
		return false
	}
	if s.processes == nil {
		s.processes = map[string]loss.Process{}
	}
	s.process = m.Process(s.processes[m.Model()], s.files)
	if timed, ok := s.process.(loss.Timed); ok {
		timed.Start(s.times)
	}
	s.processes[m.Model()] = s.process
	return true
}

func (s *lossStage) advance(now time.Duration) {
	if timed, ok := s.process.(loss.Timed); ok {
		timed.Advance(now)
	}
}

// Apply implements Stage. It passes the packet to the loss model and stores the outcome in f.
func (s *lossStage) Apply(now time.Duration, _ int, f *Fate) {
	p := &s.packet
	p.Sent, p.Word, p.Copy, p.Fragments = now, s.stream.Next(f.Copy), f.Copy, f.Fragments
	p.Lost, p.Bad, p.Draw = loss.NotLost, false, random.Draw{}
	s.process.Judge(p)
	f.Bad = p.Bad
	f.draw = p.Draw
	if p.Lost != loss.NotLost {
		f.markLost(lossCauses[p.Lost])
	}
}

// lossCauses maps the outcomes of a loss model to causes.
var lossCauses = [...]Cause{loss.NotLost: None, loss.Independent: Loss, loss.Burst: Burst, loss.Fragment: Fragment}

// fork implements specStage. It copies the processes of all models used so far.
func (s *lossStage) fork() specStage {
	c := *s
	if s.processes != nil {
		c.processes = make(map[string]loss.Process, len(s.processes))
	}
	for model, process := range s.processes {
		c.processes[model] = process.Fork()
	}
	return &c // s.process is still shared; the reshape that must follow replaces it
}

// lossRow describes the loss stage.
func lossRow() stageRow {
	return stageRow{
		name: StageLoss,
		keys: lossKeys(),
		newStage: func(context *stageContext) specStage {
			return &lossStage{stream: context.stream(StageLoss), times: context.stream(StageLoss + ".time"), files: context.files}
		},
		check: func(s *Spec) error {
			if s.Loss == nil {
				return nil
			}
			return s.Loss.Check()
		},
	}
}

// lossKeys returns the keys loss and burst. Together they select between the models bernoulli and
// gilbert: a burst selects gilbert, "off" bernoulli. A burst is kept while the loss is 0%, so that
// the keys can be set in any order.
func lossKeys() []keyRow {
	return []keyRow{
		lossKey(),
		newComputedKey(loss.BurstLengthUnit, func(s *Spec) loss.BurstLength { return loss.BurstOf(s.Loss) },
			func(s *Spec, burst loss.BurstLength) { s.Loss = loss.WithBurst(s.Loss, burst) }, KeyInfo{
				Key: "burst", Stage: "loss", Needs: []string{"loss"}, Ladder: []string{"off", "1.5", "2", "3", "4", "5", "7", "10", "15", "20", "50", "100"},
				Help: "mean number of packets lost in a row, by the Gilbert model, or the mean duration of a burst, such as \"30ms\"; " +
					"off: losses are independent",
				Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
			}),
	}
}

// lossKey returns the key loss. It accepts a fraction, or a model such as "gilbert mean=5%
// burst=2".
func lossKey() keyRow {
	k := newComputedKey(setting.Percent, func(s *Spec) float64 { return loss.RateOf(s.Loss) },
		func(s *Spec, mean float64) { s.Loss = loss.WithMean(s.Loss, mean) }, KeyInfo{
			Key: "loss", Stage: "loss", Ladder: percentLadder,
			Help: `fraction of packets lost; or a model, such as "gilbert mean=5% burst=2" or as a table: ` +
				`{model = "bernoulli", p = "5%"}, {model = "gilbert", mean = "5%", burst = 2.0}`,
		})
	for _, m := range loss.Kinds() {
		k.Models = append(k.Models, m.ModelInfo)
	}
	setRate := k.Set
	k.Set = func(s *Spec, value any) error {
		text, _ := value.(string)
		table, ok := loss.Parse(text)
		if !ok { // the text does not begin with the name of a model, so it is a loss rate
			return setRate(s, value)
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

// setLoss replaces the loss model by that of a table with the key model and its parameters. After an
// error the model is unchanged.
func (s *Spec) setLoss(table loss.Table) error {
	model, err := loss.Read(table)
	if err == nil {
		s.Loss = model
	}
	return err
}

// setLossParam sets parameter name of the current loss model, such as "r" for the key "loss.r". ok is
// false, and nothing is set, if the model has no such parameter, or if it is bernoulli or gilbert, whose
// parameters have their own keys.
func (s *Spec) setLossParam(name string, value any) (err error, ok bool) {
	if _, independent := s.Loss.(loss.Bernoulli); s.Loss == nil || independent || loss.BurstOf(s.Loss) != (loss.BurstLength{}) {
		return nil, false
	}
	kind, err := loss.KindByName(s.Loss.Model())
	if err != nil || !slices.Contains(kind.ParamNames(), name) {
		return nil, false
	}
	table, _ := loss.Parse(s.Loss.Text()) // all parameters of the current model
	table[name] = value
	return s.setLoss(table), true
}

// regroupLoss collects keys such as "loss.model" and "loss.r" in one table under the key "loss", so
// that their order does not matter. Without "loss.model", and for models whose parameters have keys
// of their own, it returns the table unchanged.
func regroupLoss(table map[string]any) map[string]any {
	switch table["loss.model"] {
	case nil, "bernoulli", "gilbert": // the parameters of these models have keys of their own
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

// setLossModel sets the key "loss.model" without parameters. "gilbert" has no effect until a
// burst is set, because without bursts it is bernoulli.
func (s *Spec) setLossModel(value any) error {
	kind, err := loss.KindByName(value)
	if err == nil && kind.Name == "bernoulli" {
		s.Loss = loss.WithBurst(s.Loss, loss.BurstLength{})
	}
	return err
}

// percentLadder and spanLadder are the slider stops for percentages and times.
var (
	percentLadder = []string{"0%", "0.1%", "0.2%", "0.5%", "1%", "2%", "3%", "5%", "7%", "10%",
		"15%", "20%", "25%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "100%"}
	spanLadder = []string{"0ms", "1ms", "2ms", "5ms", "10ms", "15ms", "20ms", "25ms", "30ms", "40ms", "50ms", "60ms", "80ms",
		"100ms", "125ms", "150ms", "200ms", "250ms", "300ms", "400ms", "500ms", "750ms", "1s", "1.5s", "2s"}
)

// setTrace sets the key "trace": losses, delays and copies are those of one capture. "off" removes
// the captures of all three.
func (s *Spec) setTrace(value any) error {
	u := tracefile.Unit("a capture", true)
	file, err := u.Read("trace", value)
	if err != nil {
		return err
	}
	s.Delay.Trace, s.Duplicate.Trace = file, file
	switch _, wasTrace := s.Loss.(loss.Trace); {
	case file.Path != "":
		s.Loss = loss.Trace{File: file}
	case wasTrace: // "off" removes a trace but keeps any other loss model
		s.Loss = nil
	}
	return nil
}
