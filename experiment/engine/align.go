package engine

import (
	"reflect"
	"slices"
	"time"

	"wirelab/experiment/endpoint"
)

// Two lanes with equal configurations must send equal bytes. But an adaptive encoder attaches to each frame
// a memo of what it has learned, and two lanes whose configurations a change makes equal have learned
// different things. So both begin an epoch, which has no memos yet, with the same packet and the same
// references. From the first packet whose baseline belongs to that epoch they send equal payloads, unless
// sizes affect the links, as with `rate`.

// markEqualLanes marks the lanes that a change has added and, if swaps is set, the first lane, whose
// encoder it has changed, if they have the configuration of another lane; alignLanes begins their epoch.
// Deliveries of files are left out, because a new epoch would deliver the file again.
func (s *Session) markEqualLanes(swaps bool) {
	if s.isFile {
		return
	}
	for i, l := range s.lanes {
		if i == 0 && swaps || i > 0 && l.joinedAt == s.now {
			l.aligning = len(s.lanesEqualTo(l)) > 1
		}
	}
}

// alignLanes begins an epoch in each marked lane and in the lanes of equal configuration, if all of them
// can begin one with the packet that is due at now and would choose the same references. Otherwise they
// wait for a later packet: a shadow that has just joined waits for its first acks.
func (s *Session) alignLanes(now time.Duration) {
	for _, l := range s.lanes {
		if !l.aligning {
			continue
		}
		group := s.lanesEqualTo(l)
		if len(group) < 2 { // another change came before
			l.aligning = false
			continue
		}
		if slices.ContainsFunc(group, func(m *lane) bool { return !m.snd.CanBeginEpoch(now) || !m.snd.SharesReferences(l.snd) }) {
			continue
		}
		for _, m := range group {
			encoding := m.snd.Requested()
			fresh, err := endpoint.NewEncoding(s.schema, encoding.Codec, encoding.Params)
			if err != nil { // a plugin whose process cannot be started again
				m.lastErr = err
				continue
			}
			m.aligning = false
			m.snd.Request(fresh)
		}
	}
}

// lanesEqualTo returns the lanes with the codec, the parameters and the budget of l, including l. Of a lane
// whose next epoch is pending, these are the codec and the parameters of that epoch.
func (s *Session) lanesEqualTo(l *lane) []*lane {
	own := l.snd.Requested()
	var equal []*lane
	for _, m := range s.lanes {
		if e := m.snd.Requested(); e.Codec.Name == own.Codec.Name && reflect.DeepEqual(e.Params, own.Params) && s.sendBudget(m) == s.sendBudget(l) {
			equal = append(equal, m)
		}
	}
	return equal
}
