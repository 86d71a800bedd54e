package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/experiment/endpoint"
)

// longestDelivery bounds a run that nobody set a duration for: a link that loses
// everything delivers nothing.
const longestDelivery = time.Hour

// restBetween is how long a session that delivers again and again rests in between.
const roundPause = time.Second

// bringing is what a session has besides if every byte must arrive: it is over when
// every lane has brought the file across, or begins again.
type fileDelivery struct {
	delivers bool
	pair     *filePair
	packs    *PackCache
	scripted []*endpoint.Encoding // that the script will ask for, as far as nobody has packed the file with them
	rounds   uint64               // begun
	pausing  bool
	resumeAt time.Duration // when it begins again, if it is resting
}

// takeFile reads the one frame there is, the new file.
func (s *Session) takeFile() error {
	s.packs = s.opt.Packs
	if s.packs == nil {
		s.packs = NewPackCache()
	}
	if err := s.source.Next(s.cur); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("data %s: %w", s.config.Data.Source, err)
	}
	s.pair = newFilePair(s.initial, s.cur)
	return nil
}

// over reports whether all lanes have brought the file across, or cannot.
func (s *Session) deliveryOver() bool {
	for _, l := range s.lanes {
		if l.snd.Pending() != nil || !l.delivery.over() {
			return false
		}
	}
	return true
}

// bring lets a datagram of each lane leave if one is due, after what arrived at this
// instant.
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
		s.marks = append(s.marks, Mark{T: at, Label: "seam", Kind: MarkSeam})
		for _, l := range s.lanes {
			l.snd.Request(*l.snd.Encoding())
		}
	}
	s.rounds = max(s.rounds, 1)
	for _, l := range s.lanes {
		l.sendBlock(at)
	}
}

// delivered returns how many bytes of packed files are there, of how many: of all
// lanes together.
func (s *Session) delivered() (done, total float64) {
	for _, l := range s.lanes {
		d := l.delivery
		if !d.begun() {
			continue
		}
		stream, block := d.snd.Bytes()
		total += float64(stream)
		if in, _ := d.rcv.Progress(); d.present() {
			done += float64(min(in.Received()*block, stream)) // the last block is a short one
		}
	}
	return done, total
}
