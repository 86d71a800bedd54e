package experiment

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// maxSeek bounds how far one jump goes.
const maxSeek = time.Hour

// seek sets out for t without pacing; backwards by playing the session anew with
// all the changes that were made before t.
func (r *Runner) seek(t time.Duration) error {
	now := r.session.Now()
	if t < 0 || t > now+maxSeek {
		return fmt.Errorf("seek to %v makes no sense; expected 0 to %v ahead", t, maxSeek)
	}
	if t < now {
		again, err := r.rewound(t)
		if err != nil {
			return err
		}
		err = r.session.Close()
		r.session, r.refused = again, 0
		if err != nil {
			return err
		}
	}
	r.seeking, r.jump = t, true
	return nil
}

// clockText writes a virtual time as the dashboard's clock does.
func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%04.1f", int(d/time.Minute), (d % time.Minute).Seconds())
}

// upcoming is what a session that begins anew has before it: the changes made
// until t, then the rest of the script, and the changes made after t, which play
// again unless something else is changed first.
func upcoming(made, script []StampedChange, t time.Duration) []StampedChange {
	var out []StampedChange
	for _, c := range made {
		c.redo = c.T > t && !slices.ContainsFunc(script, func(x StampedChange) bool {
			return x.T == c.T && reflect.DeepEqual(x.Change, c.Change)
		})
		out = append(out, c)
	}
	for _, x := range script {
		if !slices.ContainsFunc(out, func(c StampedChange) bool { return x.T == c.T && reflect.DeepEqual(x.Change, c.Change) }) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b StampedChange) int { return cmp.Compare(a.T, b.T) })
	return out
}

// rewound opens the session again and puts what was done before it.
func (r *Runner) rewound(t time.Duration) (*Session, error) {
	s, err := r.open()
	if err != nil {
		return nil, err
	}
	s.pending = upcoming(r.session.log, s.pending, t)
	return s, nil
}
