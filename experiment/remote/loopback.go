package remote

import (
	"context"
	"errors"
	"net/netip"

	"wirelab/experiment/remote/channel"
	"wirelab/internal/panics"
)

// Loopback is both ends in one process, with real sockets between them.
type Loopback struct {
	Link     *Link
	near     *channel.Session
	listener *channel.Listener
	served   chan struct{}
}

// NewLoopback begins a far end of its own and connects to it.
func NewLoopback(ctx context.Context) (*Loopback, error) {
	token, err := channel.ParseToken(channel.NewToken())
	if err != nil {
		return nil, err
	}
	o := channel.Options{Token: token, MaxSessions: 1}
	l := &Loopback{served: make(chan struct{})}
	if l.listener, err = channel.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), o); err != nil {
		return nil, err
	}
	if l.near, err = channel.Dial(ctx, l.listener.Addr(), Purpose, o); err != nil {
		close(l.served)
		return nil, errors.Join(err, l.Close())
	}
	go l.serve() // the listener keeps the session until it is accepted
	l.Link = NewLink(l.near, Options{To: l.listener.Addr().String(), Context: ctx})
	return l, nil
}

// serve is the far end, until its listener is closed. A panic there ends the near end.
func (l *Loopback) serve() {
	defer close(l.served)
	err := panics.Call(func() error {
		s, err := l.listener.Accept(context.Background())
		if err == nil {
			_, err = Serve(context.Background(), s, AnyFile)
		}
		return err
	})
	if errors.As(err, new(*panics.Error)) {
		l.near.Fail(err)
	} // else the near end sees that nothing comes any more
}

// Close ends both.
func (l *Loopback) Close() error {
	var err error
	if l.near != nil {
		err = l.near.Close()
	}
	err = errors.Join(err, l.listener.Close())
	<-l.served
	return err
}

// Leave lets the far end go, as one does that is stopped.
func (l *Loopback) Leave() { _ = l.listener.Close() }
