package sweep

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"wirelab/internal/panics"

	"github.com/nats-io/nats-server/v2/server"
)

// queueServer is a NATS server in this process.
type queueServer struct {
	ns    *server.Server
	dir   string // temporary folder with the streams; Close removes it
	token string // required of clients

	panicked chan error // the first panic in a goroutine of the server
}

// Serve starts a server that listens on addr, "host:port" with port 0 for any. Clients must present
// the token, which must not be empty. certificate is nil for connections without TLS. The queue is
// lost when the server is closed, and is not synced to the disk: results are stored by the
// coordinator before it acknowledges them.
func Serve(addr, token string, certificate *tls.Config) (*queueServer, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("port %q, expected 0 to 65535", portText)
	}
	l, err := net.Listen("tcp", addr) // reports why addr cannot be used; the NATS server does not
	if err != nil {
		return nil, &QueueError{"cannot listen", err}
	}
	l.Close()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if token == "" {
		return nil, errors.New("a server needs a token")
	}
	dir, err := os.MkdirTemp("", "wirelab-queue-*")
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(&server.Options{ServerName: "wirelab-" + hostName(), Host: host, Port: port,
		Authorization: token, TLSConfig: certificate,
		JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true, MaxPayload: 8 << 20, MaxConn: 10_000,
		// The maximum sizes of all streams are reserved when they are created. The default limit, three
		// quarters of the free disk space, may be less. 1 GB is a reserve.
		JetStreamMaxStore: maxJobBytes + maxResultBytes + maxFileBytes + 1<<30})
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s := &queueServer{ns: ns, dir: dir, token: token, panicked: make(chan error, 1)}
	go panics.Guard(s.fail, ns.Start)()
	if !ns.ReadyForConnections(10 * time.Second) {
		s.Close()
		return nil, fmt.Errorf("cannot listen on %s", addr)
	}
	return s, nil
}

// Addr returns the address on which the server listens.
func (s *queueServer) Addr() string { return s.ns.Addr().String() }

// Open connects to the server without a socket.
func (s *queueServer) Open(ctx context.Context) (*queue, error) {
	return OpenQueue(ctx, QueueOptions{Token: s.token, inProcess: s.ns})
}

// fail shuts the server down after a panic, which Close raises again.
func (s *queueServer) fail(bug error) {
	select {
	case s.panicked <- bug:
	default:
	}
	s.ns.Shutdown()
}

// Close shuts the server down and removes its folder. It panics if a goroutine of the server did.
func (s *queueServer) Close() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
	os.RemoveAll(s.dir)
	select {
	case bug := <-s.panicked:
		panic(bug)
	default:
	}
}

// hostName returns the name of this machine, or "unnamed".
func hostName() string {
	name, _ := os.Hostname() // "" after an error
	return cmp.Or(name, "unnamed")
}
