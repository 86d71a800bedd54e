package remote

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"wirelab/internal/panics"
)

// RefusedError means that a listener has as many sessions as it allows.
type RefusedError struct{}

func (*RefusedError) Error() string {
	return "the listener has as many sessions as it allows; try again later"
}

// ErrNoAnswer means that no listener with the token answered.
var ErrNoAnswer = errors.New("no listener with this token and version answers there")

// Dial connects to the listener at an address, within handshakeTimeout. If none with the token answers,
// the error wraps ErrNoAnswer.
func Dial(ctx context.Context, to netip.AddrPort, token *Token, purpose Purpose) (*Conn, error) {
	dialing, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	tcp, err := (&net.Dialer{}).DialContext(dialing, "tcp", to.String())
	if err != nil {
		return nil, noAnswer(ctx, err)
	}
	// A deadline in the past ends the handshake when dialing ends.
	stop := context.AfterFunc(dialing, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c, err := authenticate(dialing, &meteredConn{Conn: tcp}, token, purpose)
	if err != nil {
		_ = tcp.Close()
		return nil, noAnswer(ctx, err)
	}
	c.remote = to
	if err := c.connectDatagrams(dialing); err != nil {
		_ = c.Close()
		return nil, noAnswer(ctx, err)
	}
	if !stop() { // the deadline is set, or is being set
		_ = c.Close()
		return nil, noAnswer(ctx, dialing.Err())
	}
	const noLimit = 0 // Link notices a silent listener itself
	c.start(noLimit)
	return c, nil
}

// noAnswer returns the cause of ctx if that has ended, a RefusedError as it is, and otherwise an error that
// wraps ErrNoAnswer.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.As(err, new(*RefusedError)) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrNoAnswer, err)
}

// authenticate checks the certificate of the listener and proves the token.
func authenticate(ctx context.Context, metered *meteredConn, token *Token, purpose Purpose) (*Conn, error) {
	control := tls.Client(metered, &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // VerifyConnection compares the certificate with the token instead
		VerifyConnection:   token.checkCertificate})
	if err := control.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	proof, err := exportProof(control, token, purpose)
	if err != nil {
		return nil, err
	}
	if _, err := control.Write(append([]byte{byte(purpose)}, proof...)); err != nil {
		return nil, err
	}
	var answer [answerBytes]byte
	if _, err := io.ReadFull(control, answer[:]); err != nil {
		return nil, fmt.Errorf("the listener does not accept the token: %w", err)
	}
	if answer[0] != answerAccepted {
		return nil, &RefusedError{}
	}
	keys, err := exportKeys(control)
	if err != nil {
		return nil, err
	}
	c := newConn(control, binary.BigEndian.Uint32(answer[1:]), keys, true)
	c.purpose, c.traffic = purpose, metered
	return c, nil
}

// helloInterval is the time after which an empty datagram is repeated until the listener answers one.
const helloInterval = 100 * time.Millisecond

// connectDatagrams opens the UDP socket and waits until datagrams pass in both directions.
func (c *Conn) connectDatagrams(ctx context.Context) error {
	udp, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(c.remote))
	if err != nil {
		return err
	}
	c.write = func(b []byte) error { _, err := udp.Write(b); return err }
	c.onEnd = func() { _ = udp.Close() }
	s := newSocket(udp)
	c.goroutines.Go(panics.Guard(c.fail, func() { s.readLoop(c.handleFromListener) }))
	for {
		_ = c.sendDatagram(nil)
		select {
		case <-c.reached:
			return nil
		case <-c.done:
			return c.Err()
		case <-ctx.Done():
			return errors.New("the listener accepts the token, but UDP datagrams do not pass in both directions")
		case <-time.After(helloInterval):
		}
	}
}

// handleFromListener passes a datagram of the dialer's socket to the connection, or counts it as dropped
// if it belongs to another session.
func (c *Conn) handleFromListener(b []byte, from netip.AddrPort, at time.Time) {
	number, ok := sessionOf(b)
	if !ok || number != c.out.session {
		c.counts.add(stranger, "in_bytes", len(b))
		return
	}
	c.handleDatagram(b, c.remote, at)
}
