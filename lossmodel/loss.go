package lossmodel

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// LossModel is the parameters of one way to lose packets: Bernoulli, Gilbert,
// GilbertElliott, FourState, Correlated, Periodic, Pattern or TraceLoss.
// Values compare with ==. A new model is a file with such a value and its
// process, and a case in lossKinds.
type LossModel interface {
	// Model returns the name that a loss table's model key takes.
	Model() string
	// mean returns the share of packets lost in the long run, 0 if only a file
	// knows.
	mean() float64
	// check says whether the parameters make sense together.
	check() error
	// text returns what the key loss reads as: the mean alone where the key burst
	// says the rest, otherwise the model in words, "gilbert mean=5% burst=2".
	text() string
	// process returns what decides by these parameters; prev is what did so when
	// a link last used this kind of model, nil at first, and lends its state. A
	// model that reads a file finds it in files.
	process(prev lossProcess, files *library) lossProcess
}

// lossProcess decides packet by packet.
type lossProcess interface {
	// judge marks f as lost or not by the packet's word; now is when it was sent.
	judge(now time.Duration, word uint64, f *Fate)
	// fork returns a copy that shares nothing that changes.
	fork() lossProcess
}

type lossStage struct {
	stream  stream
	files   *library
	process lossProcess
	known   map[string]lossProcess // by model: a model that comes back finds its state
}

func (s *lossStage) reshape(spec *Spec) bool {
	m := spec.Loss
	if m == nil {
		return false
	}
	if _, reads := m.(filed); !reads && m.mean() == 0 {
		return false
	}
	if s.known == nil {
		s.known = map[string]lossProcess{}
	}
	s.process = m.process(s.known[m.Model()], s.files)
	s.known[m.Model()] = s.process
	return true
}

// Apply implements Stage.
func (s *lossStage) Apply(now time.Duration, _ int, f *Fate) {
	s.process.judge(now, s.stream.next(f.Copy), f)
}

// lossKind is a model as a table names it.
type lossKind struct {
	ModelInfo
	from func(lossTable) (LossModel, error)
}

// lossTable is the parameters of a model as a file gives them.
type lossTable map[string]any

// lossFrom reads a table such as {model = "gilbert", mean = "5%", burst = 2.0}.
// Without a model, a burst makes it Gilbert's.
func lossFrom(table lossTable) (LossModel, error) {
	name, given := table["model"]
	if !given {
		name = "bernoulli"
		if table["burst"] != nil || table["mean"] != nil {
			name = "gilbert"
		}
	}
	kind, err := lossKindOf(name)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key != "model" && !slices.Contains(kind.params(), key) {
			return nil, &KeyError{Key: key, Expected: "parameter of the loss model " + kind.Name, Known: kind.params()}
		}
	}
	model, err := kind.from(table)
	if err != nil || model == nil {
		return nil, err
	}
	return model, model.check()
}

func lossKindOf(name any) (lossKind, error) {
	var known []string
	for _, kind := range lossKinds() {
		if name == kind.Name {
			return kind, nil
		}
		known = append(known, kind.Name)
	}
	return lossKind{}, &KeyError{Key: "loss.model", Value: show(name),
		Expected: "one of " + strings.Join(known, ", "), Known: known}
}

// required reads a parameter that has no default.
func required[T comparable](t lossTable, key string, u unit[T]) (v T, err error) {
	value, ok := t[key]
	if !ok {
		return v, u.refuse("loss."+key, "nothing")
	}
	return u.read("loss."+key, value)
}

func checkLoss(mean float64) error {
	if !percentUnit.in(mean) {
		return percentUnit.refuse("loss", formatPercent(mean))
	}
	return nil
}
