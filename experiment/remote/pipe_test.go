package remote

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"time"
)

// pipe is one side of an in-process connection that drops datagrams and swaps neighbours, each
// with probability loss.
type pipe struct {
	mu    sync.Mutex
	queue []datagram
	rng   *rand.Rand
	loss  float64
	peer  *pipe
	ready chan struct{}
	done  chan struct{}
	err   error
}

// newPipe returns both sides of a connection.
func newPipe(loss float64) (a, b *pipe) {
	a = &pipe{rng: rand.New(rand.NewPCG(1, 2)), loss: loss, ready: make(chan struct{}, 1), done: make(chan struct{})}
	b = &pipe{rng: rand.New(rand.NewPCG(3, 4)), loss: loss, ready: make(chan struct{}, 1), done: make(chan struct{})}
	a.peer, b.peer = b, a
	return a, b
}

func (p *pipe) Send(stream uint8, payload []byte) error {
	d := datagram{Stream: stream, Data: bytes.Clone(payload), At: time.Now()}
	p.mu.Lock()
	lost, swap := p.rng.Float64() < p.loss, p.rng.Float64() < p.loss
	p.mu.Unlock()
	if lost {
		return nil
	}
	q := p.peer
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, d)
	if n := len(q.queue); swap && n > 1 {
		q.queue[n-1], q.queue[n-2] = q.queue[n-2], q.queue[n-1]
	}
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return nil
}

func (p *pipe) Poll(buf []byte) (datagram, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return datagram{}, false
	}
	d := p.queue[0]
	p.queue = p.queue[1:]
	d.Data = buf[:copy(buf, d.Data)]
	return d, true
}

func (p *pipe) Ready() <-chan struct{} { return p.ready }
func (p *pipe) Done() <-chan struct{}  { return p.done }
func (p *pipe) Err() error             { return p.err }

func (p *pipe) close(err error) {
	p.err, p.peer.err = err, err
	close(p.done)
	close(p.peer.done)
}
