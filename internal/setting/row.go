package setting

import (
	"fmt"
	"slices"
)

// Row is one setting of a T: its description, and how its value is read, written and checked. The
// settings of links, of encoders and of an experiment are rows.
type Row[T any] struct {
	KeyInfo
	Expected string              // continues the sentence after "expected"
	Set      func(*T, any) error // parses and stores a value; the error contains what is expected
	Get      func(*T) any        // the value as in a file: a number, a bool, or a text that Set accepts
	Number   func(*T) float64    // the value in Unit, for a slider; nil if there is no Ladder
	Check    func(*T) error      // returns an error if the value is out of range; nil means that every value is valid

	// The following fields are for a control on a screen.

	DisplayText func(*T) string // the value as the screen shows it; nil means Text
	Options     []Option        // the values to choose from; empty if the value is typed
	// Step returns the value n steps further on the ladder; ok is false at its end. nil means that the
	// value is typed.
	Step  func(t *T, n int) (value any, ok bool)
	Gauge func(*T) float64 // position between the smallest and the greatest value, 0 to 1; nil means no gauge
}

// Option is a value to choose, with a one-line description.
type Option struct{ Name, Summary string }

// Options returns names as options without a description.
func Options(names []string) []Option {
	list := make([]Option, len(names))
	for i, n := range names {
		list[i].Name = n
	}
	return list
}

func Names(options []Option) (names []string) {
	for _, o := range options {
		names = append(names, o.Name)
	}
	return names
}

// Cycle returns the name of the option n positions after name, or before it if n is negative. The
// first option follows the last. Cycle returns "" if options is empty. If name is not among the
// options, a positive n counts from before the first option, any other n from the first option.
func Cycle(options []Option, name string, n int) string {
	if len(options) == 0 {
		return ""
	}
	i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
	if i < 0 && n <= 0 { // with a positive n, index -1 is before the first option
		i = 0
	}
	return options[((i+n)%len(options)+len(options))%len(options)].Name // i+n may be negative
}

// NewRow returns the row of a value of unit u, with functions that read and write the value of a T.
func NewRow[T any, V comparable](u Unit[V], get func(*T) V, set func(*T, V), info KeyInfo) Row[T] {
	info.Unit, info.Min, info.Max, info.Choices = u.Name, u.Min, u.Max, u.Choices
	return Row[T]{
		KeyInfo: info, Expected: u.Expected,
		Set: func(t *T, value any) error {
			v, err := u.Read(info.Key, value)
			if err == nil {
				set(t, v)
			}
			return err
		},
		Get:    func(t *T) any { return u.Format(get(t)) },
		Number: func(t *T) float64 { return u.Number(get(t)) },
		Check: func(t *T) error {
			if v := get(t); !u.InRange(v) {
				return u.Refuse(info.Key, u.Format(v))
			}
			return nil
		},
	}
}

// Text returns the value as text that Set accepts.
func (r *Row[T]) Text(t *T) string {
	v := r.Get(t)
	if text, ok := v.(string); ok {
		return text
	}
	return fmt.Sprint(v)
}

// Show returns the value as the screen shows it.
func (r *Row[T]) Show(t *T) string {
	if r.DisplayText != nil {
		return r.DisplayText(t)
	}
	return r.Text(t)
}

// Rung returns the value n stops higher on the ladder, or lower if n is negative, limited to the
// ladder's ends. Without a ladder the choices are the stops. From a value between two stops, the
// first step leads to the next stop in that direction. ok is false if n is 0 or there are no stops.
func (r *Row[T]) Rung(t *T, n int) (value string, ok bool) {
	stops := r.Ladder
	if len(stops) == 0 {
		stops = r.Choices
	}
	if n == 0 || len(stops) == 0 {
		return "", false
	}
	index, between := r.findStop(t, stops)
	if between && n > 0 {
		index-- // the upper stop is one step away
	}
	return stops[min(max(index+n, 0), len(stops)-1)], true
}

// Level returns the position of the value on the ladder, from 0 to 1. Ladders are nearly
// logarithmic, so Level distinguishes small values better than a linear scale.
func (r *Row[T]) Level(t *T) float64 {
	index, between := r.findStop(t, r.Ladder)
	if between { // show the lower stop
		index = max(index-1, 0)
	}
	return float64(index) / float64(len(r.Ladder)-1)
}

// findStop returns the index of the stop that equals the value. If the value is between two stops,
// it returns the index of the upper stop, and between is true.
func (r *Row[T]) findStop(t *T, stops []string) (index int, between bool) {
	if i := slices.Index(stops, r.Text(t)); i >= 0 {
		return i, false
	}
	value := r.Number(t)
	for i, stop := range stops {
		scratch := *t // a copy, which converts the stop to a number
		if r.Set(&scratch, stop) != nil || stop == "off" {
			continue
		}
		if n := r.Number(&scratch); n >= value {
			return i, n > value
		}
	}
	if last := len(stops) - 1; stops[last] == "off" {
		return last, true // "off" means no limit, which is above all values
	}
	return len(stops), true
}
