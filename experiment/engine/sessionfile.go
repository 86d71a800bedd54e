package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/experiment/endpoint"
)

// longestDelivery ends a run without a duration. Over a link that loses everything,
// the delivery would never finish.
const longestDelivery = time.Hour

// roundPause is the pause between two rounds of a session that delivers the file
// repeatedly (Data.Again).
const roundPause = time.Second

// fileDelivery is the session's state for data with frame.Every delivery. The session
// ends, or begins another round, when every lane has delivered the file.
type fileDelivery struct {
	delivers bool
	pair     *filePair
	packs    *PackCache
	scripted []*endpoint.Encoding // encodings of the script that the file is not packed with yet
	rounds   uint64               // rounds begun
	pausing  bool
	resumeAt time.Duration // when the next round begins, if pausing
}

// takeFile reads the source's only frame, the new file.
func (s *Session) takeFile() error {
	s.packs = s.opt.Packs
	if s.packs == nil {
		s.packs = NewPackCache()
	}
	if err := s.source.Next(&s.cur.Frame); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("data %s: %w", s.config.Data.Source, err)
	}
	s.pair = newFilePair(s.initial, &s.cur.Frame)
	return nil
}

// deliveryOver reports whether every lane has delivered the file, or has failed to.
func (s *Session) deliveryOver() bool {
	for _, l := range s.lanes {
		if l.snd.Pending() != nil || !l.delivery.over() {
			return false
		}
	}
	return true
}

// stepDelivery sends one datagram on each lane, if one is due. It runs after the
// arrivals of this instant.
func (s *Session) stepDelivery(at time.Duration) {
	switch over := s.deliveryOver(); {
	case !over:
		s.pausing = false
	case !s.config.Data.Again:
		s.finish(at + 1)
		return
	case !s.pausing:
		s.pausing, s.resumeAt = true, at+roundPause
	}
	if at != s.NextFrame() {
		return
	}
	s.sent++
	if (s.sent-1)%uint64(s.config.Sender.Every) != 0 {
		s.skipped++
		return
	}
	if s.pausing && at >= s.resumeAt {
		s.pausing = false
		s.rounds++
		s.mark(at, MarkSeam, "seam")
		for _, l := range s.lanes {
			l.snd.Request(*l.snd.Encoding())
		}
	}
	s.rounds = max(s.rounds, 1)
	for _, l := range s.lanes {
		l.sendBlock(at)
	}
}

// delivered returns how many bytes of the packed files have arrived and how many
// there are, summed over all lanes.
func (s *Session) delivered() (done, total float64) {
	for _, l := range s.lanes {
		d := l.delivery
		if !d.begun() {
			continue
		}
		stream, block := d.snd.Bytes()
		total += float64(stream)
		if in, _ := d.rcv.Progress(); d.present() {
			done += float64(min(in.Received()*block, stream)) // the last block may be short
		}
	}
	return done, total
}
