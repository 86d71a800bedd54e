package lossmodel

import (
	"maps"
	"slices"
	"strings"

	"wirelab/internal/setting"
	"wirelab/lossmodel/netem"
)

// Set sets one key to a value as users write it: a string with a unit, a number, a bool or a
// table. Keys may also be written as in tables: "loss.burst" is "burst", "reorder.delay" is
// "reorder_delay". Set checks the value alone; Validate checks the consistency of all values, so
// keys can be set in any order. A latency with jitter, such as "50ms±10ms", sets both. The key
// "trace" sets loss, delay_trace and duplicate_trace. While a netem line is on, changes to keys
// that it replaces are refused. The error is a *KeyError; after an error the spec is unchanged.
func (s *Spec) Set(key string, value any) error {
	changed := *s
	if err := changed.set(key, value); err != nil {
		return err
	}
	if err := s.refusedByNetem(&changed, key, value); err != nil {
		return err
	}
	*s = changed
	return nil
}

// set is Set without the check for netem. It may change s even if it fails.
func (s *Spec) set(key string, value any) error {
	if table, ok := value.(map[string]any); ok {
		return s.setTable(key, table)
	}
	if key == "loss.model" {
		return s.setLossModel(value)
	}
	if key == "trace" {
		return s.setTrace(value)
	}
	if name, dotted := strings.CutPrefix(key, "loss."); dotted {
		if err, ok := s.setLossParam(name, value); ok {
			return err
		}
	}
	i := keyIndex(key)
	if i < 0 {
		return &KeyError{Key: key, Known: keyNames()}
	}
	k := &stages().keys[i]
	return errorWithKey(k.Set(s, value), k.Key, key)
}

// SetAll sets all keys of a table in the order of Keys; unknown keys come last and are errors. If
// the table contains netem, the other keys are set as if it were off; they have no effect while it
// is on. After an error the spec is unchanged.
func (s *Spec) SetAll(table map[string]any) error {
	table = regroupLoss(table)
	rank := func(key string) int { // position in Keys; unknown keys come last
		if i := keyIndex(key); i >= 0 {
			return i
		}
		return len(stages().keys)
	}
	keys := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	changed := *s
	if _, ok := table["netem"]; ok {
		changed.Netem = netem.Params{}
	}
	for _, key := range keys {
		if err := changed.Set(key, table[key]); err != nil {
			return err
		}
	}
	*s = changed
	return nil
}

// setTable sets the keys of a stage from a table: {p = "5%"} for the key reorder sets reorder.p. For
// loss the table is a model with its parameters.
func (s *Spec) setTable(key string, table map[string]any) error {
	if key == "loss" {
		return s.setLoss(table)
	}
	if !slices.ContainsFunc(stages().keys, func(k keyRow) bool { return k.Stage == key }) {
		if i := keyIndex(key); i >= 0 { // the key exists, but its value is no table
			return &KeyError{Key: key, Value: "a table", Expected: stages().keys[i].Expected}
		}
		return &KeyError{Key: key, Known: keyNames()}
	}
	dotted := make(map[string]any, len(table))
	for name, value := range table {
		dotted[key+"."+name] = value
	}
	return s.SetAll(dotted)
}

// Get returns the value of a key as text that Set accepts.
func (s Spec) Get(key string) (string, error) {
	i := keyIndex(key)
	if i < 0 {
		return "", &KeyError{Key: key, Known: keyNames()}
	}
	return stages().keys[i].Text(&s), nil
}

// Number returns the value of a key in the unit of its KeyInfo, for a slider or a chart; 0 if the
// value is off. ok is false if the key is unknown.
func (s Spec) Number(key string) (v float64, ok bool) {
	i := keyIndex(key)
	if i < 0 {
		return 0, false
	}
	return stages().keys[i].Number(&s), true
}

// Level returns the position of a value on the ladder of its key, from 0 to 1. ok is false if the
// key is unknown or has no ladder.
func (s Spec) Level(key string) (level float64, ok bool) {
	i := keyIndex(key)
	if i < 0 || len(stages().keys[i].Ladder) < 2 {
		return 0, false
	}
	return stages().keys[i].Level(&s), true
}

// Nudge moves the value of a key by a number of rungs on its ladder, or through its choices;
// positive is up. A value between two rungs moves to the next one. The value stays at the end of
// the ladder. The result may fail Validate.
func (s *Spec) Nudge(key string, rungs int) error {
	i := keyIndex(key)
	if i < 0 {
		return &KeyError{Key: key, Known: keyNames()}
	}
	if next, ok := stages().keys[i].Rung(s, rungs); ok {
		return s.Set(key, next)
	}
	return nil
}

// Values returns the values of all keys as text. SetAll with the result gives an equal Spec.
func (s Spec) Values() map[string]any {
	values := map[string]any{}
	for _, k := range stages().keys {
		values[k.Key] = k.Get(&s)
	}
	return values
}

// keyIndex returns the index of a key in the table of keys, or -1. A key with a dot is written as
// stage.name and stands for the key name or stage_name of that stage: "delay.jitter" for jitter,
// "reorder.delay" for reorder_delay. If a key has the name of its stage, such as reorder,
// "reorder.reorder" stands for it and, because it is a percentage, "reorder.p" and "reorder.mean".
func keyIndex(key string) int {
	stage, name, dotted := strings.Cut(key, ".")
	return slices.IndexFunc(stages().keys, func(k keyRow) bool {
		switch {
		case !dotted:
			return k.Key == key
		case k.Key == stage:
			return k.Unit == setting.Percent.Name && (name == "p" || name == "mean") || name == k.Key && k.Stage == stage
		}
		return k.Stage == stage && (k.Key == name || k.Key == stage+"_"+name)
	})
}

// keyNames lists all keys.
func keyNames() []string {
	list := make([]string, len(stages().keys))
	for i, k := range stages().keys {
		list[i] = k.Key
	}
	return list
}

// errorWithKey returns err. If err is a *KeyError about key, its key is replaced by given, the key as
// the user wrote it.
func errorWithKey(err error, key, given string) error {
	if e, ok := err.(*KeyError); ok && e.Key == key {
		e.Key = given
	}
	return err
}
