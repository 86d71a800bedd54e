package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// A shadow is a further encoder on the same frames and the same fates as the one
// under the keys. It may join and leave while the session runs: whoever joins
// takes over links in the state of the first lane's, so that from then on every
// packet meets what the first lane's packet meets.

// checkShadows says whether the data suit every shadow of after that c does not have.
func (s *Session) checkShadows(c, after *config.Config) error {
	for i, e := range after.Shadows {
		if e.In(c.Shadows) {
			continue // it runs
		}
		if err := s.suited(config.Indexed("shadow", i), e, after); err != nil {
			return err
		}
	}
	return nil
}

// arrangeShadows brings the lanes to what the configuration says: those that stay
// go on undisturbed.
func (s *Session) arrangeShadows() error {
	lanes := s.lanes[:1:1]
	for _, e := range s.config.Shadows {
		i := slices.IndexFunc(s.lanes[1:], func(l *lane) bool { return l.config.Equal(e) })
		if i >= 0 {
			lanes = append(lanes, s.lanes[1+i])
			continue
		}
		l, err := s.join(e)
		if err != nil {
			return err
		}
		lanes = append(lanes, l)
	}
	s.lanes = lanes
	return nil
}

// join makes a lane that begins now, beside those that run.
func (s *Session) join(e config.Encoder) (*lane, error) {
	opt := s.opt.shadow()
	l, err := newLane(s.config, e, s.schema, s.initial, &opt)
	if err != nil {
		return nil, err
	}
	s.deliverFile(l)
	first := s.lanes[0]
	l.began = s.now
	l.connect(first.downLink.Fork(foreignTag), first.upLink.Fork(foreignTag))
	l.snd.StartAt(s.sent, s.now)
	l.rcv.StartAt(s.sent)
	l.play.moment = s.now // nothing older will be on display
	return l, nil
}

// foreignTag tags what was under way in a link when a lane took it over: it was sent
// by somebody else.
const foreignTag = 1<<64 - 1

// arriveForeign lets a packet arrive that the lane did not send. It means nothing
// here, but the first lane acknowledges it, which moves the chances of the uplink
// on by one: so it must here.
func (l *lane) arriveForeign(now time.Duration, damaged bool) {
	if !damaged {
		l.up.Send(now, make([]byte, endpoint.AckSize(l.delivery != nil)), foreignTag)
	}
}

// shadow returns the options of a lane at which nobody looks closely.
func (o Options) shadow() Options {
	o.Observer, o.Looked, o.Inspect = nil, false, false
	if o.KeepPackets > ShownPackets {
		o.KeepPackets = ShownPackets
	}
	return o
}
