package experiment

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"wirelab/experiment/endpoint"
)

// making is the goroutine in which a live session's patch is made, so that those who
// look can see how, and leave.
type making struct {
	encoder     string
	finished    chan struct{}
	done, total atomic.Int64
	picture     *MatrixMaker
	err         error // holds once finished is closed
}

// startMaking packs the session's file, in the background, by an encoding like run.
func startMaking(ctx context.Context, s *Session, run *endpoint.Encoding, clock Clock) *making {
	oldSize, newSize := s.FileSizes()
	m := &making{encoder: run.Codec.Name, finished: make(chan struct{}), picture: NewMatrixMaker(oldSize, newSize)}
	m.total.Store(newSize)
	pack := s.PackBy(run, &Packing{Clock: clock, Watch: m.picture.Watch(), Progress: func(_ string, done, _ int64) error {
		m.done.Store(done)
		return ctx.Err()
	}})
	go func() {
		defer close(m.finished)
		defer func() {
			if p := recover(); p != nil {
				m.err = fmt.Errorf("the lab broke: %v\n%s", p, debug.Stack())
			}
		}()
		m.err = pack()
	}()
	return m
}
