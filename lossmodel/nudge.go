package lossmodel

import (
	"slices"
)

// Nudge moves a key along its ladder, or through its choices, by a number of
// rungs: to the right if positive. A value between two rungs goes to the next
// rung; at an end it stays. The result may still fail Validate.
func (s *Spec) Nudge(key string, rungs int) error {
	i := find(key)
	if i < 0 {
		return &KeyError{Key: key, Known: names()}
	}
	k := stages().keys[i]
	stops := k.Ladder
	if len(stops) == 0 {
		stops = k.Choices
	}
	if rungs == 0 || len(stops) == 0 {
		return nil
	}
	at, between := k.position(s, stops)
	if between && rungs > 0 {
		at-- // the rung above is one step away
	}
	return s.Set(key, stops[min(max(at+rungs, 0), len(stops)-1)])
}

// position returns the stop that s stands on, or, if between two, the one above.
func (k *keyRow) position(s *Spec, stops []string) (at int, between bool) {
	text := k.get(s)
	if i := slices.Index(stops, text); i >= 0 {
		return i, false
	}
	value := k.number(s)
	for i, stop := range stops {
		scratch := *s
		if k.set(&scratch, stop) != nil || stop == "off" {
			continue
		}
		if k.number(&scratch) == value {
			return i, false
		}
		if k.number(&scratch) > value {
			return i, true
		}
	}
	if last := len(stops) - 1; stops[last] == "off" {
		return last, true // off is more than any value
	}
	return len(stops), true
}
