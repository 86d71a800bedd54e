package loss

import (
	"maps"
	"slices"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// kinds lists the loss models. To add one, write a file with its kind and add a line here.
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

// kind describes a loss model to the key loss.
type kind struct {
	read func(Table) (Model, error) // creates the model from a table
	setting.ModelInfo
}

// Kinds lists the loss models in the order in which users see them.
func Kinds() []kind { return kinds }

// ParamNames returns the names of the model's parameters.
func (k *kind) ParamNames() (names []string) {
	for _, p := range k.Params {
		names = append(names, p.Name)
	}
	return names
}

// Table has the parameters of a model by name, as in a configuration file, with the model's name
// under "model".
type Table map[string]any

// Read returns the model of a table such as {model = "gilbert", mean = "5%", burst = 2.0}. The
// default model is gilbert if there is a burst or a mean, otherwise bernoulli. The result is nil
// for a loss rate of 0.
func Read(table Table) (Model, error) {
	name, given := table["model"]
	if !given {
		name = "bernoulli"
		if table["burst"] != nil || table["mean"] != nil {
			name = "gilbert"
		}
	}
	k, err := KindByName(name)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key != "model" && !slices.Contains(k.ParamNames(), key) {
			return nil, &setting.KeyError{Key: key, Expected: "parameter of the loss model " + k.Name, Known: k.ParamNames()}
		}
	}
	model, err := k.read(table)
	if err != nil || model == nil {
		return nil, err
	}
	return model, model.Check()
}

// KindByName returns the kind with the given name. The error is a *setting.KeyError.
func KindByName(name any) (kind, error) {
	var known []string
	for _, k := range kinds {
		if name == k.Name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return kind{}, &setting.KeyError{Key: "loss.model", Value: setting.FormatValue(name),
		Expected: "one of " + strings.Join(known, ", "), Known: known}
}

// checkLossRate returns an error if a loss rate is not between 0 and 1.
func checkLossRate(mean float64) error {
	if !setting.Percent.InRange(mean) {
		return setting.Percent.Refuse("loss", units.FormatPercent(mean))
	}
	return nil
}

// Parse parses a text such as "gilbert mean=5% burst=2" as a table; a word without "=" is a key
// with the value "". ok is false if the text does not begin with the name of a model or a quote is
// not closed.
func Parse(text string) (table Table, ok bool) {
	fields, ok := words.Split(text)
	if !ok || len(fields) == 0 {
		return nil, false
	}
	if _, err := KindByName(fields[0]); err != nil {
		return nil, false
	}
	table = Table{"model": fields[0]}
	for _, word := range fields[1:] {
		key, value, _ := strings.Cut(word, "=")
		table[key] = value
	}
	return table, true
}
