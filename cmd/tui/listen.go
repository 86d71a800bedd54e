package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirelab/experiment/remote"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel/relay"
)

// defaultListen is the address of tui listen if none is given.
const defaultListen = "127.0.0.1:27970"

// service is a kind of session that tui listen accepts.
type service struct {
	purpose remote.Purpose // what the peer requests
	name    string         // name of the service in JSON
	title   string         // name of the service in text
	// serve runs the session until it ends or ctx ends. The report describes the session; it is
	// printed as text, and written as JSON, and may be nil.
	serve func(ctx context.Context, c *remote.Conn) (report any, err error)
}

// services returns the services of tui listen: runs, whose encoders may open files, and
// measurements.
func services(files remote.FileFinder) []service {
	return []service{
		{remote.SessionPurpose, "session", "a run", func(ctx context.Context, c *remote.Conn) (any, error) { return remote.Serve(ctx, c, files) }},
		{remote.MeasurePurpose, "measure", "a measurement", func(ctx context.Context, c *remote.Conn) (any, error) { return remote.ServeMeasurement(ctx, c) }},
	}
}

// listenFlags are the flags of tui listen.
type listenFlags struct {
	tokenFile string        // path of a file with the token; "" means a new token
	duration  time.Duration // after which tui listen stops; 0 means no limit
	sessions  int           // largest number of sessions at a time
	files     []string      // paths of the files that sessions may open
	once      bool          // stop after the first session
}

// listenCommand returns the command tui listen.
func (a *app) listenCommand() *cobra.Command {
	var f listenFlags
	cmd := &cobra.Command{
		Use:     "listen [ADDR]",
		GroupID: groupMeasure,
		Short:   "Receive sessions and measurements from other machines",
		Long: fmt.Sprintf(`Wait for sessions of other machines and be their receiver, until it is stopped.

A session needs the token, which is printed or in the first line of --token-file. That file
also keeps the certificate and the key of this listener; it is created if it does not
exist. The other machine needs only the first line. Set-up and results use TLS 1.3 over TCP,
and datagrams use UDP with the same port. Connections without the token and datagrams that
are forged or replayed have no effect; they are counted and reported at the end.

An encoder with a model or a dictionary needs its file on this machine too: --file names
the files that sessions may open. Sessions cannot open any other file.

It listens on %s unless an address is given: a port, or HOST:PORT, such as
0.0.0.0:27970 for all addresses of this machine.

With --json every event is a line of JSON: listening (with addr and token), began, ended
(with the report of the session) and finished (with the counters of the socket).`, defaultListen),
		Example: `  tui listen
  tui listen 0.0.0.0:27970 --token-file token
  tui listen --file game.model
  tui listen 0 --once --json`,
		Args: optionalArg("an address to listen on"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.listen(cmd.Context(), cmp.Or(firstArg(args), defaultListen), &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "keep the token, the certificate and the key in this `FILE`, which is created if it does not exist (default: a new token, which is printed)")
	flags.DurationVar(&f.duration, "duration", 0, "stop after this `TIME`")
	flags.IntVar(&f.sessions, "max-sessions", remote.DefaultSessions, "refuse new sessions while there are `N`")
	flags.StringArrayVar(&f.files, "file", nil, "allow sessions to open this `FILE`, a model or a dictionary; may be repeated")
	flags.BoolVar(&f.once, "once", false, "stop after the first session")
	flags.BoolVar(&a.asJSON, "json", false, "write every event as a line of JSON to standard output")
	a.addQuiet(cmd)
	return cmd
}

// maxSessions is the largest value of --max-sessions: each session has a buffer of 1 MB.
const maxSessions = 1000

// check returns a usage error if a value is out of range.
func (f *listenFlags) check() error {
	switch {
	case f.sessions < 1 || f.sessions > maxSessions:
		return usagef("--max-sessions %d makes no sense; expected 1 to %d", f.sessions, maxSessions)
	case f.duration < 0:
		return usagef("--duration %v makes no sense; expected a time above 0s", f.duration)
	}
	return nil
}

// listen accepts sessions on addr until ctx ends, for the time of --duration, or for one session
// with --once.
func (a *app) listen(ctx context.Context, addr string, f *listenFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	addrPort, err := relay.ParseAddress(ctx, addr)
	if err != nil {
		return asUsageError(err)
	}
	id, mustPrint, err := a.listenerIdentity(f.tokenFile)
	if err != nil {
		return err
	}
	files, err := listenFiles(f.files)
	if err != nil {
		return err
	}
	r := &listenServer{app: a, services: services(files)}
	l, err := remote.Listen(addrPort, id, remote.Options{MaxSessions: f.sessions})
	if err != nil {
		return asUsageError(fmt.Errorf("cannot listen on %s: %w", addrPort, err))
	}
	token := ""
	if mustPrint {
		token = id.Token().String()
	}
	r.printListening(l.Addr(), token, f.tokenFile)
	err = r.serve(ctx, l, f)
	return errors.Join(err, ctx.Err()) // an interruption has an exit code of its own
}

// listenFiles returns the access to files for the encoders of sessions, which peers choose: only
// to these paths, which must name regular files.
func listenFiles(paths []string) (remote.FileFinder, error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil {
			return nil, asUsageError(withFlag("--file", withoutSyscall(err)))
		} else if !info.Mode().IsRegular() {
			return nil, usagef("--file %s is not a regular file; expected a model or a dictionary of tui train", path)
		}
	}
	files, err := remote.FindOnly(paths)
	if err != nil {
		return nil, asUsageError(withFlag("--file", err))
	}
	return files, nil
}

// listenServer accepts sessions and prints what happens.
type listenServer struct {
	app      *app
	services []service

	mu       sync.Mutex // guards the output
	sessions int        // number of sessions accepted so far
}

// serve accepts sessions until ctx or f.duration ends, or with f.once until the first session has
// ended. Then it ends all sessions and closes the listener.
func (r *listenServer) serve(ctx context.Context, l *remote.Listener, f *listenFlags) error {
	accepting, stop := context.WithCancel(ctx)
	if f.duration > 0 {
		accepting, stop = context.WithTimeout(ctx, f.duration)
	}
	defer stop()
	var running sync.WaitGroup
	for {
		c, err := l.Accept(accepting)
		if err != nil { // no more sessions are accepted: accepting has ended
			break
		}
		r.sessions++
		n := r.sessions
		running.Go(func() {
			r.serveSession(accepting, c, n)
			if f.once {
				stop()
			}
		})
		if f.once {
			break
		}
	}
	if f.once {
		running.Wait() // wait before calling stop, which would end the session
	}
	stop()
	running.Wait()
	err := l.Close()
	r.printFinished(l.Stats(), ctx.Err() != nil)
	return err
}

// serveSession runs session number n with the service of its purpose, and prints its beginning and
// its end. An error is not printed if ctx has ended, since that ends every session.
func (r *listenServer) serveSession(ctx context.Context, c *remote.Conn, n int) {
	defer c.Close()
	for _, service := range r.services {
		if service.purpose != c.Purpose() {
			continue
		}
		r.printEvent(listenEvent{Event: "began", Session: n, Kind: service.name, From: c.Remote().String()},
			"session %d began: %s from %s", n, service.title, c.Remote())
		report, err := service.serve(ctx, c)
		e := listenEvent{Event: "ended", Session: n, Kind: service.name, Report: report}
		suffix := ""
		if report != nil {
			suffix = fmt.Sprintf(": %v", report)
		}
		if err != nil && ctx.Err() == nil {
			e.Error = err.Error()
			suffix += ": " + e.Error
		}
		r.printEvent(e, "session %d ended%s", n, suffix)
	}
}

// listenEvent is a line in the JSON output of tui listen.
type listenEvent struct {
	Event   string `json:"event"`             // listening, began, ended, finished
	Addr    string `json:"addr,omitempty"`    // of listening: the address
	Token   string `json:"token,omitempty"`   // of listening: set if the token is new
	Session int    `json:"session,omitempty"` // number of the session, from 1
	Kind    string `json:"kind,omitempty"`    // service of the session: session or measure
	From    string `json:"from,omitempty"`    // address of the peer
	Report  any    `json:"report,omitempty"`  // of ended: what the service reports
	Error   string `json:"error,omitempty"`

	Reason   string       `json:"reason,omitempty"`   // of finished: finished or interrupted
	Sessions *int         `json:"sessions,omitempty"` // of finished: number of sessions
	Counters remote.Stats `json:"counters,omitempty"` // of finished: datagrams and bytes
}

// printEvent writes an event: to standard error as the text of format and args, and with --json
// also to standard output as a line of JSON. Several sessions may call it at a time.
func (r *listenServer) printEvent(e listenEvent, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.app.remark(format, args...)
	if r.app.asJSON {
		r.app.stdout.jsonLine(e)
	}
}

// printListening prints the address and the token, and the command that connects. token is empty
// if it is in the file with the path tokenFile.
func (r *listenServer) printListening(addr netip.AddrPort, token, tokenFile string) {
	tokenText := "the token of --token-file"
	if token != "" {
		tokenText = "token " + token
	}
	r.printEvent(listenEvent{Event: "listening", Addr: addr.String(), Token: token}, "listening on %s, %s", addr, tokenText)
	if !addr.Addr().IsLoopback() {
		r.app.remark("other machines can connect, if they have the token")
	}
	host := addr.String()
	if addr.Addr().IsUnspecified() {
		host = fmt.Sprintf("HOST:%d", addr.Port()) // 0.0.0.0 and :: are no addresses to send to
	}
	flags := "--to " + host + " --token-file " + tokenFile
	if token != "" {
		flags = "--to " + token + "@" + host
	}
	r.app.remark("to connect: tui run %s; tui and tui links measure take the same flags", flags)
}

// printFinished prints the counters b of the socket. interrupted selects the reason "interrupted"
// instead of "finished".
func (r *listenServer) printFinished(b remote.Stats, interrupted bool) {
	e := listenEvent{Event: "finished", Reason: "finished", Sessions: &r.sessions, Counters: b}
	if interrupted {
		e.Reason = "interrupted"
	}
	text := fmt.Sprintf("%s; received %s, %s; sent %s, %s", words.Count(r.sessions, "session"),
		words.Count(int(b["delivered"]), "datagram"), units.Bytes(float64(b["in_bytes"])),
		words.Count(int(b["sent"]), "datagram"), units.Bytes(float64(b["out_bytes"])))
	for _, name := range []string{"stranger", "forged", "replayed", "overrun", "refused"} {
		if b[name] > 0 {
			text += fmt.Sprintf("; %d %s", b[name], name)
		}
	}
	r.printEvent(e, "%s", text)
}
