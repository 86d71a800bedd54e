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

	"wirelab/cmd/tui/internal/script"
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
		Args: perhapsArg("a configuration in TOML"),
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
	flags.StringVar(&f.record, "record", "", "write what became of each datagram as CSV: x.csv becomes x.up.csv and x.down.csv (`FILE`)")
	flags.BoolVar(&f.shared, "shared", false, "all clients share one pair of links, and so a bottleneck")
	flags.IntVar(&f.clients, "max-clients", relay.DefaultClients, "refuse more than `N` clients at a time")
	flags.DurationVar(&f.idle, "idle", relay.DefaultIdle, "forget clients that send nothing for this `TIME`")
	a.addOutputFlags(cmd, &f.json)
	complete(cmd, "profile", profileNames)
	return cmd
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
	r, err := relay.Open(relay.Options{Listen: listen, Server: server, Seed: links.Seed, Shared: f.shared,
		MaxClients: f.clients, Idle: f.idle, Conditions: links.Conditions(0)})
	if err != nil {
		return usage(fmt.Errorf("cannot listen on %s: %w", listen, err))
	}
	files, err := openProxyFiles(f, r)
	if err != nil {
		return err
	}
	a.sayProxied(r, f, server, links)
	ctx := cmd.Context()
	if links.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, links.Duration)
		defer cancel()
	}
	report := proxyReport{links: links, listen: r.Addr().String(), server: server.String(), shared: f.shared}
	quit := make(chan struct{})
	var aside sync.WaitGroup
	aside.Go(func() { report.changes = a.playScript(r, links, quit) })
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
	if listen, err = relay.ParseAddress(cmd.Context(), f.listen); err != nil {
		return listen, server, usage(prefixed("--listen", err))
	}
	if server, err = relay.ParseAddress(cmd.Context(), f.to); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	if err := relay.CheckServer(listen, server); err != nil {
		return listen, server, usage(prefixed("--to", err))
	}
	return listen, server, nil
}

// sayProxied says what is done, and who can reach it.
func (a *app) sayProxied(r *relay.Relay, f *proxyFlags, server netip.AddrPort, links *script.Script) {
	up, down := links.Conditions(0)(relay.Client{})
	a.warn(warnings(side{"up", up}, side{"down", down}))
	a.remark("%s -> %s through %s, seed %d", r.Addr(), server, links.Title, links.Seed)
	if !r.Addr().Addr().IsLoopback() {
		a.remark("listening beyond this machine: whoever can send to %s can reach the server through it", r.Addr())
	}
	if f.shared && len(links.Base.Clients) > 0 {
		a.remark("tui: warning: with --shared all have one link: [[client]] is not looked at")
	}
}

// playScript changes the links at the times of the script, and returns what was done.
func (a *app) playScript(r *relay.Relay, links *script.Script, quit <-chan struct{}) (done []config.StampedChange) {
	for i, change := range links.Changes {
		timer := time.NewTimer(time.Until(r.Begin().Add(change.T)))
		select {
		case <-quit:
			timer.Stop()
			return done
		case <-timer.C:
		}
		at, err := r.Reshape(links.Conditions(i + 1))
		if err != nil {
			a.remark("tui: warning: at %v: %v", change.T, err)
		}
		done = append(done, config.Stamp(at, change.Change))
		a.remark("%7.1f s  %s", at.Seconds(), change.Change.Label())
	}
	return done
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

// proxyReport is what there is to tell of a proxy.
type proxyReport struct {
	links          *script.Script
	listen, server string
	shared         bool
	changes        []config.StampedChange
	totals         relay.Totals
	wireMax        [2]float64 // kbps in the best second
	interrupted    bool
}

// sayEachSecond says what went through in the last second, until quit.
func (a *app) sayEachSecond(r *relay.Relay, report *proxyReport, quit <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	was := r.Totals()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		now := r.Totals()
		span := (now.At - was.At).Seconds()
		var flows [2]relay.Flow
		for way := range flows {
			flows[way] = now.Flows[way].Since(&was.Flows[way])
			report.wireMax[way] = max(report.wireMax[way], relay.Kbps(flows[way].OutWire, span))
		}
		a.remark("%s", relay.Line(&now, flows, span))
		was = now
	}
}

// The JSON of `proxy`.
type (
	proxyDocument struct {
		Listen   string  `json:"listen"`
		To       string  `json:"to"`
		Seed     uint64  `json:"seed"`
		Shared   bool    `json:"shared"`
		Reason   string  `json:"reason"` // finished or interrupted
		Duration float64 `json:"duration_s"`

		Clients  proxyClients  `json:"clients"`
		Oversize uint64        `json:"oversize"`
		Up       relay.Figures `json:"up"`
		Down     relay.Figures `json:"down"`

		Changes []config.StampedChange `json:"changes"`
		Lies    []string               `json:"lies"` // in what the emulator did not do what was asked
	}
	proxyClients struct {
		Now       int    `json:"now"`
		Joined    int    `json:"joined"`
		Forgotten int    `json:"forgotten"`
		Refused   uint64 `json:"refused"` // datagrams
	}
)

func (p *proxyReport) document() proxyDocument {
	up, down := p.asked()
	t := &p.totals
	d := proxyDocument{Listen: p.listen, To: p.server, Seed: p.links.Seed, Shared: p.shared, Reason: "finished", Duration: t.At.Seconds(),
		Clients: proxyClients{t.Clients, t.Joined, t.Forgotten, t.Refused}, Oversize: t.Oversize,
		Up: t.Figures(relay.Up, up, p.wireMax[relay.Up]), Down: t.Figures(relay.Down, down, p.wireMax[relay.Down]),
		Changes: p.changes, Lies: []string{}}
	if p.interrupted {
		d.Reason = "interrupted"
	}
	if d.Changes == nil {
		d.Changes = []config.StampedChange{}
	}
	for way := range t.Flows {
		d.Lies = append(d.Lies, t.Flows[way].Lies(relay.Way(way))...)
	}
	return d
}

// asked returns what the links were set to at the end, for clients without conditions of
// their own.
func (p *proxyReport) asked() (up, down lossmodel.Spec) {
	return p.links.Conditions(len(p.changes))(relay.Client{})
}

// write tells people the totals.
func (p *proxyReport) write(w io.Writer) {
	up, down := p.asked()
	specs := [2]lossmodel.Spec{up, down}
	t := &p.totals
	fmt.Fprintf(w, "%.1f s, %d clients joined, %d forgotten, %d datagrams of more refused.\n", t.At.Seconds(), t.Joined, t.Forgotten,
		t.Refused)
	g := newGrid("", "up", "down")
	row := func(name string, cell func(*relay.Flow, lossmodel.Spec) any) {
		g.row(name, cell(&t.Flows[relay.Up], specs[relay.Up]), cell(&t.Flows[relay.Down], specs[relay.Down]))
	}
	key := func(k string) func(*relay.Flow, lossmodel.Spec) any {
		return func(_ *relay.Flow, s lossmodel.Spec) any {
			if s.Netem.String() != "off" {
				return "netem"
			}
			text, _ := s.Get(k)
			return text
		}
	}
	quantiles := func(h *relay.Histogram) any {
		if h.N == 0 {
			return "-"
		}
		return fmt.Sprintf("%s / %s / %s", relay.Millis(h.Quantile(0.5)), relay.Millis(h.Quantile(0.99)), relay.Millis(h.Max))
	}
	row("in", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.In, f.InBytes) })
	row("out", func(f *relay.Flow, _ lossmodel.Spec) any { return fmt.Sprintf("%d, %d bytes", f.Out, f.OutBytes) })
	row("copies made", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Copies })
	row("under way", func(f *relay.Flow, _ lossmodel.Spec) any { return f.Queued })
	row("loss asked", key("loss"))
	row("lost", func(f *relay.Flow, _ lossmodel.Spec) any {
		if f.In == 0 {
			return "-"
		}
		return strings.TrimSuffix(fmt.Sprintf("%.2f %%: %s", 100*float64(f.Lost())/float64(f.In+f.Copies), f.Causes()), ": ")
	})
	row("latency asked", key("latency"))
	row("delay, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Took) })
	row("late, p50 / p99 / max ms", func(f *relay.Flow, _ lossmodel.Spec) any { return quantiles(&f.Late) })
	row("rate asked", key("rate"))
	g.row("best second", fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Up]), fmt.Sprintf("%.0f kbit/s", p.wireMax[relay.Down]))
	g.write(w, 0)
	for way := range t.Flows {
		for _, lie := range t.Flows[way].Lies(relay.Way(way)) {
			fmt.Fprintf(w, "Not as asked: %s.\n", lie)
		}
	}
}
