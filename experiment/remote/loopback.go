package remote

import (
	"context"
	"errors"
	"net/netip"

	"wirelab/experiment/remote/channel"
	"wirelab/internal/panics"
)

// NewLoopback starts a receiver in this process and connects a Link to it over a UDP socket on
// 127.0.0.1. The caller must call closeBoth to end both sides.
func NewLoopback(ctx context.Context) (link *Link, closeBoth func() error, err error) {
	token, err := channel.ParseToken(channel.NewToken())
	if err != nil {
		return nil, nil, err
	}
	o := channel.Options{Token: token, MaxSessions: 1}
	listener, err := channel.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), o)
	if err != nil {
		return nil, nil, err
	}
	near, err := channel.Dial(ctx, listener.Addr(), Purpose, o)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	served := make(chan struct{})
	go func() { // the listener queues the session until Accept
		defer close(served)
		err := panics.Call(func() error {
			s, err := listener.Accept(context.Background())
			if err == nil {
				_, err = Serve(context.Background(), s, func(name string) string { return name })
			}
			return err
		})
		if errors.As(err, new(*panics.Error)) {
			near.Fail(err)
		} // Link.Err reports other errors: the connection is closed or no message arrives
	}()
	return NewLink(near, listener.Addr().String()), func() error {
		err := errors.Join(near.Close(), listener.Close())
		<-served
		return err
	}, nil
}
