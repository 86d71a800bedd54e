// Package control serves HTTP with JSON to other programs of this user, such as a script with curl.
//
// Programs of other users cannot use it: a unix socket has mode 0600, and on a TCP socket, which listens on a loopback
// address, requests need a token. Requests of web pages are refused, by their Origin or their Host. Bodies, connections and
// times are limited.
package control

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/lossmodel/relay"
)

// Limits of requests and connections.
const (
	maxConnections = 64
	maxBodyBytes   = 64 << 10
	maxHeaderBytes = 8 << 10
	requestTimeout = 10 * time.Second
	idleTimeout    = time.Minute // between two requests of a connection
	closeTimeout   = time.Second // for requests in progress
)

// Server is a listening socket.
type Server struct {
	Address  string // in the form that Listen accepts, with the actual port
	listener net.Listener
	path     string      // of a unix socket; "" for TCP
	socket   fs.FileInfo // of path, to remove only this server's own socket
	http     *http.Server
	end      context.CancelFunc // ends the contexts of all requests
}

// Listen opens the socket with the given address: unix:PATH or tcp:ADDR. A socket at PATH on which no program listens is
// replaced.
func Listen(ctx context.Context, address string) (*Server, error) {
	s, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	base, end := context.WithCancel(ctx)
	s.end = end
	s.http = &http.Server{ReadTimeout: requestTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    log.New(io.Discard, "", 0)} // the screen must stay as it is
	return s, nil
}

// listen is Listen without the HTTP server.
func listen(ctx context.Context, address string) (*Server, error) {
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
	return &Server{Address: "tcp:" + addr.String(), listener: listener}, nil
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
	s = &Server{Address: "unix:" + path, path: path, listener: listener}
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

// createFolder creates the folder in which the socket for path is made. While it exists, no other program can begin to
// listen on the same path.
func createFolder(folder, path string) error {
	err := os.Mkdir(folder, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("another program begins to listen on %s, or was killed while it began; expected no folder %s: %w", path, folder,
			syscall.EADDRINUSE)
	case err != nil:
		return fmt.Errorf("%s cannot be created: %w", path, errors.Unwrap(err)) // without the name of the folder
	}
	return nil
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

// Serve answers requests with handler until Close. If token is not "", requests need the header "Authorization: Bearer
// TOKEN". The panic of a request is passed to fail.
func (s *Server) Serve(token string, handler http.Handler, fail func(error)) {
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := panics.Call(func() error {
			if problem, status := refuse(r, token); problem != "" {
				Fail(w, status, errors.New(problem))
				return nil
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
			handler.ServeHTTP(w, r)
			return nil
		})
		if err != nil {
			fail(err)
		}
	})
	_ = s.http.Serve(netutil.LimitListener(s.listener, maxConnections)) // returns after Close
}

// refuse returns why a request is refused, and the HTTP status; "" if it is not. A web page that reaches the socket, also
// through a name that resolves to a loopback address, sends an Origin or a foreign Host.
func refuse(r *http.Request, token string) (problem string, status int) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	isLocal := host == "localhost" || err == nil && addr.IsLoopback()
	sent := []byte(r.Header.Get("Authorization"))
	switch {
	case r.Header.Get("Origin") != "":
		return "requests of web pages are refused; expected no Origin", http.StatusForbidden
	case !isLocal:
		return fmt.Sprintf("the host is %q; expected localhost or a loopback address", host), http.StatusForbidden
	case token != "" && subtle.ConstantTimeCompare(sent, []byte("Bearer "+token)) != 1:
		return "the token is missing or wrong; expected Authorization: Bearer with the text of --token-file", http.StatusUnauthorized
	}
	return "", 0
}

// Reply writes v as JSON, in one line, with a status of HTTP.
func Reply(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // all replies can be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(escape.JSON(b.Bytes())) // the program may have closed the connection
}

// Fail writes an error: {"error": "..."}.
func Fail(w http.ResponseWriter, status int, err error) {
	Reply(w, status, map[string]string{"error": err.Error()})
}

// Close ends all connections, after the replies to requests that are answered within closeTimeout, and removes a unix
// socket. Further calls do nothing. Close may be called on nil.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.end()
	s.listener.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
	if info, err := os.Lstat(s.path); s.socket != nil && err == nil && os.SameFile(info, s.socket) {
		_ = os.Remove(s.path)
	}
	s.socket = nil
}
