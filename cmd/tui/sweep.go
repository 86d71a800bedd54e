package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"wirelab/internal/atomicfile"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/internal/words"

	"github.com/spf13/cobra"
)

// sweepFlags are the flags of tui sweep.
type sweepFlags struct {
	exports                  exportFlags
	config                   configFlags
	out, resume              string // folders: of a new sweep, or of one to continue
	queue, serve             string // URL of a server, and address for a new one; "" for none
	tokenFile, cert, certKey string // paths: token, certificate and private key of the server
	ca                       string // path: certificates of authorities to trust
	verify                   string // share of runs to repeat, such as "1%"; "" for none
	repeat, jobs             int    // seeds of each point; parallel runs; 0 means the default
	force                    bool   // replace other results in out
	watch                    bool   // show the sweep on the screen
	look                     lookFlags
	limit                    timeLimit
}

// sweepCommand returns tui sweep.
func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:     "sweep [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Run a grid of settings with many seeds, on all cores or on many machines",
		Long: `Run every point of a grid of settings, each with several seeds, and print means with 95 %
confidence intervals. All points use the same seeds and so the same losses: the last column
compares the payload with that of the first point, paired by seed.

  [sweep]
  repeat = 30                  # number of seeds of each point
  [[sweep.axis]]
  key = "down.loss"
  values = ["0%", "1%", "5%"]

--out writes a folder with sweep.json (the plan), results (a file for each chunk of runs),
report.json, report.md and summary.csv (a row for each point). --resume continues the sweep
in such a folder: it runs only what is missing.

By default the sweep runs on the cores of this machine. --serve ADDR also accepts workers
on other machines (tui worker), which need the printed token. --queue URL uses an existing
NATS server with JetStream; the cores of this machine then take part only with --jobs.
When a worker fails, only its current chunk is run again.

Results do not depend on the machine. Each result is stored with a hash, so that a damaged
file is noticed and its runs are run again. A result that was altered on purpose is found
by --verify: it repeats a share of the runs, chosen at random, on this machine and compares
all their figures, except times. The default is 1% of the runs that workers sent.

Only one process can write a folder. While one does, also if it is stopped, others end with
exit code 3 and name its process and machine.

--watch shows the grid during the sweep, with the figures and charts of every point, a
ranking, and comparisons with intervals; enter opens a point as a live session. q ends the
sweep with exit code 0, Ctrl-C with 130.

The exit code is 1 if an assertion fails, if two machines give different results, or if a
worker sends a figure that is impossible.`,
		Example: `  tui sweep loss.toml --out results
  tui sweep --preset loss-table --repeat 30 --json
  tui sweep --resume results
  tui sweep loss.toml --out results --watch
  tui sweep loss.toml --out results --serve 0.0.0.0:4222 --verify 1%`,
		Args: optionalArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.file = firstArg(args)
			return a.sweep(cmd.Context(), f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.add(cmd)
	a.addOutputFlags(cmd)
	return cmd
}

// add registers the flags.
func (f *sweepFlags) add(cmd *cobra.Command) {
	f.config.add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "write the results to folder `DIR`")
	flags.StringVar(&f.resume, "resume", "", "continue the sweep in folder `DIR`")
	flags.BoolVar(&f.force, "force", false, "replace the results of another run in --out")
	flags.IntVar(&f.repeat, "repeat", 0, "number of seeds of each point (default: as in the configuration, or 1)")
	flags.IntVar(&f.jobs, "jobs", 0, "number of parallel runs on this machine (default: one per core; none with --queue)")
	flags.StringVar(&f.queue, "queue", "", "share the work through the NATS server at this `URL`")
	flags.StringVar(&f.serve, "serve", "", "start a server for workers on `HOST:PORT`")
	flags.StringVar(&f.tokenFile, "token-file", "", "read the token of the server from this `FILE`, which is created if it does not exist (default: a new token, which is printed)")
	flags.StringVar(&f.cert, "tls-cert", "", "with --serve: read the certificate of the server from PEM `FILE`")
	flags.StringVar(&f.certKey, "tls-key", "", "with --serve: read the private key of the server from PEM `FILE`")
	flags.StringVar(&f.ca, "tls-ca", "", "with --queue: trust the certificate authorities in PEM `FILE`")
	flags.StringVar(&f.verify, "verify", "", "repeat this `SHARE` of the runs on this machine and compare, such as 10% (default: 1% of the runs that workers sent)")
	flags.BoolVar(&f.watch, "watch", false, "show the grid and its points during the sweep; q ends the sweep")
	f.exports.add(cmd)
	f.limit.add(cmd)
	f.look.add(cmd)
}

// sweep runs the sweep and writes its results, also those of an interrupted sweep.
func (a *app) sweep(ctx context.Context, f sweepFlags) error {
	ctx, stopTimer, err := f.limit.start(ctx)
	if err != nil {
		return err
	}
	defer stopTimer()
	o, err := a.sweepOptions(f)
	if err != nil {
		return err
	}
	var plan *sweep.Plan
	if plan, o.Store, err = a.loadPlan(ctx, f); err != nil {
		return markDataError(err)
	}
	defer o.Store.Close()
	line := a.progress("sweep")
	var mu sync.Mutex // keeps the lines of two notices apart
	o.OnNotice = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		line.pause()
		a.remark("%s", text)
	}
	o.OnProgress = func(p sweep.Progress) {
		line.reportDetail(float64(p.Runs), float64(p.Planned), sweepProgressText(p, f))
	}
	run := sweepFunc(sweep.Run)
	if f.watch {
		run = a.withWatch(f, plan, &o)
	}
	closeQueue, err := a.openQueue(ctx, f, &o)
	if err != nil {
		return err
	}
	defer closeQueue()
	makeReport := f.exports.collect(plan, &o) // nil without --bench and --junit
	sum, err := run(ctx, plan, o)
	isIncomplete := errors.Is(err, report.ErrWrite) // some results are not in the folder, as on a full disk
	line.done()
	if makeReport != nil {
		r := makeReport(sum)
		r.File = cmp.Or(f.config.file, f.resume, f.config.preset)
		err = errors.Join(err, a.writeExports(f.exports, r))
	}
	// Errors of Text and of this flush are ignored: a.stdout keeps the first write error, and its last flush returns it.
	err = errors.Join(err, a.writeResult(sum, func(w io.Writer) { _ = sum.Text(w, a.columns) }))
	_ = a.stdout.flush() // print the result before the notes on standard error
	a.remarkSweep(f, sum, isIncomplete, err)
	if err == nil && sum.Interrupted && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(markDataError(err), newFailure(sum.Failed))
}

// remarkSweep prints where the results of a sweep are, and how many of them were verified. err is the error of the sweep.
func (a *app) remarkSweep(f sweepFlags, sum *sweep.Summary, isIncomplete bool, err error) {
	if f.watch && err == nil && sum.Interrupted {
		a.remark("ended by q after %d of %d runs", sum.Done, sum.Planned)
	}
	if dir := cmp.Or(f.out, f.resume); dir != "" {
		if isIncomplete {
			a.remark("%s is incomplete, see the error below", dir)
		} else {
			a.remark("results in %s", dir)
		}
		if sum.Interrupted || isIncomplete {
			a.remark("tui sweep --resume %s continues it", dir)
		}
	}
	if v := sum.Verified; v != nil && err == nil {
		a.remark("verified: %s gave the same results", words.Count(v.Runs, "repeated run"))
	}
}

// sweepOptions checks the flags and returns the options that they set, without the queue and the
// store.
func (a *app) sweepOptions(f sweepFlags) (o sweep.Options, err error) {
	o.Clock = a.clock
	if o.Verify, err = parseVerifyShare(f.verify); err != nil {
		return o, err
	}
	if f.verify == "" {
		o.VerifyQueued = 0.01
	}
	if o.Jobs, err = parallelRuns(f.jobs); err != nil {
		return o, err
	}
	if f.queue != "" {
		o.Jobs = f.jobs // 0 leaves the work to other machines
	}
	if f.queue != "" && f.serve != "" {
		return o, usagef("--queue and --serve both choose a server; expected one of them")
	}
	return o, a.checkWatch(f)
}

// checkWatch returns a usage error if --watch is set and there is no terminal to show the sweep.
func (a *app) checkWatch(f sweepFlags) error {
	switch {
	case !f.watch:
		return nil
	case a.asJSON:
		return usagef("--watch and --json both write to standard output; expected one of them")
	case !a.interactive():
		return usagef("--watch needs a terminal; omit it in scripts and pipes")
	}
	return f.look.check()
}

// sweepFunc is sweep.Run, or a function that also shows the sweep.
type sweepFunc func(context.Context, *sweep.Plan, sweep.Options) (*sweep.Summary, error)

// withWatch returns a function that runs a sweep and shows it on the screen. Quitting the screen
// ends the sweep, which is an error only after Ctrl-C, a signal or the end of the context; after the sweep has
// ended, the screen stays until the user quits. withWatch replaces the callbacks in o, so that progress, results and
// notices go to the screen.
func (a *app) withWatch(f sweepFlags, p *sweep.Plan, o *sweep.Options) sweepFunc {
	w := sweep.NewWatch(p)
	o.OnProgress, o.OnResult, o.OnNotice = w.SetProgress, w.AddResult, w.AddNotice
	dir := cmp.Or(f.out, f.resume)
	title := escape.Line(cmp.Or(p.Name, filepath.Base(dir)))
	view := sweepview.Sweep{Watch: w, Title: title, Dir: dir, Queue: f.queue != "" || f.serve != "", Clock: a.clock,
		Live: func(ctx context.Context, point int, name string) error {
			cfg := p.Points[point].Config.Clone()
			cfg.Duration = 0 // a point of a sweep is often too short to look at
			return a.showSession(ctx, cfg, dashboardFlags{lookFlags: f.look, reports: defaultReports()}, nil, name)
		},
		Export: func(fill func(io.Writer) error) (string, error) {
			if dir != "" {
				return a.writeNewCSV(filepath.Join(dir, "ranking"), fill)
			}
			return a.writeNewCSV("sweep-"+p.Name, fill)
		},
	}
	return func(ctx context.Context, p *sweep.Plan, o sweep.Options) (sum *sweep.Summary, err error) {
		err, screenErr := runWithScreen(ctx, func(ctx context.Context, _ func()) (err error) {
			sum, err = sweep.Run(ctx, p, o)
			o.Store.Close() // another process can use the folder while the screen stays
			if sum != nil {
				w.SetEnded(string(sum.Reason))
			}
			if err != nil {
				w.AddNotice(err.Error())
			}
			return err
		}, func(shown context.Context) error {
			return sweepview.Run(shown, view, ui.Options{ASCII: f.look.ascii, Theme: f.look.theme})
		})
		if errors.Is(screenErr, ui.ErrInterrupted) {
			screenErr = cmp.Or(context.Cause(ctx), context.Canceled)
		}
		if sum == nil && errors.As(err, new(*panics.Error)) {
			panic(err) // caught by app.run; the terminal is restored by now
		}
		for _, text := range w.State().Notices { // the screen that showed them is closed
			if err == nil || text != err.Error() { // err is printed when the command ends
				a.remark("%s", text)
			}
		}
		return sum, errors.Join(err, screenErr)
	}
}

// writeNewCSV writes a CSV file: base with the extension .csv or, if a file of this name exists, base-2.csv and so on.
// base is a path without the extension. writeNewCSV returns the absolute path.
func (a *app) writeNewCSV(base string, fill func(io.Writer) error) (path string, err error) {
	base, err = filepath.Abs(base)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path = base + ".csv"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.csv", base, n)
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, a.disk.WriteFile(path, 0o644, func(f *atomicfile.File) error { return fill(f) })
		} else if err != nil {
			return "", err
		}
	}
}

// collect makes the sweep with these options also store its results in memory, for --bench and
// --junit: it wraps o.OnResult. The returned function makes a report of the results after the sweep; it
// is nil if neither flag is set.
func (f *exportFlags) collect(p *sweep.Plan, o *sweep.Options) (makeReport func(*sweep.Summary) *report.Report) {
	if f.bench == "" && f.junit == "" {
		return nil
	}
	results, next := make([]*engine.Result, p.Runs()), o.OnResult // results[i] is nil until run i is complete
	o.OnResult = func(x sweep.Outcome) {
		results[x.Run] = x.Result
		if next != nil {
			next(x)
		}
	}
	return func(sum *sweep.Summary) *report.Report {
		return &report.Report{Runs: slices.DeleteFunc(results, func(r *engine.Result) bool { return r == nil }), Sweep: true,
			Planned: p.Runs(), Reason: sum.Reason, Interrupted: sum.Interrupted, Error: sum.Error}
	}
}

// sweepProgressText returns the text of the progress line: runs, then repeated runs while results
// are verified; with a queue also the number of workers.
func sweepProgressText(p sweep.Progress, f sweepFlags) string {
	text := fmt.Sprintf("%d of %d runs", p.Runs, p.Planned)
	switch {
	case p.ToVerify > 0:
		text = fmt.Sprintf("%d of %d runs repeated", p.Verified, p.ToVerify)
	case f.queue != "" || f.serve != "":
		text += ", " + words.Count(p.Workers, "worker")
	}
	return text
}

// loadPlan makes the plan of the sweep from the configuration or, with --resume, reads it from the
// folder of an unfinished sweep. The store writes the results to the folder of --out or --resume;
// it is nil without these flags.
func (a *app) loadPlan(ctx context.Context, f sweepFlags) (*sweep.Plan, *sweep.Store, error) {
	if f.resume != "" {
		if f.config.file != "" || f.config.preset != "" || f.out != "" || f.repeat != 0 || len(f.config.set) > 0 {
			return nil, nil, usagef("--resume %s continues the plan in that folder; expected no other configuration and no --out", f.resume)
		}
		store, plan, err := sweep.OpenStore(a.disk, f.resume, programVersion())
		return plan, store, err
	}
	c, err := f.config.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.repeat != 0 {
		if err := setRepeat(c, f.repeat); err != nil {
			return nil, nil, asUsageError(withFlag("--repeat "+strconv.Itoa(f.repeat), err))
		}
	}
	a.warn(c.Warnings())
	plan, err := sweep.NewPlan(ctx, c, programVersion())
	if plan != nil {
		plan.Name = strings.TrimSuffix(filepath.Base(cmp.Or(f.config.file, f.config.preset, "of flags")), ".toml")
	}
	if err != nil || f.out == "" {
		return plan, nil, err
	}
	store, err := sweep.NewStore(a.disk, f.out, plan, f.force)
	return plan, store, err
}

// setRepeat sets the number of seeds of each point to n. The number belongs to an axis of the
// sweep: the one that has it already, or a new one.
func setRepeat(c *config.Config, n int) error {
	index := len(c.Sweep) // index of a new axis
	for i, axis := range c.Sweep {
		if axis.Repeat > 0 {
			index = i
		}
	}
	if err := c.Set(config.Indexed("sweep", index)+".repeat", n); err != nil {
		return err
	}
	return c.Validate()
}

// openQueue opens the queue through which the sweep shares its work, and stores it in o.Queue: on
// an existing server with --queue, on a new one with --serve. Without these flags o.Queue stays
// nil. The caller must call closeQueue, which is never nil, after the sweep.
func (a *app) openQueue(ctx context.Context, f sweepFlags, o *sweep.Options) (closeQueue func(), err error) {
	doNothing := func() {}
	if f.queue != "" {
		options, hide, err := a.queueOptions(ctx, f.queue, f.tokenFile, f.ca)
		if err != nil {
			return doNothing, err
		}
		q, err := sweep.OpenQueue(ctx, options)
		if err != nil {
			return doNothing, hide(err)
		}
		o.Queue = q
		return q.Close, nil
	}
	if f.serve == "" {
		_, err := a.readToken(ctx, f.tokenFile) // not used, but a wrong file is reported
		return doNothing, err
	}
	tlsConfig, err := serverCertificate(f.cert, f.certKey)
	if err != nil {
		return doNothing, err
	}
	token, isNewToken, err := a.serverToken(ctx, f.tokenFile)
	if err != nil {
		return doNothing, err
	}
	server, err := sweep.Serve(f.serve, token, tlsConfig)
	if err != nil {
		return doNothing, serveError(f.serve, err)
	}
	q, err := server.Open(ctx)
	if err != nil {
		server.Close()
		return doNothing, err
	}
	o.Queue = q
	printQueueAddress(o.OnNotice, server.Addr(), token, isNewToken, tlsConfig != nil)
	return func() { q.Close(); server.Close() }, nil
}

// printQueueAddress prints the command that starts a worker for the server at addr. A new token is
// part of the printed URL, since the user cannot know it otherwise. It warns if the token travels
// unencrypted beyond this machine.
func printQueueAddress(printLine func(string), addr, token string, isNewToken, hasTLS bool) {
	scheme, tokenFlag := "nats", "--token-file FILE"
	if hasTLS {
		scheme = "tls"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && net.ParseIP(host).IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			addr = net.JoinHostPort(name, port) // workers cannot connect to 0.0.0.0
		}
	}
	url := scheme + "://" + addr
	if isNewToken {
		url, tokenFlag = scheme+"://"+token+"@"+addr, ""
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && !hasTLS {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			printLine(fmt.Sprintf("listening on %s without TLS: token and data are readable on the network; see --tls-cert", addr))
		}
	}
	printLine(strings.TrimSpace(fmt.Sprintf("workers join with: tui worker --queue %s %s", url, tokenFlag)))
}

// serveError returns the error of --serve as a usage error if the address is malformed or its host
// is unknown. Errors of the machine, such as a port in use, keep their kind and give exitMachine.
func serveError(addr string, err error) error {
	err = withFlag("--serve "+addr, err)
	var syntax *net.AddrError
	var unknown *net.DNSError
	if !isMachineError(err) || errors.As(err, &syntax) || errors.As(err, &unknown) {
		return asUsageError(err)
	}
	return err
}

// parseVerifyShare parses --verify. The share is 0 if text is empty.
func parseVerifyShare(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	v, ok := parseShare(text)
	if !ok || v < 0 || v > 1 {
		return 0, usagef("--verify %q makes no sense; expected a share of the runs, such as 1%%", text)
	}
	return v, nil
}

// programVersion returns the version of the program. Machines of a sweep, and its results, must
// have the same. The version of a build from a working tree includes a hash of the executable.
var programVersion = sync.OnceValue(func() string {
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

// fileHash returns the SHA-256 of a file.
func fileHash(name string) (sum []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
