package sweep

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"wirelab/internal/panics"
	"wirelab/internal/wallclock"

	"github.com/nats-io/nats-server/v2/server"
)

// queueServer is a NATS server within this process.
type queueServer struct {
	ns    *server.Server
	dir   string // where it keeps the queue; gone when it is closed
	token string

	closed chan struct{}
	bugs   chan error // the first panic beside it
}

// queueDir is how folders of queues begin; those of servers that were killed are removed
// when nobody has touched them for a day.
const queueDir = "wirelab-queue-"

const untouched = 24 * time.Hour

// removeOld removes what servers that were killed have left.
func removeOld(parent string) {
	list, _ := filepath.Glob(filepath.Join(parent, queueDir+"*"))
	for _, dir := range list {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > untouched {
			_ = os.RemoveAll(dir)
		}
	}
}

// keep touches the folder as long as the server lives.
func (s *queueServer) keep() {
	wallclock.Every(untouched/24, s.closed, func() {
		now := time.Now()
		_ = os.Chtimes(s.dir, now, now)
	})
}

// Serve starts a server that listens on addr, a host and a port, for whoever has the
// token. Its queue lives as long as it does, and is not forced to the disk: what counts are
// the results, which are kept elsewhere before they are acknowledged.
func Serve(addr, token string, certificate *tls.Config) (*queueServer, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("%q is no port", text)
	}
	l, err := net.Listen("tcp", addr) // the server itself does not say why it cannot
	if err != nil {
		return nil, &QueueError{"cannot be served", err}
	}
	l.Close()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if token == "" {
		return nil, errors.New("a server needs a token")
	}
	removeOld(os.TempDir())
	dir, err := os.MkdirTemp("", queueDir+"*")
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(&server.Options{ServerName: "wirelab-" + hostName(), Host: host, Port: port, Authorization: token, TLSConfig: certificate,
		JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true, MaxPayload: 8 << 20, MaxConn: 10_000,
		// Streams are given room before they need it: by default no more than three quarters of what the disk has now.
		JetStreamMaxStore: maxJobBytes + maxResultBytes + maxFileBytes + 1<<30})
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s := &queueServer{ns: ns, dir: dir, token: token, closed: make(chan struct{}), bugs: make(chan error, 1)}
	go panics.Guard(s.fail, s.keep)()
	go panics.Guard(s.fail, ns.Start)()
	if !ns.ReadyForConnections(10 * time.Second) {
		s.Close()
		return nil, fmt.Errorf("cannot listen on %s", addr)
	}
	return s, nil
}

// Addr returns where it listens.
func (s *queueServer) Addr() string { return s.ns.Addr().String() }

// Open connects to it from within the process.
func (s *queueServer) Open(ctx context.Context) (*queue, error) {
	return OpenQueue(ctx, QueueOptions{Token: s.token, inProcess: s.ns})
}

// fail ends the server because of a panic, which Close passes on.
func (s *queueServer) fail(bug error) {
	select {
	case s.bugs <- bug:
	default:
	}
	s.ns.Shutdown()
}

// Close ends the server and drops its queue. It panics if a goroutine of the server did.
func (s *queueServer) Close() {
	close(s.closed)
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
	os.RemoveAll(s.dir)
	select {
	case bug := <-s.bugs:
		panic(bug)
	default:
	}
}

// hostName names this machine.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unnamed"
	}
	return name
}
