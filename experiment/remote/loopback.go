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
	options := channel.Options{Token: token, MaxSessions: 1}
	listener, err := channel.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), options)
	if err != nil {
		return nil, nil, err
	}
	session, err := channel.Dial(ctx, listener.Addr(), Purpose, options)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	served := make(chan struct{})
	go func() { // the listener queues the session until Accept
		defer close(served)
		err := panics.Call(func() error {
			s, err := listener.Accept(context.Background())
			if err == nil {
				allFiles := func(name string) string { return name } // the sender is this process and is trusted
				_, err = Serve(context.Background(), s, allFiles)
			}
			return err
		})
		if errors.As(err, new(*panics.Error)) {
			session.Fail(err)
		} // other errors close the connection or silence the receiver, which Link.Err reports
	}()
	return NewLink(session, listener.Addr().String()), func() error {
		err := errors.Join(session.Close(), listener.Close())
		<-served
		return err
	}, nil
}
