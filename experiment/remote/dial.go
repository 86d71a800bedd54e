package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"wirelab/internal/panics"
)

// ErrRefused means that a listener has as many sessions as it allows.
var ErrRefused = errors.New("the listener has as many sessions as it allows; try again later")

// ErrNoAnswer means that no listener with the token answered.
var ErrNoAnswer = errors.New("no listener with this token and version answers there")

// peerTimeout is the time without a sign of life of the listener after which a connection ends.
const peerTimeout = 5 * time.Second

// Dial connects to the listener at an address, within handshakeTimeout. If none with the token answers,
// the error wraps ErrNoAnswer.
func Dial(ctx context.Context, to netip.AddrPort, token *Token, purpose Purpose) (*Conn, error) {
	dialing, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	c, err := connect(dialing, to, token, purpose)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, ErrRefused):
		return nil, err
	}
	return nil, fmt.Errorf("%w (%w)", ErrNoAnswer, err)
}

// connect returns a started connection over which datagrams pass in both directions.
func connect(ctx context.Context, to netip.AddrPort, token *Token, purpose Purpose) (*Conn, error) {
	tcp, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	// A deadline in the past ends the handshake when ctx ends.
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	c, err := authenticate(ctx, &meteredConn{Conn: tcp}, token, purpose)
	stop()
	if err != nil {
		return nil, errors.Join(err, tcp.Close())
	}
	c.remote = to
	if err := c.connectDatagrams(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// authenticate checks the certificate of the listener and proves the token.
func authenticate(ctx context.Context, traffic *meteredConn, token *Token, purpose Purpose) (*Conn, error) {
	control := tls.Client(traffic, &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // VerifyConnection compares the certificate with the token instead
		VerifyConnection:   token.checkCertificate})
	if err := control.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if _, err := control.Write(append([]byte{byte(purpose)}, token.proof(control, purpose)...)); err != nil {
		return nil, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(control, answer[:]); err != nil {
		return nil, fmt.Errorf("the listener does not accept the token: %w", err)
	}
	if answer[0] != answerAccepted {
		return nil, ErrRefused
	}
	const isDialer = true
	keys := export(control, keysLabel, keyMaterial)
	return newConn(context.Background(), control, traffic, keys, purpose, isDialer), nil
}

// helloInterval is the time after which an empty datagram is repeated until the listener answers one.
const helloInterval = 20 * time.Millisecond

// connectDatagrams opens the UDP socket, starts the connection, and waits until datagrams pass in both
// directions.
func (c *Conn) connectDatagrams(ctx context.Context) error {
	udp, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(c.remote))
	if err != nil {
		return errors.Join(err, c.control.Close())
	}
	c.write = func(b []byte) error { _, err := udp.Write(b); return err }
	c.onEnd = func() { _ = udp.Close() }
	c.start(peerTimeout)
	s := newSocket(udp)
	handle := func(b []byte, _ netip.AddrPort, at time.Time) { c.handleDatagram(b, c.remote, at) }
	c.goroutines.Go(panics.Guard(c.fail, func() { s.readLoop(handle) }))
	for !c.peerSocket().IsValid() {
		_ = c.sendDatagram(nil)
		select {
		case <-c.open.Done():
			return c.Err()
		case <-ctx.Done():
			return errors.New("the listener accepts the token, but UDP datagrams do not pass in both directions")
		case <-time.After(helloInterval):
		}
	}
	return nil
}
