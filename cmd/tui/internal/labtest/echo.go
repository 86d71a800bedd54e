package labtest

import (
	"slices"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// Echo is a fake lab that executes changes, pause and speed like the real one. Its packets and samples are
// those of Lab, whatever the settings are.
type Echo struct{ Lab }

// NewEcho returns an Echo 90 s after the start of its session.
func NewEcho() *Echo { return &Echo{*NewLab()} }

func (l *Echo) Do(c live.Command) bool {
	next := *l.Snap
	if c.Change != nil {
		next.Config = next.Config.Clone()
		if err := next.Config.Apply(*c.Change); err != nil {
			panic(err) // the dashboard validates changes before it sends them
		}
		next.Marks = append(next.Marks[:len(next.Marks):len(next.Marks)], engine.Mark{T: next.Now, Label: c.Change.Label()})
	}
	if c.Pause != nil {
		next.State = engine.Running
		if *c.Pause {
			next.State = engine.Paused
		}
	}
	if c.Speed != nil {
		next.Speed = *c.Speed
	}
	l.Snap = &next
	return l.Lab.Do(c)
}

// Pass advances virtual time by d.
func (l *Echo) Pass(d time.Duration) {
	next := Snapshot(l.Snap.Now + d)
	next.Config, next.Marks, next.State, next.Speed = l.Snap.Config, l.Snap.Marks, l.Snap.State, l.Snap.Speed
	next.Lanes[0].Encoder = next.Config.Encoder.Name
	for _, s := range next.Config.Shadows {
		shadow := next.Lanes[0]
		shadow.Encoder, shadow.Samples = s.Name, slices.Clone(shadow.Samples)
		next.Lanes = append(next.Lanes, shadow)
	}
	l.Snap = next
}
