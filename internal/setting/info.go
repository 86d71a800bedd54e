// Package setting is what the keys of a link have in common: units and their texts,
// descriptions for lists and help, and errors that name what was expected. It knows
// no links.
package setting

// KeyInfo describes one key that can be set on a link.
type KeyInfo struct {
	Key     string `json:"key"`
	Stage   string `json:"stage"`
	Unit    string `json:"unit,omitempty"` // of Spec.Number
	Default string `json:"default"`
	// Min and Max bound what makes sense, "off" aside; empty for choices.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
	// Ladder lists values worth stopping at on a slider, from left to right.
	Ladder []string `json:"ladder,omitempty"`
	// Choices, if there are any, are all that can be set.
	Choices []string `json:"choices,omitempty"`
	// Models lists the models that can be set with parameters of their own, in
	// words or as a table; with one set, "loss.r" is its parameter r.
	Models []ModelInfo `json:"models,omitempty"`
	Help   string      `json:"help"`
	Source string      `json:"source,omitempty"`
}

// ModelInfo describes one way to lose packets, for lists and help.
type ModelInfo struct {
	Name    string      `json:"name"` // as the key loss takes it, in words or as a table's model
	Summary string      `json:"summary"`
	Source  string      `json:"source,omitempty"`
	Params  []ParamInfo `json:"params"`
}

// ParamInfo describes a parameter of a model.
type ParamInfo struct {
	Name    string `json:"name"`
	Unit    string `json:"unit,omitempty"`
	Default string `json:"default,omitempty"` // empty: it must be given, or Help says when not
	Min     string `json:"min,omitempty"`
	Max     string `json:"max,omitempty"`
	Help    string `json:"help"`
}
