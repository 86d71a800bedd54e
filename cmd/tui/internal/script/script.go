// Package script determines the links of each client of a proxy at each time: the links of the
// configuration, changed by its scripted changes ([[at]]) and by the conditions of single clients
// ([[client]]), and by the user during the run.
package script

import (
	"errors"
	"fmt"
	"time"

	"wirelab/experiment/config"
)

// Script contains the links of a proxy and their scripted changes.
type Script struct {
	Title    string
	Seed     uint64                 // of the links
	Duration time.Duration          // after which the proxy ends; 0 means no limit
	Base     *config.Config         // at the start
	Changes  []config.StampedChange // changes of links, in order of time
	stages   []*config.Config       // Base, then the configuration after each change
}

// New returns the script of a configuration, which must set only links. It applies all scripted
// changes to the settings of all clients, so that invalid combinations are refused before the
// proxy starts.
func New(base *config.Config, title string) (*Script, error) {
	if err := base.CheckProxy(); err != nil {
		return nil, err
	}
	if err := base.PinFiles(); err != nil {
		return nil, base.Locate(err)
	}
	s := &Script{Title: title, Seed: base.Seed, Duration: base.Duration, Base: base, stages: []*config.Config{base}}
	stage, err := base, error(nil)
	for _, i := range base.ScriptOrder() { // by time
		at := base.At[i]
		if stage, err = stage.WithChange(at.Change); err != nil {
			return nil, base.Locate(config.Within(config.Indexed("at", i), err))
		}
		s.Changes, s.stages = append(s.Changes, at), append(s.stages, stage)
	}
	return s, s.check()
}

// maxCombinations is the largest number of combinations of changes and [[client]] entries that
// check validates.
const maxCombinations = 20_000

// check validates the links of all clients at the start and after each scripted change. It refuses
// scripts with more combinations than it can validate in a short time.
func (s *Script) check() error {
	byAddress := 0 // entries that select a client by its address; the others select it by its turn in joining
	for i := range s.Base.Clients {
		if s.Base.Clients[i].Address.IsValid() {
			byAddress++
		}
	}
	byNumber := len(s.Base.Clients) - byAddress
	// Clients match no entry, one, or one of each kind: see checkClients.
	if len(s.stages)*(1+len(s.Base.Clients)+byAddress*byNumber) > maxCombinations {
		return fmt.Errorf("too many combinations of %d changes, %d clients by address and %d clients by turn; expected at most %d",
			len(s.Changes), byAddress, byNumber, maxCombinations)
	}
	for i, stage := range s.stages {
		if err := s.checkClients(stage); err != nil {
			if i > 0 { // stage 0 is the configuration at the start; change i-1 leads to stage i
				err = &config.Error{Key: config.Indexed("at", s.Base.ScriptOrder()[i-1]), Problem: "not valid together with " + err.Error()}
			}
			return s.Base.Locate(err)
		}
		if err := stage.PinFiles(); err != nil {
			return s.Base.Locate(err)
		}
	}
	return nil
}

// checkClients validates the links of clients with conditions of their own; configForAll is the
// configuration of all other clients. It checks the links after each [[client]] entry, and after each pair of an
// entry by address and one by number, since a client may match both.
func (s *Script) checkClients(configForAll *config.Config) error {
	for i := range s.Base.Clients {
		first := &s.Base.Clients[i]
		c, err := configForAll.WithChange(first.Change)
		if err == nil {
			err = c.PinFiles()
		}
		if err != nil {
			return config.Within(config.Indexed("client", i), err)
		}
		for k := i + 1; k < len(s.Base.Clients); k++ {
			second := &s.Base.Clients[k]
			if second.Address.IsValid() == first.Address.IsValid() { // a client has only one address and one number
				continue
			}
			both, err := c.WithChange(second.Change)
			if err == nil {
				err = both.PinFiles()
			}
			if err != nil {
				err = config.Within(config.Indexed("client", k), err)
				var bad *config.Error
				if errors.As(err, &bad) {
					bad.Problem = fmt.Sprintf("a client may also match %s: %s", config.Indexed("client", i), bad.Problem)
				}
				return err
			}
		}
	}
	return nil
}
