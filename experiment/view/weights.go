package view

import (
	"math"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// Weights shape priorities. The weight of a field multiplies the differences of its values in the error
// of a row; the weight of a group of rows multiplies what each packet adds to their priorities. Weights
// are equal (==) if their texts are. The zero Weights change nothing.
type Weights struct{ text string } // canonical

// noWeights is the text of the zero Weights.
const noWeights = "off"

// weightUnit is the number of units of a weight of 1, and maxWeight the largest weight in them.
const (
	weightUnit = 1000
	maxWeight  = 100 * weightUnit
)

// weight is one of the weights of a list.
type weight struct {
	name   string // of a field, or a field and one of its values, such as "class:tank"
	factor uint32 // in 1/weightUnit
}

// text returns the weight as ParseWeights reads it.
func (w *weight) text() string {
	return w.name + "=" + units.FormatDecimal(float64(w.factor)/weightUnit)
}

// ParseWeights parses a list of weights such as "x=2, class:tank=0.5", or "off". Check finds names that
// the data do not have. The error is a *setting.KeyError.
func ParseWeights(text string) (Weights, error) {
	if strings.TrimSpace(text) == noWeights {
		return Weights{}, nil
	}
	var texts, names []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		at := strings.LastIndexByte(word, '=')
		name := strings.TrimSpace(word[:max(at, 0)])
		factor, ok := units.ParseDecimal(strings.TrimSpace(word[at+1:]), 0)
		switch {
		case name == "":
			return Weights{}, &setting.KeyError{Key: "weights", Value: setting.FormatValue(word), Expected: `a list such as "x=2, class:tank=0.5", or "off"`}
		case slices.Contains(names, name):
			return Weights{}, &setting.KeyError{Key: name, Value: setting.FormatValue(word), Expected: "each name once"}
		case !ok || factor < 0 || factor > maxWeight/weightUnit || factor > 0 && factor < 1.0/weightUnit:
			return Weights{}, &setting.KeyError{Key: name, Value: setting.FormatValue(word), Expected: "0, or a factor from 0.001 to 100, such as " + name + "=2"}
		}
		w := weight{name, uint32(math.Round(factor * weightUnit))}
		texts, names = append(texts, w.text()), append(names, name)
	}
	return Weights{strings.Join(texts, ", ")}, nil
}

// String returns the text for ParseWeights.
func (w Weights) String() string {
	if w.text == "" {
		return noWeights
	}
	return w.text
}

func (w Weights) list() (list []weight) {
	if w.text == "" {
		return nil
	}
	for word := range strings.SplitSeq(w.text, ", ") {
		at := strings.LastIndexByte(word, '=')
		factor, _ := units.ParseDecimal(word[at+1:], 0) // is valid: ParseWeights wrote it
		list = append(list, weight{word[:at], uint32(math.Round(factor * weightUnit))})
	}
	return list
}

// Check returns an error if rows of schema s do not have what w names: a *setting.KeyError.
func (w Weights) Check(s *frame.Schema) error {
	_, _, err := w.resolve(s)
	return err
}

// Names of the weights of the two parts of a cube's error, by their index.
var cubeWeights = [...]string{"position", "orientation"}

// group is the weight of the rows with one value of a field.
type group struct {
	field  int
	value  int32
	factor uint32 // in 1/weightUnit
}

// resolve returns the weights of all fields, or of the parts in cubeWeights, and those of groups.
func (w Weights) resolve(s *frame.Schema) (fields []uint32, groups []group, err error) {
	names := fieldNames(s)
	fields = slices.Repeat([]uint32{weightUnit}, len(names))
	for _, x := range w.list() {
		if i := slices.Index(names, x.name); i >= 0 {
			fields[i] = x.factor
			continue
		}
		g, err := findGroup(s, names, x)
		if err != nil {
			return fields, nil, err
		}
		groups = append(groups, g)
	}
	return fields, groups, nil
}

// fieldNames returns the names that weights of fields can have.
func fieldNames(s *frame.Schema) (names []string) {
	if frame.IsCubes(s) {
		return cubeWeights[:]
	}
	for i := range s.Fields {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// findGroup returns the group that x names: a field, a colon and a value. fields are the names of
// weights of fields. The error is a *setting.KeyError.
func findGroup(s *frame.Schema, fields []string, x weight) (group, error) {
	known := slices.Clone(fields)
	for i := range s.Fields {
		f := &s.Fields[i]
		values := f.Values
		if f.Kind == frame.Flag {
			values = []string{"0", "1"}
		}
		for v, value := range values {
			name := f.Name + ":" + value
			if name == x.name {
				return group{i, int32(v), x.factor}, nil
			}
			known = append(known, name)
		}
	}
	return group{}, &setting.KeyError{Key: x.name, Expected: "field or value of a field", Known: known}
}

// SetWeights sets the weights. Those that the schema does not have are ignored; see Weights.Check.
func (f *Filler) SetWeights(w Weights) {
	f.metric.weights, f.interest.groups, _ = w.resolve(f.schema)
	f.values.forgetCosts()
}

// groupFactor returns the product of the weights of the groups that contain row i, in 1/weightUnit.
func (n *interest) groupFactor(f *Filler, i int) uint64 {
	factor, row := uint64(weightUnit), f.curRow(i)
	for k := range n.groups {
		if g := &n.groups[k]; row[g.field] == g.value {
			factor = min(factor*uint64(g.factor)/weightUnit, maxWeight)
		}
	}
	return factor
}
