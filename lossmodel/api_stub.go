package lossmodel

// LossModel ... (stub)
type LossModel interface{ Model() string }

// Distribution ... (stub)
type Distribution uint8

// DefaultSpec returns a perfect link.
func DefaultSpec() Spec { return Spec{Corrupt: Corruption{Checksum: true, Bits: 1}, MTU: 1500} }

// Set sets one key to a value.
func (s *Spec) Set(key string, value any) error { return nil }

// SetAll sets every key of a table, nested tables included, in the order of Keys.
func (s *Spec) SetAll(table map[string]any) error { return nil }

// Get returns the canonical text of a key.
func (s Spec) Get(key string) (string, error) { return "", nil }

// Number returns the value of a key in the unit of its KeyInfo.
func (s Spec) Number(key string) (float64, bool) { return 0, false }

// Nudge moves a key up or down its ladder of sensible values.
func (s *Spec) Nudge(key string, steps int) error { return nil }

// Values returns every key with its canonical text.
func (s Spec) Values() map[string]any { return nil }

// Validate says whether the spec makes sense.
func (s Spec) Validate() error { return nil }

// KeyInfo describes one key.
type KeyInfo struct {
	Key     string   `json:"key"`
	Stage   string   `json:"stage"`
	Unit    string   `json:"unit"`
	Default string   `json:"default"`
	Min     string   `json:"min,omitempty"`
	Max     string   `json:"max,omitempty"`
	Ladder  []string `json:"ladder,omitempty"` // sensible values for a slider, ascending
	Choices []string `json:"choices,omitempty"`
	Help    string   `json:"help"`
	Source  string   `json:"source,omitempty"`
}

// Keys lists the keys in the order of the pipeline.
func Keys() []KeyInfo { return nil }

// Profile is a named pair of links.
type Profile struct {
	Name, Summary, Source string
	Down, Up              Spec
}

// Profiles lists all profiles.
func Profiles() []Profile { return nil }

// ProfileByName returns the profile called name.
func ProfileByName(name string) (Profile, bool) { return Profile{}, false }

// KeyError says which key could not be set, and what was expected.
type KeyError struct {
	Key, Value, Expected string
	Known                []string
}

// Error implements error.
func (e *KeyError) Error() string { return e.Key }

// Unknown returns a name that is not known, and those that are; name is empty
// if the error is about something else.
func (e *KeyError) Unknown() (name string, known []string) { return "", nil }
