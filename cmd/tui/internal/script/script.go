// Package script says what the links of a proxy do, for whom and when: the file, refined
// by its changes ([[at]]), refined by what a client has of its own ([[client]]).
package script

import (
	"errors"
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

// maxLinks bounds how many conditions are looked at before anything runs.
const maxLinks = 20_000

// check makes the links of all clients at all times: what cannot be is refused now.
func (s *Script) check() error {
	byAddress := 0
	for i := range s.Base.Clients {
		if s.Base.Clients[i].Address.IsValid() {
			byAddress++
		}
	}
	n := len(s.Base.Clients)
	if len(s.stages)*(1+n+byAddress*(n-byAddress)) > maxLinks {
		return fmt.Errorf("%d changes for %d clients by address and %d by turn, of which each may be both, are too many; expected at most %d links",
			len(s.Changes), byAddress, n-byAddress, maxLinks)
	}
	for i, stage := range s.stages {
		if err := s.checkClients(stage); err != nil {
			if i > 0 {
				err = &config.Error{Key: config.Indexed("at", s.Base.ScriptOrder()[i-1]), Problem: "not with " + err.Error()}
			}
			return s.Base.Locate(err)
		}
		if err := stage.Pin(); err != nil {
			return s.Base.Locate(err)
		}
	}
	return nil
}

// checkClients makes what each client with conditions of its own would have: of one entry, and of two
// where one is by address and one by turn.
func (s *Script) checkClients(all *config.Config) error {
	for i := range s.Base.Clients {
		first := &s.Base.Clients[i]
		c, err := all.After(first.Change)
		if err == nil {
			err = c.Pin()
		}
		if err != nil {
			return config.Within(config.Indexed("client", i), err)
		}
		for k := i + 1; k < len(s.Base.Clients); k++ {
			second := &s.Base.Clients[k]
			if second.Address.IsValid() == first.Address.IsValid() {
				continue
			}
			both, err := c.After(second.Change)
			if err == nil {
				err = both.Pin()
			}
			if err != nil {
				err = config.Within(config.Indexed("client", k), err)
				var bad *config.Error
				if errors.As(err, &bad) {
					bad.Problem = fmt.Sprintf("a client may be %s, too: %s", config.Indexed("client", i), bad.Problem)
				}
				return err
			}
		}
	}
	return nil
}
