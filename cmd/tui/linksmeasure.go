package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/experiment/remote/channel"
	"wirelab/experiment/remote/probe"
	"wirelab/internal/atomicfile"
	"wirelab/internal/quantile"
	"wirelab/internal/units"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
	"wirelab/lossmodel/relay"
)

// farFlags say where the far end is, and how to get in.
type farFlags struct{ to, tokenFile string }

func (f *farFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.to, "to", "", what+" (`TOKEN@HOST:PORT`, or HOST:PORT with --token-file)")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "the token of tui listen is in this `FILE`")
}

// dial begins a session with a far end.
func (f *farFlags) dial(ctx context.Context, purpose uint8) (*channel.Session, error) {
	text, addr, inline := strings.Cut(f.to, "@")
	if !inline {
		text, addr = "", f.to
	}
	if inline && f.tokenFile != "" {
		return nil, usagef("--to and --token-file both have a token; expected one")
	}
	if !inline {
		kept, err := readToken(f.tokenFile)
		if err != nil {
			return nil, err
		}
		text = kept
	}
	if text == "" {
		return nil, usagef("--to %s has no token; expected --to TOKEN@%s, as tui listen prints it, or --token-file", addr, addr)
	}
	token, err := channel.ParseToken(text)
	if err != nil {
		return nil, usage(prefixed("--to", err))
	}
	at, err := relay.ParseAddress(ctx, addr)
	if err == nil {
		err = relay.CheckServer(netip.AddrPort{}, at)
	}
	if err != nil {
		return nil, usage(prefixed("--to", err))
	}
	s, err := channel.Dial(ctx, at, purpose, channel.Options{Token: token})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return s, nil
}

type measureFlags struct {
	far           farFlags
	seconds, rate float64
	up, down      int
	record        string
}

func (a *app) linksMeasureCommand() *cobra.Command {
	var f measureFlags
	cmd := &cobra.Command{
		Use:   "measure --to TOKEN@HOST:PORT",
		Short: "Measure the path to another machine and find the link that does the same",
		Long: `Send datagrams of a game's sizes and rate to another machine, where tui listen runs, and
have it send its own; fit a link to what became of them. The tables [up], to that machine,
and [down], back from it, are a configuration that run, proxy and all others take.

Two machines have two clocks, so delays of one direction are relative to its fastest
hundredth, and those of both are taken to have needed the same: a path that is slower one
way than the other cannot be told from one that is not. What varies, what is lost,
overtaken or comes twice is measured each way. Clocks drift, too: one that is off by
50 millionths adds 1.5 ms to the delays of 30 seconds, which looks like jitter.

Sizes are of the UDP payload. A token in --to stands in the list of processes, where other
people of the machine can read it: among others, keep it in a file, for --token-file.`,
		Example: `  tui links measure --to TOKEN@game.example.org:27970
  tui links measure --to 192.0.2.7:27970 --token-file token --seconds 60 > path.toml
  tui links measure --to TOKEN@192.0.2.7:27970 --rate 30 --down 1200 --record path.csv --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.linksMeasure(cmd.Context(), &f) },
	}
	f.far.add(cmd, "the machine where tui listen runs")
	flags := cmd.Flags()
	flags.Float64Var(&f.seconds, "seconds", 30, "how long to measure")
	flags.Float64Var(&f.rate, "rate", 60, "datagrams a second, each way")
	flags.IntVar(&f.up, "up", 100, "`BYTES` of a datagram to the far end")
	flags.IntVar(&f.down, "down", 500, "`BYTES` of a datagram back")
	flags.StringVar(&f.record, "record", "", "write the captures as CSV: x.csv becomes x.up.csv and x.down.csv (`FILE`)")
	a.addOutputFlags(cmd)
	return cmd
}

// plan reads what is to be sent.
func (f *measureFlags) plan() (probe.Plan, error) {
	if f.far.to == "" {
		return probe.Plan{}, usagef("tui links measure expects --to TOKEN@HOST:PORT, where tui listen runs")
	}
	if !(f.rate > 0 && f.rate <= 1e6) || !(f.seconds > 0 && f.seconds <= 1e6) {
		return probe.Plan{}, usagef("--seconds %v and --rate %v make no sense; expected numbers above 0", f.seconds, f.rate)
	}
	p := probe.Plan{Duration: time.Duration(f.seconds * 1e9).Round(time.Millisecond), Up: f.up, Down: f.down,
		Interval: time.Duration(1e9 / f.rate).Round(time.Microsecond)}
	if err := p.Check(); err != nil {
		return p, usage(err)
	}
	if n := p.Packets(); n < measure.LeastFit {
		return p, usagef("%d datagrams each way are too few to fit a link to; expected at least %d", n, measure.LeastFit)
	}
	return p, nil
}

// measuredPath is the JSON of `links measure`.
type measuredPath struct {
	To         string      `json:"to"`
	Seconds    float64     `json:"seconds"`
	IntervalUS float64     `json:"interval_us"`
	UpBytes    int         `json:"up_bytes"`
	DownBytes  int         `json:"down_bytes"`
	Trips      tripTimes   `json:"round_trip_ms"`
	Base       float64     `json:"base_ms"`  // what the fastest hundredth of each direction is taken to have needed
	Slack      float64     `json:"slack_ms"` // how far chance may have moved that
	Overhead   channelCost `json:"channel"`
	Up         fitInfo     `json:"up"`
	Down       fitInfo     `json:"down"`
	Table      string      `json:"toml"` // both tables
}

type tripTimes struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

// channelCost is what was sent and read here in all, with handshake, agreement and
// results; and what was dropped, by cause.
type channelCost struct {
	OutBytes uint64            `json:"out_bytes"`
	InBytes  uint64            `json:"in_bytes"`
	Dropped  map[string]uint64 `json:"dropped"`
}

func (a *app) linksMeasure(ctx context.Context, f *measureFlags) error {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	s, err := f.far.dial(ctx, probe.Purpose)
	if err != nil {
		return err
	}
	defer s.Close()
	a.remark("measuring the path to %s for %v: %d datagrams each way, of %d bytes up and %d down", s.Remote(), plan.Duration,
		plan.Packets(), plan.Up, plan.Down)
	line := a.progress("measure")
	path, err := probe.Measure(ctx, s, plan, func(share float64) { line.report(share, 1) })
	line.done()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Remote(), err)
	}
	if err := f.write(a, path); err != nil {
		return err
	}
	return a.sayMeasured(path, s)
}

// write writes the captures.
func (f *measureFlags) write(a *app, p *probe.Path) error {
	if f.record == "" {
		return nil
	}
	stem := strings.TrimSuffix(f.record, ".csv")
	for _, x := range []struct {
		name    string
		capture *capture.Capture
	}{{stem + ".up.csv", &p.Up}, {stem + ".down.csv", &p.Down}} {
		err := a.disk.WriteFile(x.name, 0o644, func(f *atomicfile.File) error {
			return capture.Write(f, slices.Values(x.capture.Packets))
		})
		if err != nil {
			return usage(unwritable(x.name, err))
		}
		a.remark("wrote %s", x.name)
	}
	return nil
}

// sayMeasured fits both directions and tells.
func (a *app) sayMeasured(p *probe.Path, s *channel.Session) error {
	ms := func(q float64) float64 { return units.Milliseconds(quantile.LowerRank(p.Trips, q)) }
	doc := measuredPath{To: s.Remote().String(), Seconds: p.Plan.Duration.Seconds(), IntervalUS: float64(p.Plan.Interval) / 1e3,
		UpBytes: p.Plan.Up, DownBytes: p.Plan.Down, Trips: tripTimes{len(p.Trips), ms(0), ms(0.5), ms(0.99)},
		Base: float64(p.Base) / 1e6, Slack: float64(p.Slack) / 1e6}
	books := s.Books()
	doc.Overhead = channelCost{books.OutBytes, books.InBytes, books.ByName()}
	var fits [2]measure.FitResult
	for i, c := range []*capture.Capture{&p.Up, &p.Down} {
		var err error
		if fits[i], err = measure.Fit(c); err != nil {
			return fmt.Errorf("nothing can be fitted to what came: %w", err)
		}
	}
	for i := range fits {
		widen(&fits[i], float64(p.Slack)/1e6)
	}
	assumed := fmt.Sprintf("# The path to %s: round trips of %.3f ms at least, %.3f at the median, %.3f for 99 of 100.\n"+
		"# The clocks differ: the fastest hundredth of either way is taken to have needed the same, %.3f ms, half of the sum;\n"+
		"# chance may have moved that by %.3f ms.\n", doc.To, doc.Trips.Min, doc.Trips.P50, doc.Trips.P99, doc.Base, doc.Slack)
	doc.Up, doc.Down = newFitInfo("up", "", &fits[0]), newFitInfo("down", "", &fits[1])
	doc.Table = assumed + doc.Up.Table + doc.Down.Table
	if p.Beyond > 0 {
		a.remark("tui: warning: %d further copies were not looked at", p.Beyond)
	}
	return a.answer(doc, func(w io.Writer) {
		fmt.Fprintln(w, assumed)
		writeFit(w, fits[0].Table("up"), &fits[0])
		fmt.Fprintln(w)
		writeFit(w, fits[1].Table("down"), &fits[1])
	})
}

// widen makes room in the interval of the mean delay for what is not known of its zero.
func widen(f *measure.FitResult, slack float64) {
	for i := range f.Estimates {
		if e := &f.Estimates[i]; e.Name == "mean delay" {
			e.Low, e.High = max(0, e.Value-math.Hypot(e.Value-e.Low, slack)), e.Value+math.Hypot(e.High-e.Value, slack)
		}
	}
}
