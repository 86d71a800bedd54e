package setting

import (
	"fmt"
	"slices"
)

// Row is one setting of a T: its description, and how its value is read, written and checked.
// The settings of links, of encoders and of an experiment as a whole are rows.
type Row[T any] struct {
	KeyInfo
	Expected string              // continues the sentence after "expected"
	Set      func(*T, any) error // the error names what is expected
	Get      func(*T) any        // as a file holds it: a number, a bool, or text that Set takes
	Number   func(*T) float64    // the value in Unit, for a slider; nil if there is no Ladder
	Check    func(*T) error      // whether the value is in range; nil: it always is

	// Of its control:
	Shown   func(*T) string // the value as a person reads it; nil: Text
	Options []Option        // to pick from; empty if the value is typed
	// Step returns the value n rungs further; ok is false at the end of the ladder. nil: the value is typed
	Step  func(t *T, n int) (value any, ok bool)
	Gauge func(*T) float64 // the place between the least and the greatest value, 0 to 1; nil if there is none
}

// Option is a value to pick, with a line that describes it.
type Option struct{ Name, Summary string }

// Options returns names as options without a description.
func Options(names []string) []Option {
	list := make([]Option, len(names))
	for i, n := range names {
		list[i].Name = n
	}
	return list
}

// Names lists the names of options.
func Names(options []Option) (names []string) {
	for _, o := range options {
		names = append(names, o.Name)
	}
	return names
}

// Cycle returns the option n places after name, from the last on to the first; "" if there are none.
func Cycle(options []Option, name string, n int) string {
	if len(options) == 0 {
		return ""
	}
	i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
	if i < 0 && n <= 0 {
		i = 0 // else the first one comes next
	}
	return options[((i+n)%len(options)+len(options))%len(options)].Name
}

// NewRow returns the row of a value of unit u.
func NewRow[T any, V comparable](u Unit[V], get func(*T) V, put func(*T, V), info KeyInfo) Row[T] {
	info.Unit, info.Min, info.Max, info.Choices = u.Name, u.Min, u.Max, u.Choices
	return Row[T]{
		KeyInfo: info, Expected: u.Expected,
		Set: func(t *T, value any) error {
			v, err := u.Read(info.Key, value)
			if err == nil {
				put(t, v)
			}
			return err
		},
		Get:    func(t *T) any { return u.Format(get(t)) },
		Number: func(t *T) float64 { return u.Number(get(t)) },
		Check: func(t *T) error {
			if v := get(t); !u.In(v) {
				return u.Refuse(info.Key, u.Format(v))
			}
			return nil
		},
	}
}

// Text returns the value as text that Set takes.
func (r *Row[T]) Text(t *T) string {
	v := r.Get(t)
	if text, ok := v.(string); ok {
		return text
	}
	return fmt.Sprint(v)
}

// Show returns the value as a person reads it.
func (r *Row[T]) Show(t *T) string {
	if r.Shown != nil {
		return r.Shown(t)
	}
	return r.Text(t)
}

// Rung returns the value a number of rungs further on the ladder, or among the choices, to the
// right if n is positive. A value between two rungs goes to the next rung; at an end it stays.
// ok is false if there are no rungs.
func (r *Row[T]) Rung(t *T, n int) (value string, ok bool) {
	stops := r.Ladder
	if len(stops) == 0 {
		stops = r.Choices
	}
	if n == 0 || len(stops) == 0 {
		return "", false
	}
	at, between := r.position(t, stops)
	if between && n > 0 {
		at-- // the rung above is one step away
	}
	return stops[min(max(at+n, 0), len(stops)-1)], true
}

// Level returns the place of the value on the ladder, from 0 to 1. A ladder is spaced for the
// hand, so this shows more of small values than a linear gauge would.
func (r *Row[T]) Level(t *T) float64 {
	at, between := r.position(t, r.Ladder)
	if between {
		at = max(at-1, 0)
	}
	return float64(at) / float64(len(r.Ladder)-1)
}

// position returns the stop of the value, or, if it is between two, the one above.
func (r *Row[T]) position(t *T, stops []string) (at int, between bool) {
	if i := slices.Index(stops, r.Text(t)); i >= 0 {
		return i, false
	}
	value := r.Number(t)
	for i, stop := range stops {
		scratch := *t
		if r.Set(&scratch, stop) != nil || stop == "off" {
			continue
		}
		if n := r.Number(&scratch); n >= value {
			return i, n > value
		}
	}
	if last := len(stops) - 1; stops[last] == "off" {
		return last, true // off is more than any value
	}
	return len(stops), true
}
