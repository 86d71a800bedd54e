// Package script says what the links of a proxy do, for whom and when: the file, refined
// by its changes ([[at]]), refined by what a client has of its own ([[client]]).
package script

import (
	"fmt"
	"time"

	"wirelab/experiment/config"
)

// Script is what the links of a proxy do, and when.
type Script struct {
	Title    string
	Seed     uint64
	Duration time.Duration
	Base     *config.Config
	Changes  []config.StampedChange // of links, by time
	stages   []*config.Config       // base, then what it is after each change
}

// New plays the changes of a configuration through, for all clients: what cannot be is
// refused before anything runs.
func New(base *config.Config, title string) (*Script, error) {
	if err := base.OnlyLinks(); err != nil {
		return nil, err
	}
	if err := base.Pin(); err != nil {
		return nil, base.Locate(err)
	}
	s := &Script{Title: title, Seed: base.Seed, Duration: base.Duration, Base: base, stages: []*config.Config{base}}
	now, err := base, error(nil)
	for _, i := range base.ScriptOrder() {
		at := base.At[i]
		if now, err = now.After(at.Change); err != nil {
			return nil, base.Locate(config.Within(config.Indexed("at", i), err))
		}
		s.Changes, s.stages = append(s.Changes, at), append(s.stages, now)
	}
	return s, s.check()
}

// mostStages bounds how many conditions are looked at before anything runs.
const mostStages = 20_000

// check makes the links of all clients at all times: what cannot be is refused now.
func (s *Script) check() error {
	if len(s.stages)*(1+len(s.Base.Clients)) > mostStages {
		return fmt.Errorf("%d changes for %d clients are too many; expected at most %d links", len(s.Changes),
			len(s.Base.Clients), mostStages)
	}
	for i, stage := range s.stages {
		for n, client := range s.Base.Clients {
			c, err := stage.After(client.Change)
			if err == nil {
				err = c.Pin()
			}
			if err != nil {
				key := config.Indexed("client", n)
				if i > 0 {
					key = config.Indexed("at", s.Base.ScriptOrder()[i-1]) + " with " + key
				}
				return s.Base.Locate(config.Within(key, err))
			}
		}
		if err := stage.Pin(); err != nil {
			return s.Base.Locate(err)
		}
	}
	return nil
}
