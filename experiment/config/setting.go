package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/setting"
)

// Row describes one setting of a Config. LinkRow and ParamRow return the rows of links and encoders.
type Row = setting.Row[Config]

// A scalarSetting is one row of the table of scalar settings. File, flags, script, the
// dashboard's controls, its command line and completion, labels, undo and the JSON of a
// change are all derived from the row.
type scalarSetting struct {
	Row
	Restarts    bool                 // a change during a session restarts the run
	Short       string               // name in scripts and of the command: "every"; "" if a session cannot change it
	Args        string               // arguments of the command: "N"
	CommandHelp string               // help of the command; Help is that of the control
	Completions []string             // further values for completion, in addition to Options
	Policies    policy.Set           // the policies that are values, with their parameters; nil for other settings
	Label       string               // of the control; "" if only the command sets it
	Position    int                  // position among the controls, from the top
	IsShown     func(c *Config) bool // whether the control is shown; nil means always

	names []string             // all possible values of a fixed setting; nil if they cannot be listed
	omit  func(c *Config) bool // whether Values leaves the setting out; nil means never
	brief func(v any) string   // a value in labels; nil means unchanged
}

// CommandName returns the name of the setting in labels, which is also that of its command.
func (s *scalarSetting) CommandName() string { return strings.TrimSuffix(s.Short, "_delay") }

func (s *scalarSetting) labelValue(v any) string {
	text := fmt.Sprint(v)
	if s.brief != nil {
		text = s.brief(v)
	}
	if p, err := s.Policies.Parse(text); err == nil {
		text = p.Label()
	}
	return text
}

// findSetting returns the row with a full key or a short name; nil if none.
func findSetting(key string) *scalarSetting {
	for i := range rows() {
		if s := &rows()[i]; s.Key == key || s.Short == key && key != "" {
			return s
		}
	}
	return nil
}

// LiveSettings returns the settings that can be changed while a session runs.
func LiveSettings() []*scalarSetting { return liveRows() }

// Controls returns the live settings that the dashboard shows, from the top.
func Controls() []*scalarSetting {
	list := slices.DeleteFunc(slices.Clone(liveRows()), func(s *scalarSetting) bool { return s.Label == "" })
	slices.SortStableFunc(list, func(a, b *scalarSetting) int { return cmp.Compare(a.Position, b.Position) })
	return list
}

// withLadder returns r with Step and Gauge for a ladder of n values. currentIndex returns the index of the
// current value in the ladder, or of the next one if the value is between two. value returns the value at an
// index.
func withLadder(r Row, n int, currentIndex func(c *Config) int, value func(i int) any) Row {
	r.Step = func(c *Config, steps int) (any, bool) {
		next := min(max(currentIndex(c)+steps, 0), n-1)
		return value(next), next != currentIndex(c)
	}
	r.Gauge = func(c *Config) float64 { return float64(currentIndex(c)) / float64(n-1) }
	return r
}

// newSettingRow returns the row of a settings table for one key. get returns the value of the setting in a T.
// set stores a value in a T, or returns false if the value is invalid. problem and expected are the texts of
// the error about an invalid value.
func newSettingRow[T any](key, problem, expected string, get func(*T) any, set func(*T, any) bool) setting.Row[T] {
	return setting.Row[T]{KeyInfo: setting.KeyInfo{Key: key}, Expected: expected, Get: get,
		Set: func(t *T, v any) error { return errorUnless(set(t, v), key, v, problem, expected) }}
}

// scalarRow returns the table row of a setting of Config that has a single value, not a list or table. get, set
// and expected are as in newSettingRow.
func scalarRow(key, expected string, get func(*Config) any, set func(*Config, any) bool) Row {
	return newSettingRow(key, invalidValue, expected, get, set)
}

// invalidValue is the problem text for most invalid values.
const invalidValue = "is invalid"

// setRow sets the field of t that belongs to key, one of the keys of rows, to value. found is false if no
// row has the key. fullKey is the key in errors.
func setRow[T any](rows []setting.Row[T], t *T, fullKey, key string, value any) (found bool, err error) {
	i := slices.IndexFunc(rows, func(r setting.Row[T]) bool { return r.Key == key })
	if i < 0 {
		return false, nil
	}
	return true, withKey(fullKey, rows[i].Set(t, value))
}

// addRowValues adds the values of t to a table, by the keys of rows, without zero values.
func addRowValues[T any](rows []setting.Row[T], t *T, table map[string]any) {
	for _, r := range rows {
		if v := r.Get(t); v != nil && !reflect.ValueOf(v).IsZero() {
			table[r.Key] = v
		}
	}
}

// withNeeds returns r as a setting that has no effect unless other settings meet its needs: see setting.Unmet.
func withNeeds(r Row, needs ...string) Row {
	r.Needs = needs
	return r
}

// intRow returns the row of an integer setting from lo to hi. field returns the address of the setting in c.
func intRow(key, expected string, lo, hi int, field func(c *Config) *int) Row {
	return scalarRow(key, expected, func(c *Config) any { return int64(*field(c)) },
		func(c *Config, v any) bool { return setInt(field(c), v, lo, hi) })
}

// durationRow returns the row of a duration setting from 0 to hi.
func durationRow(key, expected string, hi time.Duration, field func(c *Config) *time.Duration) Row {
	return scalarRow(key, expected, func(c *Config) any { return field(c).String() },
		func(c *Config, v any) bool { return setDuration(field(c), v, 0, hi) })
}

// textRow returns the row of a text setting.
func textRow(key, expected string, field func(c *Config) *string) Row {
	return scalarRow(key, expected, func(c *Config) any { return *field(c) },
		func(c *Config, v any) bool { return setText(field(c), v) })
}

// boolRow returns the row of a Boolean setting.
func boolRow(key string, field func(c *Config) *bool) Row {
	return scalarRow(key, "true or false", func(c *Config) any { return *field(c) },
		func(c *Config, v any) bool { return setBool(field(c), v) })
}
