package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wirelab/cmd/tui/internal/sweepview"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/experiment/sweep"
	"wirelab/internal/panics"
	"wirelab/internal/words"

	"github.com/spf13/cobra"
)

type sweepFlags struct {
	others                   otherFiles
	config                   configFlags
	out, resume              string
	queue, serve             string
	tokenFile, cert, certKey string
	ca                       string
	verify                   string
	repeat, jobs             int
	force, watch             bool
	look                     lookFlags
	limit                    timeLimit
}

func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:     "sweep [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Run a grid with many seeds, on cores or on many machines",
		Long: `Run every point of a grid, each with repeat seeds, and print means with their 95 %
intervals. Points get the same seeds, so they are compared under the same luck: the last
column is the payload against that of the first point, paired by seed.

  [sweep]
  repeat = 30                  # seeds of each point, from seed on
  [[sweep.axis]]
  key = "down.loss"
  values = ["0%", "1%", "5%"]

--out writes a folder: sweep.json, what was planned; results, a file for each chunk of
runs; report.json, report.md and summary.csv, a row for each point. --resume goes on with
such a folder after anything: what is there stays, what is missing is run.

Without more it uses the cores of this machine. --serve ADDR lets workers of other
machines in (tui worker), who need the token that it prints; --queue URL uses a NATS
server with JetStream that there is already, and this machine's cores only if --jobs says
how many. A worker that dies loses its chunk, no more; a result is the same whoever came
to it, and --verify repeats a share of the runs here to see that.

--watch shows the grid filling up, with every point's figures and charts.

Exits with 1 if an assertion does not hold, or if two machines differ.`,
		Example: `  tui sweep loss.toml --out results
  tui sweep --preset loss-table --repeat 30 --json
  tui sweep --resume results
  tui sweep loss.toml --out results --watch
  tui sweep loss.toml --out results --serve 0.0.0.0:4222 --verify 1%`,
		Args: perhapsArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.file = firstOf(args)
			return a.sweep(cmd.Context(), f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.add(cmd)
	a.addOutputFlags(cmd)
	return cmd
}

func (f *sweepFlags) add(cmd *cobra.Command) {
	f.config.add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "keep the results in this folder (`DIR`)")
	flags.StringVar(&f.resume, "resume", "", "go on with the sweep in this folder (`DIR`)")
	flags.BoolVar(&f.force, "force", false, "replace the results of another run in that folder")
	flags.IntVar(&f.repeat, "repeat", 0, "seeds of each point (default: what the file says, or 1)")
	flags.IntVar(&f.jobs, "jobs", 0, "runs side by side on this machine (default: one a core; with --queue none)")
	flags.StringVar(&f.queue, "queue", "", "share the work through the NATS server at this `URL`")
	flags.StringVar(&f.serve, "serve", "", "be that server: listen on `HOST:PORT` for workers")
	flags.StringVar(&f.tokenFile, "token-file", "", "the token of the server is in this `FILE` (default: a new one, printed)")
	flags.StringVar(&f.cert, "tls-cert", "", "with --serve: certificate in PEM (`FILE`)")
	flags.StringVar(&f.certKey, "tls-key", "", "with --serve: its key (`FILE`)")
	flags.StringVar(&f.ca, "tls-ca", "", "with --queue: trust servers with a certificate of this authority (`FILE`, PEM)")
	flags.StringVar(&f.verify, "verify", "", "repeat this `SHARE` of the runs here, as in 1%")
	flags.BoolVar(&f.watch, "watch", false, "look on: the grid as a map, points with their charts; q ends the sweep")
	f.others.add(cmd)
	f.limit.add(cmd)
	f.look.add(cmd)
}

// sweep runs the command.
func (a *app) sweep(ctx context.Context, f sweepFlags) error {
	ctx, done, err := f.limit.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	o, err := a.sweepOptions(f)
	if err != nil {
		return err
	}
	var plan *sweep.Plan
	if plan, o.Store, err = a.sweepPlan(ctx, f); err != nil {
		return badData(err)
	}
	line := a.progress("sweep")
	var mu sync.Mutex
	o.Say = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		line.pause()
		a.remark("%s", text)
	}
	o.Tell = func(p sweep.Progress) { line.detail(float64(p.Runs), float64(p.Planned), sweepWords(p, f)) }
	run := sweepRun(sweep.Run)
	if f.watch {
		run = a.watched(f, plan, &o)
	}
	closeQueue, err := a.sweepQueue(ctx, f, &o)
	if err != nil {
		return err
	}
	defer closeQueue()
	kept := f.others.gather(plan, &o)
	sum, err := run(ctx, plan, o)
	line.done()
	if kept != nil {
		err = errors.Join(err, a.forOthers(f.others, kept(sum)))
	}
	err = errors.Join(err, a.answer(sum, func(w io.Writer) { _ = sum.Text(w) })) // the output keeps its errors
	_ = a.stdout.flush()                                                         // before what is said of it
	if dir := cmp.Or(f.out, f.resume); dir != "" {
		a.remark("results in %s", dir)
		if sum.Interrupted {
			a.remark("tui sweep --resume %s goes on with it", dir)
		}
	}
	if v := sum.Verified; v != nil && err == nil {
		a.remark("%d runs repeated here: the same", v.Runs)
	}
	if err == nil && sum.Interrupted {
		return cmp.Or(context.Cause(ctx), context.Canceled) // q ends a sweep that is looked on
	}
	return errors.Join(badData(err), held(sum.Failed))
}

// sweepOptions returns the options that the flags give.
func (a *app) sweepOptions(f sweepFlags) (o sweep.Options, err error) {
	o.Clock = a.clock
	if o.Verify, err = verifyShare(f.verify); err != nil {
		return o, err
	}
	if o.Jobs, err = jobsFlag(f.jobs); err != nil {
		return o, err
	}
	if f.queue != "" {
		o.Jobs = f.jobs // the work is for others, unless this machine's cores are requested
	}
	if f.queue != "" && f.serve != "" {
		return o, usagef("--queue and --serve are two servers; expected one")
	}
	return o, a.canWatch(f)
}

// canWatch returns an error if --watch has no screen to show the sweep on.
func (a *app) canWatch(f sweepFlags) error {
	switch {
	case !f.watch:
		return nil
	case a.asJSON:
		return usagef("--watch and --json both want the standard output; expected one")
	case !a.interactive():
		return usagef("--watch needs a terminal; in scripts and pipes leave it out")
	}
	return f.look.check()
}

// sweepRun is sweep.Run, or it with a screen.
type sweepRun func(context.Context, *sweep.Plan, sweep.Options) (*sweep.Summary, error)

// watched returns what runs a sweep while a person looks on. Who leaves ends it; when it has
// ended by itself, the screen stays until they leave.
func (a *app) watched(f sweepFlags, p *sweep.Plan, o *sweep.Options) sweepRun {
	w := sweep.NewWatch(p)
	o.Tell, o.Ran, o.Say = w.Tell, w.Ran, w.Say
	view := sweepview.Sweep{Watch: w, Title: sweepTitle(f), Kept: cmp.Or(f.out, f.resume), Queue: f.queue != "" || f.serve != "", Clock: a.clock}
	return func(ctx context.Context, p *sweep.Plan, o sweep.Options) (sum *sweep.Summary, err error) {
		err, screen := runWithScreen(ctx, func(ctx context.Context, _ func()) (err error) {
			sum, err = sweep.Run(ctx, p, o)
			if sum != nil {
				w.End(string(sum.Reason))
			}
			if err != nil {
				w.Say(err.Error())
			}
			return err
		}, func(shown context.Context) error {
			return sweepview.Run(shown, view, ui.Options{ASCII: f.look.ascii, Theme: f.look.theme})
		})
		if sum == nil && errors.As(err, new(*panics.Error)) {
			panic(err) // where the program catches it: the terminal has been restored
		}
		for _, text := range w.State().Notices {
			if err == nil || text != err.Error() {
				a.remark("%s", text)
			}
		}
		return sum, errors.Join(err, screen)
	}
}

// sweepTitle names a sweep.
func sweepTitle(f sweepFlags) string {
	return filepath.Base(cmp.Or(f.config.file, f.resume, f.config.preset, "of flags"))
}

// gather keeps the results of a sweep, if another program is to read them; nil if none is.
func (f *otherFiles) gather(p *sweep.Plan, o *sweep.Options) (kept func(*sweep.Summary) *report.Report) {
	if f.bench == "" && f.junit == "" {
		return nil
	}
	results, ran := make([]*engine.Result, p.Runs()), o.Ran
	o.Ran = func(x sweep.Outcome) {
		results[x.Run] = x.Result
		if ran != nil {
			ran(x)
		}
	}
	return func(sum *sweep.Summary) *report.Report {
		return &report.Report{Runs: slices.DeleteFunc(results, func(r *engine.Result) bool { return r == nil }), Sweep: true,
			Planned: p.Runs(), Reason: sum.Reason, Interrupted: sum.Interrupted, Error: sum.Error}
	}
}

// sweepWords says how far a sweep is, beside the share of it.
func sweepWords(p sweep.Progress, f sweepFlags) string {
	text := fmt.Sprintf("%d runs of %d", p.Runs, p.Planned)
	switch {
	case p.Verify > 0:
		text = fmt.Sprintf("repeated %d of %d", p.Verified, p.Verify)
	case f.queue != "" || f.serve != "":
		text += ", " + words.Count(p.Workers, "worker")
	}
	return text
}

// sweepPlan makes the plan of a file, or finds the one of a folder.
func (a *app) sweepPlan(ctx context.Context, f sweepFlags) (*sweep.Plan, *sweep.Store, error) {
	if f.resume != "" {
		if f.config.file != "" || f.config.preset != "" || f.out != "" || f.repeat != 0 || len(f.config.set) > 0 {
			return nil, nil, usagef("--resume %s goes on with what is planned there; expected no other configuration and no --out", f.resume)
		}
		store, plan, err := sweep.OpenStore(a.disk, f.resume, identity())
		return plan, store, err
	}
	c, err := f.config.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.repeat != 0 {
		if err := repeatPoints(c, f.repeat); err != nil {
			return nil, nil, usage(prefixed("--repeat "+strconv.Itoa(f.repeat), err))
		}
	}
	a.warn(c.Warnings())
	plan, err := sweep.NewPlan(ctx, c, identity())
	if err != nil || f.out == "" {
		return plan, nil, err
	}
	store, err := sweep.NewStore(a.disk, f.out, plan, f.force)
	return plan, store, err
}

// repeatPoints sets how many seeds each point has, whatever the file says.
func repeatPoints(c *config.Config, n int) error {
	at := len(c.Sweep)
	for i, axis := range c.Sweep {
		if axis.Repeat > 0 {
			at = i
		}
	}
	if err := c.Set(config.Indexed("sweep", at)+".repeat", n); err != nil {
		return err
	}
	return c.Validate()
}

// sweepQueue opens the queue that the flags name, if they do.
func (a *app) sweepQueue(ctx context.Context, f sweepFlags, o *sweep.Options) (closeQueue func(), err error) {
	none := func() {}
	if f.queue != "" {
		options, err := queueOptions(f.queue, f.tokenFile, f.ca)
		if err != nil {
			return none, err
		}
		q, err := sweep.OpenQueue(ctx, options)
		if err != nil {
			return none, err
		}
		o.Queue = q
		return q.Close, nil
	}
	token, err := readToken(f.tokenFile)
	if err != nil || f.serve == "" {
		return none, err
	}
	secure, err := certificate(f.cert, f.certKey)
	if err != nil {
		return none, err
	}
	printed := token == ""
	if printed {
		token = newToken()
	}
	s, err := sweep.Serve(f.serve, token, secure)
	if err != nil {
		return none, unserved(f.serve, err)
	}
	q, err := s.Open(ctx)
	if err != nil {
		s.Close()
		return none, err
	}
	o.Queue = q
	sayServed(o.Say, s.Addr(), token, printed, secure != nil)
	return func() { q.Close(); s.Close() }, nil
}

// sayServed says how workers get in, and who can hear them.
func sayServed(say func(string), addr, token string, printed, secure bool) {
	scheme, words := "nats", "--token-file FILE"
	if secure {
		scheme = "tls"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && net.ParseIP(host).IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			addr = net.JoinHostPort(name, port) // nobody can join 0.0.0.0
		}
	}
	at := scheme + "://" + addr
	if printed {
		at, words = scheme+"://"+token+"@"+addr, ""
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && !secure {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			say("listening on " + addr + " without TLS: whoever is on the way can read token and data; see --tls-cert")
		}
	}
	say("workers join with: " + strings.TrimSpace("tui worker --queue "+at+" "+words))
}

// unserved tells a machine that would not listen from an address that makes no sense.
func unserved(addr string, err error) error {
	err = prefixed("--serve "+addr, err)
	var syntax *net.AddrError
	var unknown *net.DNSError
	if !machineRefused(err) || errors.As(err, &syntax) || errors.As(err, &unknown) {
		return usage(err)
	}
	return err
}

// verifyShare reads --verify; 0 means none.
func verifyShare(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	v, ok := parseShare(text)
	if !ok || v < 0 || v > 1 {
		return 0, usagef("--verify %q makes no sense; expected a share of the runs, such as 1%%", text)
	}
	return v, nil
}

// identity is the version of the program, by which results are kept apart: of one that was
// built from a work tree, with the hash of the program itself.
var identity = sync.OnceValue(func() string {
	v := version()
	if v != "(devel)" && v != "(unknown)" && !strings.HasSuffix(v, "+dirty") {
		return v
	}
	self, err := os.Executable()
	if err != nil {
		return v
	}
	sum, err := fileHash(self)
	if err != nil {
		return v
	}
	return fmt.Sprintf("%s-%x", v, sum[:6])
})
