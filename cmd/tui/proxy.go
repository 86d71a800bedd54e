package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"

	"github.com/spf13/cobra"
)

type proxyFlags struct {
	link            linkFlags
	listen, to      string
	capture, record string
	duration, idle  time.Duration
	clients         int
	shared          bool
	headless, json  bool
}

func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use:     "proxy --listen ADDR --to ADDR [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Put any UDP program behind a link: no root, no driver",
		Long: `Listen for datagrams and pass them on to a server: what clients send goes through the
link up, what the server answers through down. Point the program at --listen instead of
at its server. Anything that a link can do, it does here; without one it is perfect.

Each client has links of its own, seeded by its turn, or all share one pair (--shared).
A file may change the link while it runs, and say what holds for one client:

  [down]
  latency = "40ms"
  [[at]]
  t = "30s"
  down.loss = "20%"
  [[client]]                   # by address = "10.0.0.5", or by turn
  turn = 2
  up.latency = "200ms"

Every second a line says what went through, and how late datagrams left after the time
that the link gave them; one that begins with ! says that the link does not do what was
asked. The totals come at the end. Client number N is seeded by "up N" and "down N", the
first by "up" and "down": a record and the seed tell every fate again.

It listens on 127.0.0.1 unless another address is named, and sends to nobody but the
server and those who have sent to it.`,
		Example: `  tui proxy --listen 27961 --to 127.0.0.1:27960 --profile lte
  tui proxy --listen 27961 --to game.example.org:27960 --set down.loss=5% --duration 1m --json
  tui proxy --listen 27961 --to 127.0.0.1:27960 bad.toml --capture game.pcapng --record game.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg("a configuration in TOML")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if f.link.file != "" {
					return usagef("%s and --config %s are two links; expected one", args[0], f.link.file)
				}
				f.link.file = args[0]
			}
			return a.proxy(cmd, &f)
		},
		ValidArgsFunction: completeFiles("toml"),
	}
	f.link.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.link.profile, "profile", "", "the links of this profile; see tui links (`NAME`)")
	flags.Lookup("netem").Usage = "in both directions, the link that this line of tc's netem makes (`LINE`)"
	flags.StringVar(&f.listen, "listen", "", "clients send to this `ADDR`: a port, or HOST:PORT")
	flags.StringVar(&f.to, "to", "", "the server is at this `ADDR`: HOST:PORT")
	flags.BoolVar(&f.headless, "headless", false, "a line a second; there is no other way yet")
	flags.DurationVar(&f.duration, "duration", 0, "end after this `TIME`")
	flags.StringVar(&f.capture, "capture", "", "write what goes in and out as pcapng into this `FILE`")
	flags.StringVar(&f.record, "record", "", "write what became of each datagram as CSV: FILE.csv becomes FILE.up.csv and FILE.down.csv (`FILE`)")
	flags.BoolVar(&f.shared, "shared", false, "all clients share one pair of links, and so a bottleneck")
	flags.IntVar(&f.clients, "max-clients", relay.DefaultClients, "refuse more than `N` clients at a time")
	flags.DurationVar(&f.idle, "idle", relay.DefaultIdle, "forget clients that send nothing for this `TIME`")
	a.addOutputFlags(cmd, &f.json)
	complete(cmd, "profile", profileNames)
	return cmd
}

// proxy runs the command.
func (a *app) proxy(cmd *cobra.Command, f *proxyFlags) (err error) {
	script, err := f.script(cmd)
	if err != nil {
		return err
	}
	listen, server, err := f.addresses(cmd)
	if err != nil {
		return err
	}
	r, err := relay.Open(relay.Options{Listen: listen, Server: server, Seed: script.seed, Shared: f.shared,
		MaxClients: f.clients, Idle: f.idle, Conditions: script.conditions(0)})
	if err != nil {
		return usage(fmt.Errorf("cannot listen on %s: %w", listen, err))
	}
	files, err := openProxyFiles(f, r)
	if err != nil {
		return err
	}
	a.sayProxied(r, f, server, script)
	ctx := cmd.Context()
	if script.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, script.duration)
		defer cancel()
	}
	report := proxyReport{script: script, listen: r.Addr().String(), server: server.String(), shared: f.shared}
	quit := make(chan struct{})
	var aside sync.WaitGroup
	aside.Go(func() { report.changes = a.playScript(r, script, quit) })
	aside.Go(func() { a.sayEachSecond(r, &report, quit) })
	err = r.Run(ctx)
	close(quit)
	aside.Wait()
	report.totals = r.Totals()
	err = errors.Join(err, files.close(a))
	report.interrupted = cmd.Context().Err() != nil
	if f.json {
		err = errors.Join(err, a.stdout.json(report.document()))
	} else {
		report.write(a.stdout)
	}
	return errors.Join(err, cmd.Context().Err())
}

// addresses reads where to listen and where the server is.
func (f *proxyFlags) addresses(cmd *cobra.Command) (listen, server netip.AddrPort, err error) {
	switch {
	case f.listen == "":
		return listen, server, usagef("%s expects --listen ADDR, where clients send to, such as 127.0.0.1:27961", cmd.CommandPath())
	case f.to == "":
		return listen, server, usagef("%s expects --to ADDR, where the server is, such as 127.0.0.1:27960", cmd.CommandPath())
	case f.clients < 1 || f.clients > relay.MostClients:
		return listen, server, usagef("--max-clients %d makes no sense; expected 1 to %d", f.clients, relay.MostClients)
	case f.idle < time.Millisecond:
		return listen, server, usagef("--idle %v makes no sense; expected at least 1ms", f.idle)
	case f.duration < 0:
		return listen, server, usagef("--duration %v makes no sense; expected a time above 0s", f.duration)
	}
	if listen, err = parseAddress(cmd.Context(), f.listen); err != nil {
		return listen, server, usage(prefixed("--listen", err))
	}
	if server, err = parseAddress(cmd.Context(), f.to); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	if err := checkServer(listen, server); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	return listen, server, nil
}

// sayProxied says what is done, and who can reach it.
func (a *app) sayProxied(r *relay.Relay, f *proxyFlags, server netip.AddrPort, script *proxyScript) {
	up, down := script.conditions(0)(relay.Client{})
	a.warn(warnings(side{"up", up}, side{"down", down}))
	title := script.title
	if title == "" {
		title = "a perfect link"
	}
	a.remark("%s -> %s through %s, seed %d", r.Addr(), server, title, script.seed)
	if !r.Addr().Addr().IsLoopback() {
		a.remark("listening beyond this machine: whoever can send to %s can reach the server through it", r.Addr())
	}
	if f.shared && len(script.base.Clients) > 0 {
		a.remark("tui: warning: with --shared all have one link: [[client]] is not looked at")
	}
}

// playScript changes the links at the times of the script, and returns what was done.
func (a *app) playScript(r *relay.Relay, script *proxyScript, quit <-chan struct{}) (done []config.StampedChange) {
	for i, change := range script.changes {
		timer := time.NewTimer(time.Until(r.Begin().Add(change.T)))
		select {
		case <-quit:
			timer.Stop()
			return done
		case <-timer.C:
		}
		at, err := r.Reshape(script.conditions(i + 1))
		if err != nil {
			a.remark("tui: warning: at %v: %v", change.T, err)
		}
		done = append(done, config.Stamp(at, change.Change))
		a.remark("%7.1f s  %s", at.Seconds(), change.Change.Label())
	}
	return done
}

// proxyScript is what the links of a proxy do, and when.
type proxyScript struct {
	title    string
	seed     uint64
	duration time.Duration
	base     *config.Config
	changes  []config.StampedChange // of links, by time
	stages   []*config.Config       // base, then what it is after each change
}

// script reads what the links do.
func (f *proxyFlags) script(cmd *cobra.Command) (*proxyScript, error) {
	if f.link.profile != "" || f.link.netem != "" || f.link.file != "" {
		if err := f.link.one(cmd); err != nil {
			return nil, err
		}
	}
	base, title, err := f.link.config(cmd, "link.netem")
	if err != nil {
		return nil, err
	}
	if err := base.Pin(); err != nil {
		return nil, usage(base.Locate(err))
	}
	s := &proxyScript{title: title, seed: base.Seed, duration: base.Duration, base: base, stages: []*config.Config{base}}
	if f.duration > 0 {
		s.duration = f.duration
	}
	now := base
	for _, i := range base.ScriptOrder() {
		at := base.At[i]
		if now, err = now.After(at.Change); err != nil {
			return nil, usage(base.Locate(config.Within(config.Indexed("at", i), err)))
		}
		s.changes, s.stages = append(s.changes, at), append(s.stages, now)
	}
	return s, s.check()
}

// mostStages bounds how many conditions are looked at before anything runs.
const mostStages = 20_000

// check makes the links of all clients at all times: what cannot be is refused now.
func (s *proxyScript) check() error {
	if len(s.stages)*(1+len(s.base.Clients)) > mostStages {
		return usagef("%d changes for %d clients are too many; expected %d links at most", len(s.changes), len(s.base.Clients), mostStages)
	}
	for i, stage := range s.stages {
		for n, client := range s.base.Clients {
			c, err := stage.After(client.Change)
			if err == nil {
				err = c.Pin()
			}
			if err != nil {
				key := config.Indexed("client", n)
				if i > 0 {
					key = config.Indexed("at", i-1) + " with " + key
				}
				return usage(s.base.Locate(config.Within(key, err)))
			}
		}
		if err := stage.Pin(); err != nil {
			return usage(s.base.Locate(err))
		}
	}
	return nil
}

// conditions returns what holds after so many changes: the links of the file, refined by
// the changes, refined by what a client has of its own.
func (s *proxyScript) conditions(changes int) relay.Conditions {
	stage := s.stages[changes]
	return func(who relay.Client) (up, down lossmodel.Spec) {
		c := stage
		for i := range s.base.Clients {
			if client := &s.base.Clients[i]; who.Turn > 0 && client.In(who.Addr.Addr(), who.Turn) {
				if next, err := c.After(client.Change); err == nil { // check has seen to it, for one at a time
					c = next
				}
			}
		}
		return c.Up, c.Down
	}
}

// proxyFiles are what a proxy writes beside its report.
type proxyFiles struct {
	names    []string
	files    []*os.File
	journals []*relay.Journal
}

// openProxyFiles begins the capture and the records.
func openProxyFiles(f *proxyFlags, r *relay.Relay) (*proxyFiles, error) {
	p := &proxyFiles{}
	if f.capture != "" {
		file, err := p.create(f.capture)
		if err != nil {
			return nil, err
		}
		w, err := relay.NewPcapng(file, r)
		if err != nil {
			return nil, err
		}
		p.journal(r, w)
	}
	if f.record != "" {
		stem := strings.TrimSuffix(f.record, ".csv")
		for _, way := range []relay.Way{relay.Up, relay.Down} {
			file, err := p.create(stem + "." + way.String() + ".csv")
			if err != nil {
				return nil, err
			}
			p.journal(r, relay.NewRecord(file, way))
		}
	}
	return p, nil
}

func (p *proxyFiles) create(name string) (*os.File, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, usage(unwritable(name, err))
	}
	p.names, p.files = append(p.names, name), append(p.files, file)
	return file, nil
}

func (p *proxyFiles) journal(r *relay.Relay, w relay.Writer) {
	j := relay.NewJournal(w)
	p.journals = append(p.journals, j)
	r.Tap(j.Tap)
}

// close writes what is left.
func (p *proxyFiles) close(a *app) (err error) {
	for i, j := range p.journals {
		skipped, failed := j.Close()
		failed = errors.Join(failed, p.files[i].Close())
		if failed != nil {
			err = errors.Join(err, unwritable(p.names[i], failed))
		} else {
			a.remark("wrote %s", p.names[i])
		}
		if skipped > 0 {
			a.remark("tui: warning: %s lacks %d events: the disk was too slow", p.names[i], skipped)
		}
	}
	return err
}
