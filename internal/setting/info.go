// Package setting contains the common parts of settings: units with their parsers and formats,
// descriptions for lists and help, and errors with the expected value.
package setting

import "slices"

// KeyInfo describes one key that can be set on a link.
type KeyInfo struct {
	Key     string `json:"key"`            // name of the key, as users write it
	Stage   string `json:"stage"`          // stage of the link that the key belongs to, such as "loss"
	Unit    string `json:"unit,omitempty"` // unit of Row.Number
	Default string `json:"default"`        // default value, as text
	// Min and Max are the bounds of values other than "off"; empty for choices.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
	// Ladder lists the values at which a slider stops, in ascending order.
	Ladder []string `json:"ladder,omitempty"`
	// Choices, if not empty, are the only valid values.
	Choices []string `json:"choices,omitempty"`
	// Models lists the models that can be set, in words or as a table; "loss.r" is the
	// parameter r of the model that is set.
	Models []ModelInfo `json:"models,omitempty"`
	Needs  []string    `json:"needs,omitempty"`  // other settings without which the key has no effect; see Unmet
	Help   string      `json:"help"`             // one line for lists
	Source string      `json:"source,omitempty"` // publication or tool that the effect of the key follows
}

func (k KeyInfo) ModelNames() (names []string) {
	for _, m := range k.Models {
		names = append(names, m.Name)
	}
	return names
}

// Model returns the model with a name; the zero ModelInfo if the name is unknown.
func (k KeyInfo) Model(name string) ModelInfo {
	if i := slices.Index(k.ModelNames(), name); i >= 0 {
		return k.Models[i]
	}
	return ModelInfo{}
}

// ModelInfo describes one way to lose packets, for lists and help.
type ModelInfo struct {
	Name    string      `json:"name"` // the name as the value of the key loss, in words or as a table's model
	Summary string      `json:"summary"`
	Source  string      `json:"source,omitempty"`
	Params  []ParamInfo `json:"params"`
}

// ParamInfo describes a parameter of a model.
type ParamInfo struct {
	Name    string `json:"name"`
	Unit    string `json:"unit,omitempty"`
	Default string `json:"default,omitempty"` // empty if it must be given, except as Help describes
	Min     string `json:"min,omitempty"`
	Max     string `json:"max,omitempty"`
	Help    string `json:"help"`
}
