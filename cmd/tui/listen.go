package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirelab/experiment/remote"
	"wirelab/experiment/remote/channel"
	"wirelab/experiment/remote/probe"
	"wirelab/lossmodel/relay"
)

// defaultListen is where tui listen listens without an address.
const defaultListen = "127.0.0.1:27970"

// service is something that a listener does for whoever dials it.
type service struct {
	purpose uint8
	name    string
	// serve returns when the session is over, or ctx. What it reports is a line of JSON,
	// and is printed for people.
	serve func(ctx context.Context, s *channel.Session) (report any, err error)
}

// services is what tui listen does; one row each.
func services(files remote.Files) []service {
	return []service{
		{remote.Purpose, "session", func(ctx context.Context, s *channel.Session) (any, error) { return remote.Serve(ctx, s, files) }},
		{probe.Purpose, "measure", func(ctx context.Context, s *channel.Session) (any, error) { return probe.Serve(ctx, s) }},
	}
}

type listenFlags struct {
	tokenFile string
	idle      time.Duration
	duration  time.Duration
	sessions  int
	files     []string
	once      bool
}

func (a *app) listenCommand() *cobra.Command {
	var f listenFlags
	cmd := &cobra.Command{
		Use:     "listen [ADDR]",
		GroupID: groupMeasure,
		Short:   "Be the far end: of sessions over a network, and of measurements of a path",
		Long: `Wait for sessions of other machines and be their far end, until it is stopped.

Only who has the token is answered; it is printed, or comes from --token-file. Datagrams
are encrypted and authenticated. Those of strangers, forged or recorded ones change
nothing; they are counted by cause and told at the end.

An encoder with a model or a dictionary needs its file here too: --file names what may be
opened. Nothing else is, whatever a session names.

It listens on ` + defaultListen + ` unless another address is named: a port, or HOST:PORT
such as 0.0.0.0:27970 for all of this machine.

With --json every event is a line of JSON: listening (with addr and token), began, ended
(with what the session reports) and finished (with the books of the socket).`,
		Example: `  tui listen
  tui listen 0.0.0.0:27970 --token-file token
  tui listen --file game.model
  tui listen 0 --once --json`,
		Args: perhapsArg("an address to listen on"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.listen(cmd.Context(), cmp.Or(firstOf(args), defaultListen), &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "the token is in this `FILE` (default: a new one, printed)")
	flags.DurationVar(&f.idle, "idle", channel.DefaultIdle, "end sessions of which nothing is heard for this `TIME`")
	flags.DurationVar(&f.duration, "duration", 0, "end after this `TIME`")
	flags.IntVar(&f.sessions, "max-sessions", channel.DefaultSessions, "refuse more than `N` sessions at a time")
	flags.StringArrayVar(&f.files, "file", nil, "encoders of sessions may open this `FILE`, a model or a dictionary; may be repeated")
	flags.BoolVar(&f.once, "once", false, "end after the first session")
	flags.BoolVar(&a.asJSON, "json", false, "write every event as a line of JSON to standard output")
	a.addQuiet(cmd)
	return cmd
}

// mostSessions bounds --max-sessions: each has a megabyte of buffer.
const mostSessions = 1000

func (f *listenFlags) check() error {
	switch {
	case f.sessions < 1 || f.sessions > mostSessions:
		return usagef("--max-sessions %d makes no sense; expected 1 to %d", f.sessions, mostSessions)
	case f.idle < time.Second || f.idle > time.Hour:
		return usagef("--idle %v makes no sense; expected 1s to 1h", f.idle)
	case f.duration < 0:
		return usagef("--duration %v makes no sense; expected a time above 0s", f.duration)
	}
	return nil
}

// listen runs the command.
func (a *app) listen(ctx context.Context, addr string, f *listenFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	at, err := relay.ParseAddress(ctx, addr)
	if err != nil {
		return usage(err)
	}
	token, text, err := listenToken(f.tokenFile)
	if err != nil {
		return err
	}
	files, err := listenFiles(f.files)
	if err != nil {
		return err
	}
	r := &reception{app: a, services: services(files)}
	o := channel.Options{Token: token, Idle: f.idle, MaxSessions: f.sessions}
	for _, s := range r.services {
		o.Purposes = append(o.Purposes, s.purpose)
	}
	l, err := channel.Listen(at, o)
	if err != nil {
		return usage(fmt.Errorf("cannot listen on %s: %w", at, err))
	}
	r.sayListening(l.Addr(), text)
	err = r.serve(ctx, l, f)
	return errors.Join(err, ctx.Err())
}

// listenToken returns the token of a file, or a new one and its text.
func listenToken(file string) (token channel.Token, text string, err error) {
	if file == "" {
		text = channel.NewToken()
		token, err = channel.ParseToken(text)
		return token, text, err
	}
	kept, err := readToken(file)
	if err != nil {
		return token, "", err
	}
	if token, err = channel.ParseToken(kept); err != nil {
		err = usage(prefixed("--token-file "+file, err))
	}
	return token, "", err
}

// listenFiles lets encoders open these files.
func listenFiles(paths []string) (remote.Files, error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil {
			return nil, usage(prefixed("--file", readable(err)))
		} else if !info.Mode().IsRegular() {
			return nil, usagef("--file %s is no file; expected a model or a dictionary of tui train", path)
		}
	}
	files, err := remote.OnlyFiles(paths)
	if err != nil {
		return nil, usage(prefixed("--file", err))
	}
	return files, nil
}

// reception is what a listener does.
type reception struct {
	app      *app
	services []service

	mu    sync.Mutex // of the lines that are written
	began int
}

// serve accepts sessions until ctx ends, or what f says.
func (r *reception) serve(ctx context.Context, l *channel.Listener, f *listenFlags) error {
	accepting, stop := context.WithCancel(ctx)
	if f.duration > 0 {
		accepting, stop = context.WithTimeout(ctx, f.duration)
	}
	defer stop()
	var all sync.WaitGroup
	for {
		s, err := l.Accept(accepting)
		if err != nil {
			break
		}
		r.began++
		n := r.began
		all.Go(func() {
			r.attend(accepting, s, n)
			if f.once {
				stop()
			}
		})
		if f.once {
			break
		}
	}
	if f.once {
		all.Wait()
	}
	stop()
	all.Wait()
	err := l.Close()
	r.sayFinished(l.Books(), ctx.Err() != nil)
	return err
}

// attend serves one session.
func (r *reception) attend(ctx context.Context, s *channel.Session, n int) {
	defer s.Close()
	for _, service := range r.services {
		if service.purpose != s.Purpose() {
			continue
		}
		r.say(listenEvent{Event: "began", Session: n, Kind: service.name, From: s.Remote().String()},
			"session %d: %s of %s", n, service.name, s.Remote())
		report, err := service.serve(ctx, s)
		e := listenEvent{Event: "ended", Session: n, Kind: service.name, Report: report}
		words := ""
		if report != nil {
			words = fmt.Sprintf(": %v", report)
		}
		if err != nil && ctx.Err() == nil {
			e.Error = err.Error()
			words += ": " + e.Error
		}
		r.say(e, "session %d ended%s", n, words)
	}
}

// The JSON of `listen`: a line for each event.
type listenEvent struct {
	Event   string `json:"event"` // listening, began, ended, finished
	Addr    string `json:"addr,omitempty"`
	Token   string `json:"token,omitempty"` // if it is a new one
	Session int    `json:"session,omitempty"`
	Kind    string `json:"kind,omitempty"`
	From    string `json:"from,omitempty"`
	Report  any    `json:"report,omitempty"`
	Error   string `json:"error,omitempty"`

	Reason   string       `json:"reason,omitempty"`   // of finished: finished or interrupted
	Sessions *int         `json:"sessions,omitempty"` // of finished: there were
	Books    *listenBooks `json:"books,omitempty"`    // of finished
}

// listenBooks are those of the socket: in = delivered + control + handshake + the sum of
// dropped.
type listenBooks struct {
	In        uint64            `json:"in"`
	InBytes   uint64            `json:"in_bytes"`
	Out       uint64            `json:"out"`
	OutBytes  uint64            `json:"out_bytes"`
	Delivered uint64            `json:"delivered"`
	Control   uint64            `json:"control"`
	Handshake uint64            `json:"handshake"`
	Dropped   map[string]uint64 `json:"dropped"` // by cause
	Unsent    uint64            `json:"unsent"`
}

// say tells an event, in JSON or in words.
func (r *reception) say(e listenEvent, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.app.remark(format, args...)
	if r.app.asJSON {
		_ = r.app.stdout.jsonLine(e) // swallows what nobody reads
	}
}

// sayListening says how to get in, and who can.
func (r *reception) sayListening(addr netip.AddrPort, token string) {
	words := "the token of --token-file"
	if token != "" {
		words = "token " + token
	}
	r.say(listenEvent{Event: "listening", Addr: addr.String(), Token: token}, "listening on %s, %s", addr, words)
	if !addr.Addr().IsLoopback() {
		r.app.remark("listening beyond this machine: whoever has the token can have sessions; nobody else is answered")
	}
	host := addr.String()
	if addr.Addr().IsUnspecified() {
		host = fmt.Sprintf("HOST:%d", addr.Port()) // nobody can send to all of this machine's addresses
	}
	at := "--to " + host + " --token-file FILE"
	if token != "" {
		at = "--to " + token + "@" + host
	}
	r.app.remark("the other end: tui run %s, or tui, or tui links measure", at)
}

// sayFinished tells the books.
func (r *reception) sayFinished(b channel.Books, interrupted bool) {
	e := listenEvent{Event: "finished", Reason: "finished", Sessions: &r.began, Books: &listenBooks{In: b.In, InBytes: b.InBytes, Out: b.Out,
		OutBytes: b.OutBytes, Delivered: b.Delivered, Control: b.Control, Handshake: b.Handshake, Dropped: b.ByName(), Unsent: b.Unsent}}
	if interrupted {
		e.Reason = "interrupted"
	}
	words := "none dropped"
	if n := b.Dropped(); n > 0 {
		words = fmt.Sprintf("%d dropped: %s", n, counts(b.ByName()))
	}
	r.say(e, "%d sessions; %d datagrams came, %s", r.began, b.In, words)
}

// counts puts counts in words: 3 forged, 1 replayed.
func counts(by map[string]uint64) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		words = append(words, fmt.Sprintf("%d %s", by[name], name))
	}
	return strings.Join(words, ", ")
}
