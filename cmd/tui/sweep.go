package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"wirelab/experiment/config"
	"wirelab/experiment/sweep"

	"github.com/spf13/cobra"
)

type sweepFlags struct {
	config                   configFlags
	out, resume              string
	queue, serve             string
	tokenFile, cert, certKey string
	ca                       string
	verify                   string
	repeat, jobs             int
	force, json              bool
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

Exits with 1 if an assertion does not hold, or if two machines differ.`,
		Example: `  tui sweep loss.toml --out results
  tui sweep --preset loss-table --repeat 30 --json
  tui sweep --resume results
  tui sweep loss.toml --out results --serve 0.0.0.0:4222 --verify 1%`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg("a configuration in TOML")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.config.file = args[0]
			}
			return a.sweep(cmd.Context(), f)
		},
		ValidArgsFunction: completeFiles("toml"),
	}
	f.config.add(cmd)
	f.config.addSet(cmd)
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
	a.addOutputFlags(cmd, &f.json)
	return cmd
}

// sweep runs the command.
func (a *app) sweep(ctx context.Context, f sweepFlags) error {
	share, err := parseShare(f.verify)
	if err != nil {
		return err
	}
	if f.queue != "" && f.serve != "" {
		return usagef("--queue and --serve are two servers; expected one")
	}
	plan, store, err := a.sweepPlan(ctx, f)
	if err != nil {
		return badData(err)
	}
	line := a.progress("sweep")
	var mu sync.Mutex
	o := sweep.Options{Clock: a.clock, Jobs: f.jobs, Verify: share, Store: store,
		Say: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			line.pause()
			a.remark("%s", text)
		},
		Tell: func(p sweep.Progress) { line.detail(float64(p.Runs), float64(p.Planned), sweepWords(p, f)) }}
	if f.queue == "" && o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	closeQueue, err := a.sweepQueue(ctx, f, &o)
	if err != nil {
		return err
	}
	defer closeQueue()
	sum, err := sweep.Run(ctx, plan, o)
	line.done()
	if f.json {
		err = errors.Join(err, a.stdout.json(sum))
	} else {
		_ = sum.Text(a.stdout) // swallows what nobody reads
	}
	if dir := cmp.Or(f.out, f.resume); dir != "" {
		a.remark("results in %s", dir)
	}
	if v := sum.Verified; v != nil && err == nil {
		a.remark("%d runs repeated here: the same", v.Runs)
	}
	if err == nil && sum.Interrupted {
		return ctx.Err()
	}
	return errors.Join(badData(err), held(sum.Failed))
}

// sweepWords says how far a sweep is, beside the share of it.
func sweepWords(p sweep.Progress, f sweepFlags) string {
	text := fmt.Sprintf("%d runs of %d", p.Runs, p.Planned)
	switch {
	case p.Verify > 0:
		text = fmt.Sprintf("repeated %d of %d", p.Verified, p.Verify)
	case (f.queue != "" || f.serve != "") && p.Workers == 1:
		text += ", 1 worker"
	case f.queue != "" || f.serve != "":
		text += fmt.Sprintf(", %d workers", p.Workers)
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
	token, err := readToken(f.tokenFile)
	if err != nil {
		return none, err
	}
	if f.queue != "" {
		trusted, err := authority(f.ca)
		if err != nil {
			return none, err
		}
		q, err := sweep.OpenQueue(ctx, sweep.QueueOptions{URL: f.queue, Token: token, TLS: trusted})
		if err != nil {
			return none, err
		}
		o.Queue = q
		return q.Close, nil
	}
	if f.serve == "" {
		return none, nil
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
	a.sayServed(s.Addr(), token, printed, secure != nil)
	return func() { q.Close(); s.Close() }, nil
}

// sayServed says how workers get in, and who can hear them.
func (a *app) sayServed(addr, token string, printed, secure bool) {
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
	a.remark("workers join with: %s", strings.TrimSpace("tui worker --queue "+at+" "+words))
	if host, _, err := net.SplitHostPort(addr); err == nil && !secure {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			a.remark("listening on %s without TLS: whoever is on the way can read token and data; see --tls-cert", addr)
		}
	}
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

// authority reads the certificates of those who vouch for a server; nil without a file:
// then they are the system's.
func authority(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	data, err := config.ReadFile(file, 1<<20, "certificates in PEM")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, usagef("--tls-ca %s: holds no certificate; expected PEM", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// newToken makes a token that nobody can guess.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// maxToken bounds a token file.
const maxToken = 4096

// readToken reads a token from a file, without the white space around it; "" without one.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := config.ReadFile(path, maxToken, "a file with a token")
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", usagef("--token-file %s: is empty; expected a token", path)
	}
	return token, nil
}

// certificate reads what a server proves itself with; nil without one.
func certificate(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usage(prefixed("--tls-cert "+cert, err))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// parseShare reads a share such as 1% or 0.01; 0 for none.
func parseShare(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
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
	sum, err := hashFile(self)
	if err != nil {
		return v
	}
	return v + "-" + sum[:12]
})
