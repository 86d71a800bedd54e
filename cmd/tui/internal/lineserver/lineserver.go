// Package lineserver answers lines of text on a local socket. Each line is answered with one line of JSON, so that
// a script with nc, or a test in any language, can control a running program.
//
// Programs of other users cannot connect: a unix socket has mode 0600, and a TCP socket listens on a loopback
// address and demands a token as the first line. Lines, connections and times are limited.
package lineserver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/lossmodel/relay"
)

// Limits of a connection, and of their number.
const (
	maxConnections = 16
	maxLineBytes   = 8192 // with the newline
	tokenTimeout   = 10 * time.Second
	idleTimeout    = 10 * time.Minute // between two lines
	writeTimeout   = 10 * time.Second
	closeTimeout   = time.Second // for the last answers after Close
)

// Failure is the answer to a line that cannot be executed.
type Failure struct {
	OK    bool   `json:"ok"` // false
	Error string `json:"error"`
}

// Server is a listening socket and its connections.
type Server struct {
	Address  string // in the form that Listen accepts, with the actual port
	listener net.Listener
	path     string      // of a unix socket; "" for TCP
	socket   fs.FileInfo // of path, to remove only this server's own socket

	connections sync.WaitGroup

	mu      sync.Mutex
	open    map[net.Conn]bool
	waiting []net.Conn // of open, those that have not sent the token, oldest first
	closed  bool
}

// Listen opens the socket with the given address: unix:PATH or tcp:ADDR. A socket at PATH on which no program listens is
// replaced.
func Listen(ctx context.Context, address string) (*Server, error) {
	network, rest, _ := strings.Cut(address, ":")
	switch {
	case network == "unix" && rest != "":
		return listenUnix(rest)
	case network == "tcp" && rest != "":
		return listenTCP(ctx, rest)
	}
	return nil, fmt.Errorf("%q is not an address; expected unix:PATH or tcp:ADDR, such as tcp:127.0.0.1:7000", address)
}

func listenTCP(ctx context.Context, text string) (*Server, error) {
	addr, err := relay.ParseAddress(ctx, text)
	if err != nil {
		return nil, err
	}
	if !addr.Addr().IsLoopback() {
		return nil, fmt.Errorf("%s can be reached by other machines; expected a loopback address, such as 127.0.0.1:%d", addr, addr.Port())
	}
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	addr = netip.AddrPortFrom(addr.Addr(), uint16(listener.Addr().(*net.TCPAddr).Port))
	return &Server{Address: "tcp:" + addr.String(), listener: listener, open: map[net.Conn]bool{}}, nil
}

// listenUnix creates the socket in a folder that only this user can enter, and moves it to path after its mode has been
// set. So no other user can connect in between, and a stale socket is replaced in one step. The folder is also a lock: of
// two programs that find the same stale socket, one would otherwise replace the other's.
func listenUnix(path string) (s *Server, err error) {
	folder := path + ".new"
	private := filepath.Join(folder, "s")
	const maxPathBytes = 103 // of the address of a unix socket on macOS; 107 on Linux
	if n := len(private); n > maxPathBytes {
		return nil, fmt.Errorf("the path %s is too long for a socket; expected one that is shorter by %d bytes", path, n-maxPathBytes)
	}
	if err := createFolder(folder, path); err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // Close removes the socket from path
	s = &Server{Address: "unix:" + path, path: path, listener: listener, open: map[net.Conn]bool{}}
	if err = os.Chmod(private, 0o600); err == nil {
		s.socket, err = os.Lstat(private)
	}
	if err == nil {
		err = os.Rename(private, path)
	}
	if err != nil {
		listener.Close()
		return nil, err
	}
	return s, nil
}

// createFolder creates the folder in which the socket for path is made. While it exists, other programs wait that want to
// listen on the same path.
func createFolder(folder, path string) error {
	for range 200 {
		switch err := os.Mkdir(folder, 0o700); {
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%s cannot be created: %w", path, errors.Unwrap(err)) // without the name of the folder
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("another program begins to listen on %s, or was killed while it began; expected no folder %s", path, folder)
}

// checkSocketPath returns an error if path exists, unless it is a socket on which no program listens.
func checkSocketPath(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket; expected a path that is not in use", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("another program listens on %s: %w", path, syscall.EADDRINUSE)
	}
	const windowsRefused = syscall.Errno(10061) // WSAECONNREFUSED
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windowsRefused) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// A program may use the socket: one for datagrams, one with too many connections, or one of another user.
	var failed *net.OpError // names the path
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s may be in use: %w; expected another path", path, err)
}

// NeedsToken reports whether other users of this machine can connect.
func (s *Server) NeedsToken() bool { return s.path == "" }

// Serve accepts connections until Close. If token is not "", the first line of each connection must be the token.
// newSession is called for each connection and returns the function that answers its lines; the answers are written as
// JSON. The panic of a session is passed to fail.
func (s *Server) Serve(token string, newSession func() func(line string) any, fail func(error)) {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if problem := s.add(conn, token != ""); problem != "" {
			_ = conn.SetWriteDeadline(time.Now().Add(closeTimeout))
			_ = writeAnswer(conn, Failure{Error: problem})
			conn.Close()
			continue
		}
		s.connections.Go(panics.Guard(fail, func() {
			defer s.remove(conn)
			s.converse(conn, token, newSession())
		}))
	}
}

// add registers a connection, which must send the token if needsToken is set. If there are too many, it closes the oldest
// that has not sent the token: other users of this machine cannot keep the owner out. It returns why the connection is
// refused, "" if it is not.
func (s *Server) add(conn net.Conn, needsToken bool) (problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "the program is ending"
	}
	if len(s.open) >= maxConnections && len(s.waiting) > 0 {
		s.drop(s.waiting[0])
	}
	if len(s.open) >= maxConnections {
		return fmt.Sprintf("there are %d connections already; close one of them first", maxConnections)
	}
	s.open[conn] = true
	if needsToken {
		s.waiting = append(s.waiting, conn)
	}
	return ""
}

// remove closes a connection.
func (s *Server) remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(conn)
}

// drop closes a connection. The caller holds s.mu.
func (s *Server) drop(conn net.Conn) {
	s.stopWaiting(conn)
	delete(s.open, conn)
	conn.Close()
}

// stopWaiting removes a connection from s.waiting. The caller holds s.mu.
func (s *Server) stopWaiting(conn net.Conn) {
	s.waiting = slices.DeleteFunc(s.waiting, func(c net.Conn) bool { return c == conn })
}

// admit records that a connection has sent the token.
func (s *Server) admit(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWaiting(conn)
}

// allow sets the deadlines of a connection: its next line must arrive within d, and the answer must be written within
// writeTimeout after that. After Close, which sets its own deadlines, allow has no effect.
func (s *Server) allow(conn net.Conn, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = conn.SetReadDeadline(time.Now().Add(d))
		_ = conn.SetWriteDeadline(time.Now().Add(d + writeTimeout))
	}
}

// converse answers the lines of a connection until it ends or breaks a limit.
func (s *Server) converse(conn net.Conn, token string, answer func(line string) any) {
	lines := bufio.NewReaderSize(conn, maxLineBytes)
	if token != "" {
		s.allow(conn, tokenTimeout)
		line, err := readLine(lines)
		if err == nil && subtle.ConstantTimeCompare([]byte(line), []byte(token)) != 1 {
			err = errors.New("the first line is not the token; expected the text of --token-file")
		}
		if err == nil {
			s.admit(conn)
		}
		if !s.reply(conn, map[string]bool{"ok": true}, err) {
			return
		}
	}
	for {
		s.allow(conn, idleTimeout)
		line, err := readLine(lines)
		var result any
		if err == nil {
			result = answer(line)
		}
		if !s.reply(conn, result, err) {
			return
		}
	}
}

// reply writes an answer or, if err is not nil, err, after which the connection must be closed. It reports whether the
// connection can continue.
func (s *Server) reply(conn net.Conn, answer any, err error) bool {
	if err == nil {
		return writeAnswer(conn, answer) == nil
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed || err == io.EOF || writeAnswer(conn, Failure{Error: err.Error()}) != nil {
		return false
	}
	// A connection that is closed before everything was read is reset, and the peer may lose the answer.
	s.allow(conn, closeTimeout)
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, conn, 1<<20)
	}
	return false
}

// readLine returns the next line without surrounding white space. It returns io.EOF after the last line, and errors for
// people otherwise. A line without a newline is an error, because it may have been cut off.
func readLine(lines *bufio.Reader) (string, error) {
	line, err := lines.ReadSlice('\n')
	switch {
	case err == nil:
		return strings.TrimSpace(string(line)), nil
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("a line is too long; expected at most %d bytes", maxLineBytes)
	case len(line) > 0:
		return "", errors.New("the last line was not executed, because it may be incomplete; expected a newline after it")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "", errors.New("no line arrived in time, so the connection is closed")
	}
	return "", io.EOF
}

// writeAnswer writes v as one line of JSON.
func writeAnswer(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}

// Close ends all connections after the answers to the lines that they have read, and removes a unix socket. Further
// calls do nothing. Close may be called on nil.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.listener.Close()
	s.mu.Lock()
	wasClosed := s.closed
	s.closed = true
	for conn := range s.open {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		_ = conn.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	s.mu.Unlock()
	s.connections.Wait()
	if info, err := os.Lstat(s.path); !wasClosed && err == nil && os.SameFile(info, s.socket) {
		_ = os.Remove(s.path)
	}
}
