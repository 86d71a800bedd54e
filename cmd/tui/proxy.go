package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"wirelab/cmd/tui/internal/proxyview"
	"wirelab/cmd/tui/internal/script"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/internal/panics"
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
	headless        bool
	look            lookFlags
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

On a terminal it is a dashboard: what goes through both ways and what is lost by what,
the clients, whether the links do what was asked of them, and controls that change them
while a game runs; ? has the keys. Space stops the display only, never the traffic. With
--headless, and without a terminal, a line each second says what went through; one that
begins with ! says in what the link does not do what was asked. The totals come at the
end. Client number N is seeded by "up N" and "down N", the first by "up" and "down": a
record and the seed tell every fate again.

It listens on 127.0.0.1 unless another address is named, and sends to nobody but the
server and those who have sent to it.`,
		Example: `  tui proxy --listen 27961 --to 127.0.0.1:27960 --profile lte
  tui proxy --listen 27961 --to game.example.org:27960 --set down.loss=5% --duration 1m --json
  tui proxy --listen 27961 --to 127.0.0.1:27960 bad.toml --capture game.pcapng --record game.csv`,
		Args: perhapsArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && f.link.file != "" {
				return usagef("%s and --config %s are two links; expected one", args[0], f.link.file)
			}
			f.link.file = cmp.Or(firstOf(args), f.link.file)
			return a.proxy(cmd, &f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.add(cmd)
	a.addOutputFlags(cmd)
	return cmd
}

func (f *proxyFlags) add(cmd *cobra.Command) {
	f.link.add(cmd)
	f.link.addProfile(cmd)
	flags := cmd.Flags()
	flags.Lookup("netem").Usage = "in both directions, the link that this line of tc's netem makes (`LINE`)"
	flags.StringVar(&f.listen, "listen", "", "clients send to this `ADDR`: a port, or HOST:PORT")
	flags.StringVar(&f.to, "to", "", "the server is at this `ADDR`: HOST:PORT")
	flags.BoolVar(&f.headless, "headless", false, "no dashboard: a line a second")
	flags.DurationVar(&f.duration, "duration", 0, "end after this `TIME`")
	flags.StringVar(&f.capture, "capture", "", "write what goes in and out as pcapng into this `FILE`")
	flags.StringVar(&f.record, "record", "", "write what became of each datagram as CSV: x.csv becomes x.up.csv and x.down.csv (`FILE`)")
	flags.BoolVar(&f.shared, "shared", false, "all clients share one pair of links, and so a bottleneck")
	flags.IntVar(&f.clients, "max-clients", relay.DefaultClients, "refuse more than `N` clients at a time")
	flags.DurationVar(&f.idle, "idle", relay.DefaultIdle, "forget clients that send nothing for this `TIME`")
	f.look.add(cmd)
}

// proxy runs the command.
func (a *app) proxy(cmd *cobra.Command, f *proxyFlags) (err error) {
	links, err := f.script(cmd)
	if err != nil {
		return err
	}
	listen, server, err := f.addresses(cmd)
	if err != nil {
		return err
	}
	if err := f.look.check(); err != nil {
		return err
	}
	p := &proxied{app: a, flags: f, server: server}
	p.live = script.NewLive(links, func(c relay.Conditions) (time.Duration, error) { return p.relay.Reshape(c) })
	p.relay, err = relay.Open(relay.Options{Listen: listen, Server: server, Seed: links.Seed, Shared: f.shared,
		MaxClients: f.clients, Idle: f.idle, Conditions: p.live.Conditions()})
	if err != nil {
		return usage(fmt.Errorf("cannot listen on %s: %w", listen, err))
	}
	files, err := p.openFiles()
	if err != nil {
		p.relay.Close()
		return err
	}
	p.say()
	ctx := cmd.Context()
	if links.Duration > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, links.Duration)
		defer cancel()
	}
	if f.headless || a.asJSON || !a.interactive() {
		err = p.run(ctx, a.remark)
	} else {
		err = p.show(ctx)
	}
	p.relay.Snapshot(&p.end)
	if failed := files.close(a); failed != nil {
		if err != nil { // else an interruption would be all that is told
			a.remark("tui: warning: %v", failed)
		}
		err = errors.Join(err, failed)
	}
	doc := p.document(cmd.Context().Err() != nil || errors.Is(err, context.Canceled))
	return errors.Join(err, a.answer(doc, func(w io.Writer) { p.write(w, doc.Deviations) }), cmd.Context().Err())
}

// proxied is a proxy that runs, and what there is to tell of it.
type proxied struct {
	*app
	flags   *proxyFlags
	relay   *relay.Relay
	live    *script.Live
	server  netip.AddrPort
	end     relay.Snapshot
	judge   proxyview.Judge
	wireMax [2]float64  // kbps in the best second
	trouble chan string // with a file, told while it runs
}

// run relays datagrams until ctx ends, plays the script, and passes changes, warnings and a line
// each second to report, one at a time. A panic in one of its goroutines ends it and is its error.
func (p *proxied) run(ctx context.Context, report func(format string, args ...any)) error {
	var reporting sync.Mutex
	say := func(format string, args ...any) {
		reporting.Lock()
		defer reporting.Unlock()
		report(format, args...)
	}
	quit := make(chan struct{})
	var all sync.WaitGroup
	ctx, broken := context.WithCancelCause(ctx)
	defer broken(nil)
	aside := func(f func()) { all.Go(panics.Guard(broken, f)) }
	aside(func() {
		p.live.Play(p.relay.Begin(), quit, func(at time.Duration, ch config.Change, err error) {
			if err != nil {
				say("tui: warning: at %v: %v", at, err)
				return
			}
			say("%7.1f s  %s", at.Seconds(), ch.Label())
		})
	})
	aside(func() { p.eachSecond(quit, say) })
	aside(func() {
		for {
			select {
			case text := <-p.trouble:
				say("tui: warning: %s", text)
			case <-quit:
				return
			}
		}
	})
	err := panics.Call(func() error { return p.relay.Run(ctx) })
	close(quit)
	all.Wait()
	if cause := context.Cause(ctx); errors.As(cause, new(*panics.Error)) {
		err = errors.Join(err, cause)
	}
	return err
}

// show runs the proxy with its dashboard, until the person leaves it or the proxy ends by itself.
func (p *proxied) show(ctx context.Context) error {
	view := proxyview.Proxy{Snapshot: p.relay.Snapshot, Recent: relay.NewRecent(2048), Live: p.live, Notes: &proxyview.Notes{},
		Listen: p.relay.Addr().String(), Server: p.server.String(), Shared: p.flags.shared, Open: !p.relay.Addr().Addr().IsLoopback()}
	p.relay.Tap(view.Recent.Tap)
	err, screen := runWithScreen(ctx, func(ctx context.Context, hide func()) error {
		defer hide()
		return p.run(ctx, func(format string, args ...any) {
			if text, warning := strings.CutPrefix(fmt.Sprintf(format, args...), "tui: warning: "); warning {
				view.Notes.Say(text)
			}
		})
	}, func(shown context.Context) error {
		return proxyview.Run(shown, view, ui.Options{ASCII: p.flags.look.ascii, Theme: p.flags.look.theme,
			Charts: chartStyle(os.Getenv), Picture: linkPicture})
	})
	for _, text := range view.Notes.All() {
		p.remark("tui: warning: %s", text)
	}
	if errors.Is(screen, ui.ErrInterrupted) {
		screen = context.Canceled
	}
	return errors.Join(err, screen)
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
	if listen, err = relay.ParseAddress(cmd.Context(), f.listen); err != nil {
		return listen, server, usage(prefixed("--listen", err))
	}
	if server, err = relay.ParseAddress(cmd.Context(), f.to); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	if err := relay.CheckListen(listen); err != nil {
		return listen, server, usage(prefixed("--listen", err))
	}
	if err := relay.CheckServer(listen, server); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	return listen, server, nil
}

// say says what is done, and who can reach it.
func (p *proxied) say() {
	up, down := p.live.DefaultLinks()
	links := p.live.Script
	p.warn(warnings(side{"up", up}, side{"down", down}))
	p.remark("%s -> %s through %s, seed %d", p.relay.Addr(), p.server, links.Title, links.Seed)
	if !p.relay.Addr().Addr().IsLoopback() {
		p.remark("listening beyond this machine: whoever can send to %s can reach the server through it", p.relay.Addr())
	}
	if p.flags.shared && len(links.Base.Clients) > 0 {
		p.remark("tui: warning: with --shared all have one link: [[client]] is not looked at")
	}
}

// script reads what the links do.
func (f *proxyFlags) script(cmd *cobra.Command) (*script.Script, error) {
	if f.link.profile != "" || f.link.netem != "" || f.link.file != "" {
		if err := f.link.one(cmd); err != nil {
			return nil, err
		}
	}
	base, title, err := f.link.config(cmd, "link.netem")
	if err != nil {
		return nil, err
	}
	if f.duration > 0 {
		base.Duration = f.duration
	}
	if title == "" {
		title = "a perfect link"
	}
	s, err := script.New(base, title)
	return s, usage(err)
}

// proxyFile is a file that a proxy writes beside its report.
type proxyFile struct {
	name string
	// begin returns the writer of the file, which buffers: begin itself writes nothing to the file.
	begin   func(*os.File) (relay.Writer, error)
	file    *os.File // nil until it is open
	created bool     // it did not exist before
}

// proxyFiles are the files of a proxy and what writes them; the journal is nil without files.
type proxyFiles struct {
	list    []proxyFile
	journal *relay.Journal
}

// openFiles begins the capture and the records. They are written beside the traffic, and a full
// disk does not end a game: it is reported at once, and by the exit code.
func (p *proxied) openFiles() (*proxyFiles, error) {
	files := &proxyFiles{}
	if name := p.flags.capture; name != "" {
		begin := func(f *os.File) (relay.Writer, error) { return relay.NewPcapng(f, p.relay) }
		files.list = append(files.list, proxyFile{name: name, begin: begin})
	}
	if name := p.flags.record; name != "" {
		for _, way := range []relay.Way{relay.Up, relay.Down} {
			files.list = append(files.list, proxyFile{name: strings.TrimSuffix(name, ".csv") + "." + way.String() + ".csv",
				begin: func(f *os.File) (relay.Writer, error) { return relay.NewRecord(f, way), nil }})
		}
	}
	if len(files.list) == 0 {
		return files, nil
	}
	writers, err := files.open(p.flags.link.file)
	if err != nil {
		files.discard()
		return nil, err
	}
	p.trouble = make(chan string, len(writers))
	files.journal = relay.NewJournal(func(i int, err error) {
		text, _, _ := strings.Cut(unwritable(files.list[i].name, err).Error(), "\n") // of a panic without its stack
		p.trouble <- text
	}, writers...)
	p.relay.Tap(files.journal.Tap)
	return files, nil
}

// open opens all files, of which none may be the configuration, and returns their writers. Older
// files are emptied last, after everything else succeeded. Only an error of emptying one of them
// leaves those before it empty; after other errors older files are unchanged.
func (p *proxyFiles) open(configuration string) (writers []relay.Writer, err error) {
	others := []string{configuration}
	for i := range p.list {
		f := &p.list[i]
		if err := f.open(others); err != nil {
			return nil, err
		}
		others = append(others, f.name)
	}
	regular := make([]bool, len(p.list))
	for i, f := range p.list {
		info, err := f.file.Stat()
		if err != nil {
			return nil, unwritable(f.name, err)
		}
		regular[i] = info.Mode().IsRegular()
		w, err := f.begin(f.file)
		if err != nil {
			return nil, unwritable(f.name, err)
		}
		writers = append(writers, w)
	}
	for i, f := range p.list {
		if !regular[i] {
			continue // a pipe or a device holds nothing
		}
		if err := f.file.Truncate(0); err != nil {
			return nil, unwritable(f.name, err)
		}
	}
	return writers, nil
}

// open opens the file with what it contains. It must be none of the others.
func (f *proxyFile) open(others []string) (err error) {
	_, missing := os.Lstat(f.name)
	if there, err := os.Stat(f.name); err == nil && there.Mode().IsRegular() {
		for _, other := range others {
			if x, err := os.Stat(other); err == nil && os.SameFile(x, there) {
				return usagef("%s is %s, too; expected another file", f.name, other)
			}
		}
	}
	if f.file, err = os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return usage(unwritable(f.name, err))
	}
	f.created = missing != nil
	return nil
}

// discard closes the files before anything was written, and removes those that did not exist.
func (p *proxyFiles) discard() {
	for _, f := range p.list {
		if f.file != nil {
			_ = f.file.Close()
		}
		if f.created {
			_ = os.Remove(f.name)
		}
	}
}

// close writes what is left.
func (p *proxyFiles) close(a *app) (err error) {
	if p.journal == nil {
		return nil
	}
	skipped, errs := p.journal.Close()
	for i, failed := range errs {
		f := &p.list[i]
		failed = errors.Join(failed, f.file.Close())
		if failed != nil {
			err = errors.Join(err, unwritable(f.name, failed))
			continue
		}
		a.remark("wrote %s", f.name)
		if skipped > 0 {
			a.remark("tui: warning: %s lacks %d events: the disk was too slow", f.name, skipped)
		}
	}
	return err
}

// eachSecond says what went through in the last second, until quit.
func (p *proxied) eachSecond(quit <-chan struct{}, say func(format string, args ...any)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	was := p.relay.Totals()
	var at relay.Snapshot
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		p.relay.Snapshot(&at)
		second := at.Totals.Since(&was)
		for way := range second.Flows {
			p.wireMax[way] = max(p.wireMax[way], relay.Kbps(second.Flows[way].OutWire, second.At.Seconds()))
		}
		say("%s", relay.Line(at.Totals.At, &second, p.judge.Deviations(at.Links)))
		was = at.Totals
	}
}
