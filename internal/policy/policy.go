// Package policy parses settings that name one of several policies with parameters, such as
// "codel target=5ms interval=100ms".
//
// All values of parameters are integers, so that a policy computes the same on every machine.
package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/internal/setting"
)

// maxParams is the largest number of parameters of a policy.
const maxParams = 6

// kind describes one policy. A Set contains it.
type kind struct {
	Name    string
	Summary string // one line for lists
	Params  []Param
	// Ascending names parameters of the same type whose values must not decrease in this order, such as a lowest, a first
	// and a highest rate. The default of one that is not given is moved, if necessary, to the value of one that is.
	Ascending []string
}

// Set lists the policies that a setting accepts. It must not change once a Policy refers to it.
type Set []kind

// Policy is a policy with the values of its parameters. Policies are equal (==) if they have the same kind
// and the same values. The zero Policy means that no policy is set.
type Policy struct {
	kind   *kind
	values [maxParams]int64 // in the order of kind.Params
}

// Parse parses a policy such as "codel target=5ms": the name, then parameters in any order. Missing
// parameters have their defaults. The error is a *setting.KeyError that names what was expected.
func (s Set) Parse(text string) (Policy, error) {
	words := strings.Fields(text)
	name := ""
	if len(words) > 0 {
		name = words[0]
	}
	i := slices.IndexFunc(s, func(k kind) bool { return k.Name == name })
	if i < 0 {
		return Policy{}, &setting.KeyError{Key: name, Expected: "policy", Known: s.Names()}
	}
	p := s.at(i)
	given := map[string]bool{}
	for _, word := range words[1:] {
		key, value, hasValue := strings.Cut(word, "=")
		if !hasValue || given[key] {
			return Policy{}, &setting.KeyError{Key: name, Value: setting.FormatValue(word), Expected: p.kind.usage()}
		}
		given[key] = true
		if err := p.set(key, value); err != nil {
			return Policy{}, err
		}
	}
	if err := p.order(given); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// at returns policy i of the set with the defaults of its parameters.
func (s Set) at(i int) Policy {
	p := Policy{kind: &s[i]}
	for k, param := range p.kind.Params {
		p.values[k] = param.def
	}
	return p
}

// Default returns the policy with this name and the defaults of its parameters. It panics if s has no such policy.
func (s Set) Default(name string) Policy {
	p, err := s.Parse(name)
	if err != nil {
		panic(err)
	}
	return p
}

// Names returns the names of the policies.
func (s Set) Names() (names []string) {
	for _, k := range s {
		names = append(names, k.Name)
	}
	return names
}

// Has reports whether the set has a policy with this name.
func (s Set) Has(name string) bool { return slices.Contains(s.Names(), name) }

// Options returns the policies with their summaries, for a control.
func (s Set) Options() (options []setting.Option) {
	for _, k := range s {
		options = append(options, setting.Option{Name: k.Name, Summary: k.Summary})
	}
	return options
}

// Models describes the policies for lists and JSON.
func (s Set) Models() (models []setting.ModelInfo) {
	for _, k := range s {
		m := setting.ModelInfo{Name: k.Name, Summary: k.Summary, Params: []setting.ParamInfo{}}
		for _, p := range k.Params {
			m.Params = append(m.Params, p.info())
		}
		models = append(models, m)
	}
	return models
}

// Expected describes what Parse accepts: each policy with its parameters. It continues the sentence after
// "expected".
func (s Set) Expected() string {
	texts := make([]string, len(s))
	for i := range s {
		texts[i] = fmt.Sprintf("%q", s.at(i))
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
}

// Complete returns the candidates for the word that follows before, as typed on a command line: the names,
// then the parameters that are not set yet, with their defaults.
func (s Set) Complete(before []string) (candidates []string) {
	if len(before) == 0 {
		return s.Names()
	}
	i := slices.Index(s.Names(), before[0])
	if i < 0 {
		return nil
	}
	for _, p := range s[i].Params {
		if !slices.ContainsFunc(before[1:], func(word string) bool { return strings.HasPrefix(word, p.Name+"=") }) {
			candidates = append(candidates, p.text(p.def))
		}
	}
	return candidates
}

// Name returns the name of the policy; "" for the zero Policy.
func (p Policy) Name() string {
	if p.kind == nil {
		return ""
	}
	return p.kind.Name
}

// Summary returns the description of the policy in one line; "" for the zero Policy.
func (p Policy) Summary() string {
	if p.kind == nil {
		return ""
	}
	return p.kind.Summary
}

// String returns the canonical text: the name and every parameter, such as "codel target=5ms interval=100ms".
// Parse returns an equal policy for it.
func (p Policy) String() string { return p.format(func(int) bool { return true }) }

// Label returns the name and the parameters that differ from their defaults, for a screen.
func (p Policy) Label() string {
	return p.format(func(i int) bool { return p.values[i] != p.kind.Params[i].def })
}

// format returns the name and the parameters for whose index include returns true.
func (p Policy) format(include func(i int) bool) string {
	if p.kind == nil {
		return ""
	}
	words := []string{p.kind.Name}
	for i, param := range p.kind.Params {
		if include(i) {
			words = append(words, param.text(p.values[i]))
		}
	}
	return strings.Join(words, " ")
}

// order moves the defaults of kind.Ascending between the values that are given, and returns an error if those decrease.
func (p *Policy) order(given map[string]bool) error {
	var last *Param // the last one that is given
	floor, ceiling := int64(math.MinInt64), int64(math.MaxInt64)
	for _, name := range p.kind.Ascending {
		i := p.kind.index(name)
		switch param, v := &p.kind.Params[i], p.values[i]; {
		case !given[name]:
			p.values[i] = max(v, floor)
		case v < floor:
			return &setting.KeyError{Key: name, Value: setting.FormatValue(param.text(v)), Expected: param.unit.what + " that is not below " + last.text(floor)}
		default:
			last, floor = param, v
		}
	}
	for _, name := range slices.Backward(p.kind.Ascending) {
		if i := p.kind.index(name); given[name] {
			ceiling = p.values[i]
		} else {
			p.values[i] = min(p.values[i], ceiling)
		}
	}
	return nil
}

// set parses and sets one parameter. The error is a *setting.KeyError.
func (p *Policy) set(name, value string) error {
	i := p.kind.index(name)
	if i < 0 {
		if len(p.kind.Params) == 0 {
			return &setting.KeyError{Key: p.kind.Name, Value: setting.FormatValue(name + "=" + value), Expected: p.kind.usage()}
		}
		return &setting.KeyError{Key: name, Expected: "parameter of " + p.kind.Name, Known: p.kind.paramNames()}
	}
	param := &p.kind.Params[i]
	v, ok := param.unit.parse(value)
	if !ok || v < param.min || v > param.max {
		return &setting.KeyError{Key: name, Value: setting.FormatValue(name + "=" + value), Expected: param.expected()}
	}
	p.values[i] = v
	return nil
}

// Int returns the value of a parameter: of a time in nanoseconds, of a percentage in millionths, of a rate in
// bits per second, of a size in bytes. It panics if the policy has no such parameter.
func (p Policy) Int(name string) int64 {
	i := p.kind.index(name)
	if i < 0 {
		panic(fmt.Sprintf("policy: %s has no parameter %q", p.kind.Name, name))
	}
	return p.values[i]
}

// Duration returns the value of a time.
func (p Policy) Duration(name string) time.Duration { return time.Duration(p.Int(name)) }

// index returns the index of a parameter; -1 if no parameter has this name.
func (k *kind) index(name string) int {
	return slices.IndexFunc(k.Params, func(p Param) bool { return p.Name == name })
}

// paramNames returns the names of the parameters.
func (k *kind) paramNames() (names []string) {
	for _, p := range k.Params {
		names = append(names, p.Name)
	}
	return names
}

// usage describes the words that may follow the name.
func (k *kind) usage() string {
	if len(k.Params) == 0 {
		return "nothing after " + k.Name
	}
	texts := make([]string, len(k.Params))
	for i, p := range k.Params {
		texts[i] = p.text(p.def)
	}
	return "each parameter once, as in " + strings.Join(texts, " ")
}
