package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"wirelab/cmd/tui/internal/control"
	"wirelab/cmd/tui/internal/proxyview"
	"wirelab/cmd/tui/internal/script"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/internal/panics"
	"wirelab/lossmodel/relay"

	"github.com/spf13/cobra"
)

// proxyFlags are the flags of tui proxy.
type proxyFlags struct {
	link            linkFlags
	listen, to      string        // addresses: for clients, and of the server
	capture, record string        // paths of the files to write; "" for none
	control         string        // address of the socket of --control; "" for none
	tokenFile       string        // path of the token of that socket; "" for none
	duration, idle  time.Duration // duration of the run, 0 for no limit; time after which a silent client is removed
	clients         int           // largest number of clients at a time
	shared          bool          // all clients share one pair of links
	headless        bool          // print lines instead of showing the dashboard
	look            lookFlags
}

// proxyCommand returns tui proxy.
func (a *app) proxyCommand() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use:     "proxy --listen ADDR --to ADDR [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Put any UDP program behind a modelled link, without root or a driver",
		Long: `Relay UDP datagrams between clients and a server through modelled links: datagrams of
clients pass the uplink, answers of the server the downlink. Point the program at the
address of --listen instead of its server. Without a link the relay changes nothing.

Each client has its own pair of links, with a seed of its own; with --shared all clients
share one pair. A configuration can change the links during the run, and set links for a
single client:

  [down]
  latency = "40ms"
  [[at]]
  t = "30s"
  down.loss = "20%"
  [[client]]                   # address = "10.0.0.5" selects by address
  turn = 2                     # the second client that connects
  up.latency = "200ms"

On a terminal it shows a dashboard: the traffic in both directions, losses by cause, the
clients, differences between set and measured values, and controls that change the links
during the game. ? shows the keys. Space pauses the display, not the traffic. With
--headless, or without a terminal, it prints a line per second; a line that starts with
"!" reports a difference between set and measured values. The totals follow at the end.
The links of client N have the seeds "up N" and "down N", those of the first client "up"
and "down": the seed and a file of --record reproduce the outcome of every datagram.

` + controlHelp + `It listens on 127.0.0.1 unless --listen names another address, and sends only to the
server and to clients that have sent to it.`,
		Example: `  tui proxy --listen 27961 --to 127.0.0.1:27960 --profile unity-4g
  tui proxy --listen 27961 --to game.example.org:27960 --set down.loss=5% --duration 1m --json
  tui proxy --listen 27961 --to 127.0.0.1:27960 bad.toml --capture game.pcapng --record game.csv
  tui proxy --listen 27961 --to 127.0.0.1:27960 --headless --json --control unix:proxy.sock`,
		Args: optionalArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.link.file = firstArg(args)
			return a.proxy(cmd, &f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.add(cmd)
	a.addOutputFlags(cmd)
	return cmd
}

// add registers the flags.
func (f *proxyFlags) add(cmd *cobra.Command) {
	f.link.add(cmd)
	f.link.addProfile(cmd)
	flags := cmd.Flags()
	flags.Lookup("netem").Usage = "use the link that the tc netem options in `LINE` describe, in both directions"
	flags.StringVar(&f.listen, "listen", "", "listen for clients on this `ADDR`: a port, or HOST:PORT")
	flags.StringVar(&f.to, "to", "", "send to the server at this `ADDR`: HOST:PORT")
	flags.BoolVar(&f.headless, "headless", false, "print a line per second instead of the dashboard")
	flags.DurationVar(&f.duration, "duration", 0, "stop after this `TIME`")
	flags.StringVar(&f.capture, "capture", "", "write all datagrams, received and sent, to this pcapng `FILE`")
	flags.StringVar(&f.record, "record", "", "write the outcome of each datagram as CSV; for `FILE` x.csv the files are x.up.csv and x.down.csv")
	flags.BoolVar(&f.shared, "shared", false, "let all clients share one pair of links, and so a bottleneck")
	flags.IntVar(&f.clients, "max-clients", relay.DefaultClients, "refuse new clients while there are `N`")
	flags.DurationVar(&f.idle, "idle", relay.DefaultIdle, "remove clients that send nothing for this `TIME`")
	flags.StringVar(&f.control, "control", "", "let programs control the proxy by HTTP at this `ADDR`: unix:PATH, or tcp:ADDR on a loopback address")
	flags.StringVar(&f.tokenFile, "token-file", "", "programs must send the token in this `FILE` with each request; the file is created if it does not exist")
	f.look.add(cmd)
}

// proxy runs the relay, with a dashboard or with a line per second, and writes the totals. All
// errors are returned together: of the relay, of the files that it writes, and of the output.
func (a *app) proxy(cmd *cobra.Command, f *proxyFlags) (err error) {
	links, err := f.loadScript(cmd)
	if err != nil {
		return err
	}
	listen, server, err := f.parseAddresses(cmd)
	if err != nil {
		return err
	}
	if err := f.look.check(); err != nil {
		return err
	}
	p := &runningProxy{app: a, flags: f, server: server}
	// The relay is opened below; Reshape is called only after that.
	p.live = script.NewLive(links, func(c relay.Conditions) (time.Duration, error) { return p.relay.Reshape(c) })
	p.relay, err = relay.Open(relay.Options{Listen: listen, Server: server, Seed: links.Seed, Shared: f.shared,
		MaxClients: f.clients, Idle: f.idle, Conditions: p.live.Conditions()})
	if err != nil {
		return asUsageError(fmt.Errorf("cannot listen on %s: %w", listen, err))
	}
	// Programs that can connect to the control socket can already send datagrams.
	p.control, p.token, err = a.openControl(cmd.Context(), f)
	if err != nil {
		p.relay.Close()
		return err
	}
	defer p.control.Close()
	files, err := p.openFiles()
	if err != nil {
		p.relay.Close()
		return err
	}
	p.printStart()
	ctx := cmd.Context()
	if links.Duration > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, links.Duration)
		defer cancel()
	}
	if f.headless || a.asJSON || !a.interactive() {
		err = p.run(ctx, a.remark)
	} else {
		err = p.runDashboard(ctx)
	}
	p.relay.Snapshot(&p.final)
	if closeErr := files.close(a); closeErr != nil {
		if err != nil { // if the proxy was interrupted, printError prints only "interrupted"
			a.remark("tui: warning: %v", closeErr)
		}
		err = errors.Join(err, closeErr)
	}
	interrupted := cmd.Context().Err() != nil || errors.Is(err, context.Canceled)
	reason := "finished"
	if interrupted {
		reason = "interrupted"
	}
	doc := p.newDocument(&p.final, reason)
	return errors.Join(err, a.writeResult(doc, func(w io.Writer) { p.writeTotals(w, doc.PerClient, doc.Deviations) }), cmd.Context().Err())
}

// runningProxy is a proxy during its run, with what its report needs.
type runningProxy struct {
	*app
	flags      *proxyFlags
	relay      *relay.Relay
	live       *script.Live // the current links, which the script and the user change
	server     netip.AddrPort
	final      relay.Snapshot  // counters at the end of the run
	fileErrors chan string     // errors of --capture and --record, to be reported during the run; nil without files
	control    *control.Server // the socket of --control; nil without it
	token      string          // the token of that socket; "" for none

	mu      sync.Mutex      // guards what follows
	judge   proxyview.Judge // compares set and measured values
	wireMax [2]float64      // by direction: kbps in the busiest second
}

// run relays datagrams until ctx ends, and applies the scripted changes. It calls report, one
// call at a time, for each change and warning and once per second. A panic in one of its
// goroutines ends the run and becomes the error.
func (p *runningProxy) run(ctx context.Context, report func(format string, args ...any)) error {
	var mu sync.Mutex
	locked := func(format string, args ...any) { // report may be called from three goroutines
		mu.Lock()
		defer mu.Unlock()
		report(format, args...)
	}
	quit := make(chan struct{}) // closed when the relay has ended, to end the goroutines
	var running sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := func(f func()) { running.Go(panics.Guard(cancel, f)) } // a panic in f cancels ctx
	if p.control != nil {
		start(func() {
			p.control.Serve(p.token, p.controlHandler(locked), func(bug error) { cancel(bug) })
		})
	}
	start(func() {
		var offset time.Duration // from which the times of the script count
		if changes := p.live.Script.Changes; len(changes) > 0 && changes[0].FromFirstDatagram {
			select {
			case offset = <-p.relay.FirstDatagram():
				locked("%7.1f s  first datagram: the times of [[at]] count from here", offset.Seconds())
			case <-quit:
				return
			}
		}
		p.live.Play(p.relay.StartTime(), offset, quit, func(at time.Duration, ch config.Change, err error) {
			if err != nil {
				locked("tui: warning: the scripted change at %v failed: %v", at, err)
				return
			}
			locked("%7.1f s  %s", at.Seconds(), ch.Label())
		})
	})
	start(func() { p.reportEachSecond(quit, locked) })
	start(func() {
		for {
			select {
			case text := <-p.fileErrors:
				locked("tui: warning: %s", text)
			case <-quit:
				return
			}
		}
	})
	err := panics.Call(func() error { return p.relay.Run(ctx) })
	close(quit)
	p.control.Close()
	running.Wait()
	if cause := context.Cause(ctx); errors.As(cause, new(*panics.Error)) {
		err = errors.Join(err, cause)
	}
	return err
}

// runDashboard runs the proxy with its dashboard, until the user quits or the proxy ends. Of what
// run reports, the dashboard shows only warnings, since it shows the rest itself; they are printed
// again after the dashboard has closed.
func (p *runningProxy) runDashboard(ctx context.Context) error {
	const recentDatagrams = 2048 // number of datagrams that the dashboard can list and explain
	// Open means that other machines can connect.
	view := proxyview.Proxy{Snapshot: p.relay.Snapshot, Recent: relay.NewRecent(recentDatagrams), Live: p.live, Notes: &proxyview.Notes{},
		Listen: p.relay.Addr().String(), Server: p.server.String(), Shared: p.flags.shared, Open: !p.relay.Addr().Addr().IsLoopback()}
	p.relay.Tap(view.Recent.Tap) // passes the events of all datagrams to view.Recent
	err, screenErr := runWithScreen(ctx, func(ctx context.Context, hide func()) error {
		defer hide()
		return p.run(ctx, func(format string, args ...any) {
			if text, warning := strings.CutPrefix(fmt.Sprintf(format, args...), "tui: warning: "); warning {
				view.Notes.Add(text)
			}
		})
	}, func(shown context.Context) error {
		look := p.flags.look
		return proxyview.Run(shown, view, ui.Options{ASCII: look.ascii, Theme: look.theme,
			Picture: drawLink})
	})
	for _, text := range view.Notes.All() {
		p.remark("tui: warning: %s", text)
	}
	if errors.Is(screenErr, ui.ErrInterrupted) {
		screenErr = context.Canceled // gives exitInterrupted
	}
	return errors.Join(err, screenErr)
}

// parseAddresses checks the flags and returns the listening address and the address of the
// server.
func (f *proxyFlags) parseAddresses(cmd *cobra.Command) (listen, server netip.AddrPort, err error) {
	switch {
	case f.listen == "":
		return listen, server, usagef("%s expects --listen ADDR, the address for clients, such as 127.0.0.1:27961", cmd.CommandPath())
	case f.to == "":
		return listen, server, usagef("%s expects --to ADDR, the address of the server, such as 127.0.0.1:27960", cmd.CommandPath())
	case f.clients < 1 || f.clients > relay.MaxClients:
		return listen, server, usagef("--max-clients %d makes no sense; expected 1 to %d", f.clients, relay.MaxClients)
	case f.idle < time.Millisecond:
		return listen, server, usagef("--idle %v makes no sense; expected at least 1ms", f.idle)
	case f.duration < 0:
		return listen, server, usagef("--duration %v makes no sense; expected a time above 0s", f.duration)
	}
	if listen, err = relay.ParseAddress(cmd.Context(), f.listen); err != nil {
		return listen, server, asUsageError(withFlag("--listen", err))
	}
	if server, err = relay.ParseAddress(cmd.Context(), f.to); err != nil {
		return listen, server, asUsageError(withFlag("--to", err))
	}
	if err := relay.CheckListen(listen); err != nil {
		return listen, server, asUsageError(withFlag("--listen", err))
	}
	if err := relay.CheckServer(listen, server); err != nil {
		return listen, server, asUsageError(withFlag("--to", err))
	}
	return listen, server, nil
}

// printStart prints the addresses and the link, warns about effects of the link, and warns if
// other machines can reach the proxy.
func (p *runningProxy) printStart() {
	up, down := p.live.DefaultLinks()
	links := p.live.Script
	p.warn(linkWarnings(direction{"up", up}, direction{"down", down}))
	p.remark("%s -> %s through %s, seed %d", p.relay.Addr(), p.server, links.Title, links.Seed)
	if p.control != nil {
		p.remark("control: %s", p.control.Address)
	}
	if !p.relay.Addr().Addr().IsLoopback() {
		p.remark("other machines can connect: anyone who can send to %s can reach the server through the proxy", p.relay.Addr())
	}
	if p.flags.shared && len(links.Base.Clients) > 0 {
		p.remark("tui: warning: [[client]] has no effect with --shared, because all clients share one link")
	}
}

// loadScript returns the links that the flags choose and their scripted changes; without flags,
// perfect links. All its errors are usage errors.
func (f *proxyFlags) loadScript(cmd *cobra.Command) (*script.Script, error) {
	if f.link.profile != "" || f.link.netem != "" || f.link.file != "" {
		if err := f.link.checkOneLink(cmd); err != nil {
			return nil, err
		}
	}
	base, title, err := f.link.loadConfig(cmd, "link.netem") // a --netem line applies in both directions
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
	return s, asUsageError(err)
}

// proxyFile is a file that a proxy writes during its run.
type proxyFile struct {
	name string
	// newWriter returns the buffered writer of the file. newWriter itself writes nothing.
	newWriter func(*os.File) (relay.Writer, error)
	file      *os.File // nil until it is open
	created   bool     // whether the file did not exist before
}

// proxyFiles are the files of a proxy and the journal that writes them; journal is nil without
// files.
type proxyFiles struct {
	list    []proxyFile
	journal *relay.Journal
}

// openFiles creates the capture and the records. A journal writes them in the background, so that
// a slow disk does not delay the traffic. A write error does not end the run: it is reported at
// once, and makes the exit code that of a failure.
func (p *runningProxy) openFiles() (*proxyFiles, error) {
	files := &proxyFiles{}
	if name := p.flags.capture; name != "" {
		newWriter := func(f *os.File) (relay.Writer, error) { return relay.NewPcapng(f, p.relay) }
		files.list = append(files.list, proxyFile{name: name, newWriter: newWriter})
	}
	if name := p.flags.record; name != "" {
		for _, dir := range []relay.Direction{relay.Up, relay.Down} {
			files.list = append(files.list, proxyFile{name: strings.TrimSuffix(name, ".csv") + "." + dir.String() + ".csv",
				newWriter: func(f *os.File) (relay.Writer, error) { return relay.NewRecord(f, dir), nil }})
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
	p.fileErrors = make(chan string, len(writers)) // the journal reports at most one error for each writer
	files.journal = relay.NewJournal(func(i int, err error) {
		text, _, _ := strings.Cut(writeError(files.list[i].name, err).Error(), "\n") // the first line: a panic's text includes its stack
		p.fileErrors <- text
	}, writers...)
	p.relay.Tap(files.journal.Tap)
	return files, nil
}

// open opens all files and returns their writers. None of the files may be the configuration, whose
// path is given, or another of the files. Existing files are truncated last, after everything else
// succeeded, so that other errors leave them unchanged.
func (files *proxyFiles) open(configuration string) (writers []relay.Writer, err error) {
	others := []string{configuration}
	for i := range files.list {
		f := &files.list[i]
		if err := f.open(others); err != nil {
			return nil, err
		}
		others = append(others, f.name)
	}
	regular := make([]bool, len(files.list))
	for i, f := range files.list {
		info, err := f.file.Stat()
		if err != nil {
			return nil, writeError(f.name, err)
		}
		regular[i] = info.Mode().IsRegular()
		w, err := f.newWriter(f.file)
		if err != nil {
			return nil, writeError(f.name, err)
		}
		writers = append(writers, w)
	}
	for i, f := range files.list {
		if !regular[i] {
			continue // a pipe or a device cannot be truncated
		}
		if err := f.file.Truncate(0); err != nil {
			return nil, writeError(f.name, err)
		}
	}
	return writers, nil
}

// open opens the file without truncating it, or creates it. It returns an error if the file is one
// of others, which are paths, perhaps through a link.
func (f *proxyFile) open(others []string) (err error) {
	_, notExist := os.Lstat(f.name) // nil if the name exists, even as a link to a missing file
	if existing, err := os.Stat(f.name); err == nil && existing.Mode().IsRegular() {
		for _, other := range others {
			if info, err := os.Stat(other); err == nil && os.SameFile(info, existing) {
				return usagef("%s names the same file as %s; expected another file", f.name, other)
			}
		}
	}
	if f.file, err = os.OpenFile(f.name, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return asUsageError(writeError(f.name, err))
	}
	f.created = notExist != nil
	return nil
}

// discard closes the files after a failed open, and removes those that open created.
func (files *proxyFiles) discard() {
	for _, f := range files.list {
		if f.file != nil {
			_ = f.file.Close()
		}
		if f.created {
			_ = os.Remove(f.name)
		}
	}
}

// close writes what is buffered and closes the files. It reports each file that was written, and
// warns if events are missing.
func (files *proxyFiles) close(a *app) (err error) {
	if files.journal == nil {
		return nil
	}
	skipped, fileErrs := files.journal.Close() // one error for each file; nil if it is complete
	for i, fileErr := range fileErrs {
		f := &files.list[i]
		fileErr = errors.Join(fileErr, f.file.Close())
		if fileErr != nil {
			err = errors.Join(err, writeError(f.name, fileErr))
			continue
		}
		a.remark("wrote %s", f.name)
		if skipped > 0 {
			a.remark("tui: warning: %d events are missing in %s: the disk was too slow", skipped, f.name)
		}
	}
	return err
}

// reportEachSecond calls report every second until quit is closed, with a line about the traffic of
// the last second. It also updates p.wireMax, the rate in the busiest second.
func (p *runningProxy) reportEachSecond(quit <-chan struct{}, report func(format string, args ...any)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	previous := p.relay.Totals()
	var current relay.Snapshot
	var late [2]bool // of the last second
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		p.relay.Snapshot(&current)
		lastSecond := current.Totals.Since(&previous)
		p.mu.Lock()
		for dir := range lastSecond.Flows {
			p.wireMax[dir] = max(p.wireMax[dir], relay.Kbps(lastSecond.Flows[dir].OutWire, lastSecond.At.Seconds()))
		}
		deviations := p.judge.Deviations(current.Links)
		p.mu.Unlock()
		late = lastSecond.Late(late)
		report("%s", relay.FormatSecond(current.Totals.At, &lastSecond, late, deviations))
		previous = current.Totals
	}
}
