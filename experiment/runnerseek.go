package experiment

import (
	"fmt"
	"time"

	"wirelab/experiment/engine"
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
	old := r.session
	if t < now {
		again, err := r.rewound(t)
		if err != nil {
			return err
		}
		r.session, r.refused = again, 0
	}
	r.seeking, r.jump = t, true
	r.savedAtMost(t)
	if r.session != old {
		return old.Close()
	}
	return nil
}

// clockText writes a virtual time as the dashboard's clock does.
func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%04.1f", int(d/time.Minute), (d % time.Minute).Seconds())
}

// rewound opens the session again and puts what was done before it.
func (r *Runner) rewound(t time.Duration) (*engine.Session, error) {
	s, err := r.open()
	if err != nil {
		return nil, err
	}
	s.ReplayChanges(r.session.Log(), t)
	return s, nil
}
