package remote

import (
	"context"
	"errors"
	"net/netip"

	"wirelab/internal/panics"
)

// NewLoopback starts a receiver in this process and connects a Link to it over sockets on 127.0.0.1. The
// caller must call closeBoth to end both sides.
func NewLoopback(ctx context.Context) (link *Link, closeBoth func() error, err error) {
	id, err := NewIdentity()
	if err != nil {
		return nil, nil, err
	}
	listener, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), id, Options{MaxSessions: 1})
	if err != nil {
		return nil, nil, err
	}
	conn, err := Dial(ctx, listener.Addr(), id.Token(), SessionPurpose)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		err := panics.Call(func() error {
			c, err := listener.Accept(context.Background())
			if err == nil {
				// The sender is this process and is trusted.
				allFiles := func(name string) string { return name }
				_, err = Serve(context.Background(), c, allFiles)
			}
			return err
		})
		if errors.As(err, new(*panics.Error)) {
			conn.fail(err)
		} // other errors close the connection or silence the receiver, which Link.Err reports
	}()
	return NewLink(conn, listener.Addr().String()), func() error {
		err := errors.Join(conn.Close(), listener.Close())
		<-served
		return err
	}, nil
}
