package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
)

// A shadow is a further encoder on the same frames and the same fates as the encoder
// of the first lane. It may join and leave while the session runs. A lane that joins
// copies the state of the first lane's links, so that from then on its packets meet
// the same fates.

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

// arrangeShadows makes the shadow lanes follow the configuration. Lanes that stay are
// left alone.
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
	s.setRunning()
	return nil
}

// join makes a shadow lane that begins now.
func (s *Session) join(e config.Encoder) (*lane, error) {
	opt := s.opt.shadow()
	l, err := newLane(s.config, e, s.schema, s.initial, &opt)
	if err != nil {
		return nil, err
	}
	s.deliverFile(l)
	first := s.lanes[0]
	l.began = s.now
	l.connect(first.downLink.Fork(inheritedTag), first.upLink.Fork(inheritedTag))
	l.snd.StartAt(s.sent, s.now)
	l.rcv.StartAt(s.sent)
	l.play.moment = s.now // nothing older is displayed
	return l, nil
}

// inheritedTag tags the datagrams that were in flight when a shadow copied a link.
// Another lane sent them.
const inheritedTag = 1<<64 - 1

// arriveInherited handles the arrival of a packet that another lane sent. The
// receiver ignores it, but the first lane acks it. So this lane sends an ack as well,
// to keep the random draws of both uplinks in step.
func (l *lane) arriveInherited(now time.Duration, damaged bool) {
	if !damaged {
		l.up.Send(now, make([]byte, l.ackSize()), inheritedTag)
	}
}

// shadow returns the options of a shadow lane: no observer, no picture, no
// inspection, few packets.
func (o Options) shadow() Options {
	o.Observer, o.WithPicture, o.Inspect, o.Network = nil, false, false, nil
	if o.KeepPackets > ShownPackets {
		o.KeepPackets = ShownPackets
	}
	return o
}

// ackSize returns how many bytes an ack takes without a codec's report.
func (l *lane) ackSize() int {
	if l.delivery != nil {
		return l.delivery.rcv.AckSize()
	}
	return l.rcv.AckSize()
}
