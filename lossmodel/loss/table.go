package loss

import (
	"maps"
	"slices"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// kinds lists the loss models. A new one is a file with its Kind, and a line here.
var kinds = []kind{
	bernoulliKind,
	gilbertKind,
	elliottKind,
	fourStateKind,
	correlatedKind,
	periodicKind,
	patternKind,
	traceKind,
}

// kind is a loss model as the key loss takes it.
type kind struct {
	from func(Table) (Model, error)
	setting.ModelInfo
}

// Kinds lists the loss models in the order in which users should meet them.
func Kinds() []kind { return kinds }

// ParamNames returns the names that may stand beside the model's.
func (k *kind) ParamNames() (names []string) {
	for _, p := range k.Params {
		names = append(names, p.Name)
	}
	return names
}

// Table is the parameters of a model as a file gives them.
type Table map[string]any

// Read reads a table such as {model = "gilbert", mean = "5%", burst = 2.0}.
// Without a model, a burst makes it Gilbert's.
func Read(table Table) (Model, error) {
	name, given := table["model"]
	if !given {
		name = "bernoulli"
		if table["burst"] != nil || table["mean"] != nil {
			name = "gilbert"
		}
	}
	k, err := KindOf(name)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key != "model" && !slices.Contains(k.ParamNames(), key) {
			return nil, &setting.KeyError{Key: key, Expected: "parameter of the loss model " + k.Name, Known: k.ParamNames()}
		}
	}
	model, err := k.from(table)
	if err != nil || model == nil {
		return nil, err
	}
	return model, model.Check()
}

// KindOf returns the kind of that name; the error is a *setting.KeyError.
func KindOf(name any) (kind, error) {
	var known []string
	for _, k := range kinds {
		if name == k.Name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return kind{}, &setting.KeyError{Key: "loss.model", Value: setting.Show(name),
		Expected: "one of " + strings.Join(known, ", "), Known: known}
}

func checkRate(mean float64) error {
	if !setting.Percent.In(mean) {
		return setting.Percent.Refuse("loss", units.FormatPercent(mean))
	}
	return nil
}

// Parse reads "gilbert mean=5% burst=2" as a table; ok is false if the text
// does not begin with a model's name.
func Parse(text string) (table Table, ok bool) {
	words, ok := words.Split(text)
	if !ok || len(words) == 0 {
		return nil, false
	}
	if _, err := KindOf(words[0]); err != nil {
		return nil, false
	}
	table = Table{"model": words[0]}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		table[key] = value
	}
	return table, true
}
