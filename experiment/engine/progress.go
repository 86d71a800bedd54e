package engine

import (
	"time"

	"wirelab/dataset"
	"wirelab/experiment/endpoint"
)

// Progress returns how far the session is, of how far it will go: in seconds, or of
// files in bytes.
func (s *Session) Progress() (done, total float64) {
	if s.delivers {
		return s.delivered()
	}
	return s.Now().Seconds(), s.expected().Seconds()
}

// expected returns when the session will end, 0 if that is not known yet.
func (s *Session) expected() time.Duration {
	if s.end < never {
		return s.end
	}
	if src, ok := s.source.(dataset.Sized); ok {
		return endpoint.TickTime(uint64(src.Frames()), s.schema.TickHz)
	}
	return 0
}

// Planned returns how long the session is to be, 0 if only the data knows. Ask at the
// beginning: what was broken off has ended.
func (s *Session) Planned() time.Duration {
	if s.delivers || s.opt.Endless {
		return 0
	}
	return s.expected()
}

// Interrupt ends the session right after the present instant.
func (s *Session) Interrupt() {
	s.interrupted = true
	s.finish(s.now + 1)
}
