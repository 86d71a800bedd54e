package config

import (
	"cmp"
	"slices"
	"strings"
)

// Setting is one row of the table of scalar settings. File, flags, script, the
// dashboard's controls, its command line and completion, labels, undo and the JSON of a
// change are all derived from the row.
type Setting struct {
	Key      string // as it stands in the TOML file: "sender.every"
	Short    string // as a script and a command call it: "every"; "" for a fixed setting
	Expected string // what a wrong value is told
	Live     Liveness
	Args     string   // of the command that sets a live setting: "N"
	Help     string   // of that command
	Words    []string // that stand for a value, to be completed; those of Control.Choices need not
	Control  *Control // how the dashboard shows it; nil: by the command alone

	set func(c *Config, v any) bool // takes what TOML, JSON or a flag may hold; false: it makes no sense
	get func(c *Config) any         // as TOML holds it
	// words are all that a fixed setting may be set to; nil: there are too many.
	words []string
	// omit: Values leaves it out. nil: never
	omit func(c *Config) bool
}

// Liveness says whether a setting can be changed while a session runs.
type Liveness uint8

// The kinds.
const (
	Fixed    Liveness = iota // not at all
	Live                     // yes, from the instant of the change on
	Restarts                 // yes, but the run begins anew
)

// Control is how the dashboard lets a person set a live setting.
type Control struct {
	Label   string
	Place   int // among the controls, from the top
	Help    string
	Shown   func(c *Config) string // the value, as a person reads it
	Offered func(c *Config) bool   // nil: always
	Choices []Choice               // to pick from; nil: it is a number
	// Step returns the value n rungs further; false at the end of the ladder.
	Step func(c *Config, n int) (any, bool)
	// Level is the place on the ladder, 0 to 1; nil: it has no ends.
	Level func(c *Config) float64
}

// Choice is one of several words that a setting may be set to.
type Choice struct{ Name, Says string }

// Word is what a label calls the setting.
func (s *Setting) Word() string { return strings.TrimSuffix(s.Short, "_delay") }

// Names lists the words that the setting may be set to; nil if it is a number.
func (s *Setting) Names() (names []string) {
	if s.Control != nil {
		for _, c := range s.Control.Choices {
			names = append(names, c.Name)
		}
	}
	return names
}

// Get returns the value, as TOML holds it.
func (s *Setting) Get(c *Config) any { return s.get(c) }

// settingNamed returns the row of a key, in full or in short; nil if there is none.
func settingNamed(key string) *Setting {
	for i := range rows() {
		if s := &rows()[i]; s.Key == key || s.Short == key && key != "" {
			return s
		}
	}
	return nil
}

// LiveSettings lists the rows that can be changed while a session runs.
func LiveSettings() []*Setting { return liveRows() }

// Controls lists the live settings that the dashboard shows, from the top.
func Controls() []*Setting {
	list := slices.DeleteFunc(slices.Clone(liveRows()), func(s *Setting) bool { return s.Control == nil })
	slices.SortStableFunc(list, func(a, b *Setting) int { return cmp.Compare(a.Control.Place, b.Control.Place) })
	return list
}

// rungs makes a control walk a ladder of values, from its least to its most; value
// finds the place of the present one, which may lie between two.
func (x *Control) rungs(n int, place func(c *Config) int, value func(i int) any) *Control {
	x.Step = func(c *Config, by int) (any, bool) {
		to := min(max(place(c)+by, 0), n-1)
		return value(to), to != place(c)
	}
	x.Level = func(c *Config) float64 { return float64(place(c)) / float64(n-1) }
	return x
}
