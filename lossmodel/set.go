package lossmodel

import (
	"maps"
	"slices"
	"strings"

	"wirelab/internal/setting"
	"wirelab/lossmodel/netem"
)

// Set sets one key to what people write: a string with a unit, a number where
// none is needed, a bool, or a table. One setter serves files, flags, scripts
// and typed commands, so it takes the key of a table too: "loss.burst" is
// "burst", "reorder.delay" is "reorder_delay". It checks the value by itself;
// Validate checks what the values mean together, so different keys can be set
// in any order (a latency with its own jitter, as in "50ms±10ms", sets both). The key
// "trace" is short for the three that replay a capture: loss, delay_trace and
// duplicate_trace. While a netem line is on, a change to what it decides is
// refused. On error, a *KeyError, the spec stays as it was.
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
	i := find(key)
	if i < 0 {
		return &KeyError{Key: key, Known: names()}
	}
	return rename(stages().keys[i].Set(s, value), stages().keys[i].Key, key)
}

// SetAll sets every key of a table, as read from a file, in the order of Keys. If
// netem is among them, the others are set as if it were off and wait for that.
// On error the spec stays as it was.
func (s *Spec) SetAll(table map[string]any) error {
	table = regroupLoss(table)
	rank := func(key string) int {
		if i := find(key); i >= 0 {
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

// setTable sets what a table says about one stage.
func (s *Spec) setTable(key string, table map[string]any) error {
	if key == "loss" {
		return s.setLoss(table)
	}
	if !slices.ContainsFunc(stages().keys, func(k keyRow) bool { return k.Stage == key }) {
		if i := find(key); i >= 0 {
			return &KeyError{Key: key, Value: "a table", Expected: stages().keys[i].Expected}
		}
		return &KeyError{Key: key, Known: names()}
	}
	dotted := make(map[string]any, len(table))
	for sub, value := range table {
		dotted[key+"."+sub] = value
	}
	return s.SetAll(dotted)
}

// Get returns the value of a key as text that Set takes back.
func (s Spec) Get(key string) (string, error) {
	i := find(key)
	if i < 0 {
		return "", &KeyError{Key: key, Known: names()}
	}
	return stages().keys[i].Text(&s), nil
}

// Number returns the value of a key in the unit of its KeyInfo, for a slider or
// a chart. What is off is 0. ok is false if there is no such key.
func (s Spec) Number(key string) (v float64, ok bool) {
	i := find(key)
	if i < 0 {
		return 0, false
	}
	return stages().keys[i].Number(&s), true
}

// Level returns the place of the value of a key on its ladder, from 0 to 1; ok is false if there
// is no such key, or if it has no ladder.
func (s Spec) Level(key string) (level float64, ok bool) {
	i := find(key)
	if i < 0 || len(stages().keys[i].Ladder) < 2 {
		return 0, false
	}
	return stages().keys[i].Level(&s), true
}

// Nudge moves a key along its ladder, or through its choices, by a number of
// rungs: to the right if positive. A value between two rungs goes to the next
// rung; at an end it stays. The result may still fail Validate.
func (s *Spec) Nudge(key string, rungs int) error {
	i := find(key)
	if i < 0 {
		return &KeyError{Key: key, Known: names()}
	}
	if next, ok := stages().keys[i].Rung(s, rungs); ok {
		return s.Set(key, next)
	}
	return nil
}

// Values returns every key with its text. SetAll takes them back to an equal
// Spec.
func (s Spec) Values() map[string]any {
	values := map[string]any{}
	for _, k := range stages().keys {
		values[k.Key] = k.Get(&s)
	}
	return values
}

// find returns the index of the setting that key names, or -1. "stage.name" finds
// the stage's setting of that name; "stage.p" and "stage.mean" find its share.
func find(key string) int {
	stage, sub, dotted := strings.Cut(key, ".")
	return slices.IndexFunc(stages().keys, func(k keyRow) bool {
		switch {
		case !dotted:
			return k.Key == key
		case k.Key == stage:
			return k.Unit == setting.Percent.Name && (sub == "p" || sub == "mean") || sub == k.Key && k.Stage == stage
		}
		return k.Stage == stage && (k.Key == sub || k.Key == stage+"_"+sub)
	})
}

func names() []string {
	list := make([]string, len(stages().keys))
	for i, k := range stages().keys {
		list[i] = k.Key
	}
	return list
}

// rename makes an error about a key speak of it as it was given.
func rename(err error, key, given string) error {
	if e, ok := err.(*KeyError); ok && e.Key == key {
		e.Key = given
	}
	return err
}
