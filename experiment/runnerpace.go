package experiment

import (
	"context"
	"fmt"
	"time"

	"wirelab/experiment/engine/packetlog"
)

// Periods of the runner's loop, in wall time.
const (
	tickInterval = 8 * time.Millisecond
	maxSlice     = 12 * time.Millisecond // the longest work between two reads of the commands
	publishEvery = 45 * time.Millisecond
	maxElapsed   = 250 * time.Millisecond // virtual time does not catch up with more, after a sleep or a clock that jumped
)

// MinSpeed and MaxSpeed bound the pace of a live session; 0 means no pacing.
const (
	MinSpeed = 0.1
	MaxSpeed = 64
)

// keepsUp is the ratio of actual to requested speed that counts as reached.
const keepsUp = 0.93

// noSeek means that no seek is pending.
const noSeek time.Duration = -1

// maxSeek bounds how far one jump goes.
const maxSeek = time.Hour

// pacing is how a runner advances virtual time.
type pacing struct {
	paused   bool
	speed    float64       // multiple of real time; 0: no pacing
	target   time.Duration // virtual time to reach in this tick
	seeking  time.Duration // virtual time to run to without pacing, even if paused, or noSeek
	jump     bool          // the seek is a jump: its arrival is shown
	last     time.Duration // wall time of the last tick
	measured pace
}

// pace measures how fast virtual time advances.
type pace struct {
	wall, virtual time.Duration
	started       bool
	factor        float64 // multiple of real time, over the last second
}

func (p *pace) note(wall, virtual time.Duration) {
	if !p.started || virtual < p.virtual {
		p.wall, p.virtual, p.started = wall, virtual, true
		return
	}
	if d := wall - p.wall; d >= time.Second {
		p.factor = float64(virtual-p.virtual) / float64(d)
		p.wall, p.virtual = wall, virtual
	}
}

func (p *pace) stop() { p.started = false }

// advance runs the session so that virtual time follows the wall clock, for at most maxSlice.
func (r *Runner) advance() {
	wall := r.opt.Clock()
	r.session.AllowTrials(r.measured.factor == 0 || r.measured.factor >= keepsUp*r.speed)
	elapsed := min(wall-r.last, maxElapsed)
	r.last = wall
	from := r.session.Now()
	if r.seeking != noSeek && r.session.Reached(r.seeking) {
		if r.jump {
			r.notify(false, "at "+clockText(from))
		}
		r.seeking, r.jump = noSeek, false
	}
	if r.err != nil || r.session.Done() || (r.paused && r.seeking == noSeek) {
		r.listen(from)
		r.measured.stop()
		return
	}
	switch {
	case r.seeking != noSeek:
		r.target = r.seeking
	case r.speed == 0:
		r.target = from + time.Hour
	case r.target-from > time.Duration(float64(r.behind())*r.speed):
		// It fell behind: virtual time slows down instead of catching up.
		r.target = from + time.Duration(float64(elapsed)*r.speed)
	default:
		r.target = max(r.target, from) + time.Duration(float64(elapsed)*r.speed)
	}
	r.listen(r.target)
	for !r.session.Reached(r.target) && !r.session.Done() && r.opt.Clock()-wall < maxSlice {
		to := min(r.target, r.session.Now()+20*time.Millisecond)
		if err := r.session.RunUntil(to); err != nil {
			r.fail(err)
			return
		}
	}
	if refused := r.session.Refused(); len(refused) > r.refused {
		x := refused[len(refused)-1]
		r.notify(true, "the script's "+x.Change.Label()+" did not fit: "+x.Why)
		r.refused = len(refused)
	}
	r.measured.note(wall, r.session.Now())
	if r.seeking != noSeek {
		r.measured.stop()
	}
}

func (r *Runner) setSpeed(v float64) {
	if v != 0 && !(v >= MinSpeed && v <= MaxSpeed) {
		r.notify(true, fmt.Sprintf("speed %g makes no sense; expected %g to %g, or max", v, MinSpeed, float64(MaxSpeed)))
		return
	}
	r.speed = v
}

// seek runs to t without pacing; backwards by opening the session again and repeating the changes
// that were made before t.
func (r *Runner) seek(ctx context.Context, t time.Duration) error {
	now := r.session.Now()
	if t < 0 || t > now+maxSeek {
		return fmt.Errorf("seek to %v makes no sense; expected 0 to %v ahead", t, maxSeek)
	}
	old := r.session
	if t < now {
		again, err := r.open(ctx)
		if err != nil {
			return err
		}
		again.ReplayChanges(old.Log(), t)
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

// standing is what the runner shows in addition while time stands still: every packet that it
// keeps, so that a person can look back at them. They are copied once for each time that it comes
// to rest, and dropped when it continues.
type standing struct {
	snapshots int // since time stood still
	kept      []packetlog.Record
}

// standingBefore is how many snapshots come first without these packets: stepping from frame to
// frame would copy all packets for each of them.
const standingBefore = 4

// packets returns the packets to show in addition; nil unless time has stood still long enough.
func (x *standing) packets(r *Runner) []packetlog.Record {
	if r.seeking != noSeek || !r.paused && !r.session.Done() || r.err != nil {
		*x = standing{}
		return nil
	}
	x.snapshots++
	if x.snapshots > standingBefore && x.kept == nil {
		x.kept = r.session.Packets()
	}
	return x.kept
}
