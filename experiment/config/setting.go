package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"wirelab/internal/setting"
)

// Row is a setting of a Config. Settings of links and of encoders have rows too: see
// LinkRow and ParamRow.
type Row = setting.Row[Config]

// scalar is one row of the table of scalar settings. File, flags, script, the
// dashboard's controls, its command line and completion, labels, undo and the JSON of a
// change are all derived from the row.
type scalar struct {
	Row
	Restarts    bool                 // a change of a live setting begins the run again
	Short       string               // name in scripts and of the command: "every"; "" if a session cannot change it
	Args        string               // of the command: "N"
	CommandHelp string               // Help is that of the control
	Words       []string             // values to complete, other than Options
	Label       string               // of the control; "" if only the command sets it
	Place       int                  // among the controls, from the top
	Offered     func(c *Config) bool // whether the control is shown; nil: always

	names []string             // the only values of a fixed setting; nil if there are too many
	omit  func(c *Config) bool // whether Values leaves it out; nil: never
}

// Word is the name of the setting in labels and of its command.
func (s *scalar) Word() string { return strings.TrimSuffix(s.Short, "_delay") }

// settingNamed returns the row of a key, in full or in short; nil if there is none.
func settingNamed(key string) *scalar {
	for i := range rows() {
		if s := &rows()[i]; s.Key == key || s.Short == key && key != "" {
			return s
		}
	}
	return nil
}

// LiveSettings lists the rows that can be changed while a session runs.
func LiveSettings() []*scalar { return liveRows() }

// Controls lists the live settings that the dashboard shows, from the top.
func Controls() []*scalar {
	list := slices.DeleteFunc(slices.Clone(liveRows()), func(s *scalar) bool { return s.Label == "" })
	slices.SortStableFunc(list, func(a, b *scalar) int { return cmp.Compare(a.Place, b.Place) })
	return list
}

// climbing makes a row step along a ladder of n values; place returns the rung of the present
// value, or the one above if it lies between two.
func climbing(r Row, n int, place func(c *Config) int, value func(i int) any) Row {
	r.Step = func(c *Config, by int) (any, bool) {
		to := min(max(place(c)+by, 0), n-1)
		return value(to), to != place(c)
	}
	r.Gauge = func(c *Config) float64 { return float64(place(c)) / float64(n-1) }
	return r
}

// newRow returns the row of a key; set reports whether it takes a value, problem describes
// other values.
func newRow[T any](key, problem, expected string, get func(*T) any, set func(*T, any) bool) setting.Row[T] {
	return setting.Row[T]{KeyInfo: setting.KeyInfo{Key: key}, Expected: expected, Get: get,
		Set: func(t *T, v any) error { return accept(set(t, v), key, v, problem, expected) }}
}

// row returns the row of a scalar setting.
func row(key, expected string, get func(*Config) any, set func(*Config, any) bool) Row {
	return newRow(key, nonsense, expected, get, set)
}

// nonsense is the problem with most wrong values.
const nonsense = "makes no sense here"

// setRow sets the key of a row to a value; found is false if there is no such row. fullKey
// names the key in errors.
func setRow[T any](rows []setting.Row[T], t *T, fullKey, key string, value any) (found bool, err error) {
	i := slices.IndexFunc(rows, func(r setting.Row[T]) bool { return r.Key == key })
	if i < 0 {
		return false, nil
	}
	return true, underKey(fullKey, rows[i].Set(t, value))
}

// putRows adds the values of rows to a table; zero values are left out.
func putRows[T any](rows []setting.Row[T], t *T, table map[string]any) {
	for _, r := range rows {
		if v := r.Get(t); v != nil && !reflect.ValueOf(v).IsZero() {
			table[r.Key] = v
		}
	}
}

// wholeRow returns the row of a whole number.
func wholeRow(key, expected string, lo, hi int, field func(c *Config) *int) Row {
	return row(key, expected, func(c *Config) any { return int64(*field(c)) },
		func(c *Config, v any) bool { return setInt(field(c), v, lo, hi) })
}

// spanRow returns the row of a time from 0.
func spanRow(key, expected string, hi time.Duration, field func(c *Config) *time.Duration) Row {
	return row(key, expected, func(c *Config) any { return field(c).String() },
		func(c *Config, v any) bool { return setDuration(field(c), v, 0, hi) })
}

// textRow returns the row of a text.
func textRow(key, expected string, field func(c *Config) *string) Row {
	return row(key, expected, func(c *Config) any { return *field(c) },
		func(c *Config, v any) bool { return setText(field(c), v) })
}

// switchRow returns the row of a value that is true or false.
func switchRow(key string, field func(c *Config) *bool) Row {
	return row(key, "true or false", func(c *Config) any { return *field(c) },
		func(c *Config, v any) bool { return setBool(field(c), v) })
}
