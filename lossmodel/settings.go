package lossmodel

import "slices"

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

// setting is a key and how it works on a Spec. set and check return a *KeyError.
type setting struct {
	KeyInfo
	expected string // by its unit
	set      func(*Spec, any) error
	get      func(*Spec) string
	number   func(*Spec) float64
	check    func(*Spec) error
}

// settings lists all keys in the order of the stages; a new stage adds its own.
// Built once, since screens ask for values many times a second; never written.
var settings = slices.Concat(
	lossSettings(), duplicateSettings(), corruptSettings(), rateSettings(),
	delaySettings(), reorderSettings(), mtuSettings(), netemSettings())

// newSetting returns the setting that keeps a value of unit u in a field.
func newSetting[T comparable](u unit[T], field func(*Spec) *T, info KeyInfo) setting {
	return newComputed(u,
		func(s *Spec) T { return *field(s) },
		func(s *Spec, v T) { *field(s) = v }, info)
}

// newComputed returns a setting whose value is not simply a field.
func newComputed[T comparable](u unit[T], get func(*Spec) T, put func(*Spec, T), info KeyInfo) setting {
	info.Unit, info.Min, info.Max, info.Choices = u.name, u.min, u.max, u.choices
	initial := DefaultSpec()
	info.Default = u.format(get(&initial))
	return setting{
		KeyInfo: info, expected: u.expected,
		set: func(s *Spec, value any) error {
			v, err := u.read(info.Key, value)
			if err == nil {
				put(s, v)
			}
			return err
		},
		get:    func(s *Spec) string { return u.format(get(s)) },
		number: func(s *Spec) float64 { return u.number(get(s)) },
		check: func(s *Spec) error {
			if v := get(s); !u.in(v) {
				return u.refuse(info.Key, u.format(v))
			}
			return nil
		},
	}
}

// Keys lists the keys in the order of the stages. The slices within are shared:
// read them only.
func Keys() []KeyInfo {
	infos := make([]KeyInfo, len(settings))
	for i, k := range settings {
		infos[i] = k.KeyInfo
	}
	return infos
}

func mtuSettings() []setting {
	return []setting{newSetting(mtuUnit, func(s *Spec) *int { return &s.MTU }, KeyInfo{
		Key: "mtu", Stage: "mtu", Ladder: []string{"576", "1200", "1280", "1400", "1500", "9000", "off"},
		Help:   "bytes of the largest IP packet; a larger datagram travels in fragments, of which none may be lost",
		Source: "RFC 791",
	})}
}
