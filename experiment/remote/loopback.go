package remote

import (
	"context"
	"errors"
	"net/netip"

	"wirelab/experiment/remote/channel"
	"wirelab/internal/panics"
)

// NewLoopback begins a far end in this process and connects to it through real sockets. Call
// closeBoth after use.
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
	go func() { // the listener keeps the session until it is accepted
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
		} // else the near end notices that nothing comes any more
	}()
	return NewLink(near, listener.Addr().String()), func() error {
		err := errors.Join(near.Close(), listener.Close())
		<-served
		return err
	}, nil
}
