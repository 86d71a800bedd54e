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

	"wirelab/experiment/remote"
	"wirelab/internal/atomicfile"
	"wirelab/internal/quantile"
	"wirelab/internal/units"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
	"wirelab/lossmodel/relay"
)

// peerFlags name the peer on another machine, where tui listen runs, and its token.
type peerFlags struct {
	to        string // TOKEN@HOST:PORT, or HOST:PORT with tokenFile
	tokenFile string // path of a file with the token; "" if the token is in to
}

// add registers the flags. purpose describes in the help what --to is for.
func (f *peerFlags) add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.to, "to", "", purpose+": `TOKEN@HOST:PORT`, or HOST:PORT with --token-file")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "read the token of tui listen from this `FILE`")
}

// dial opens a session with the peer, for a run or a measurement. Errors in the flags are usage errors.
func (f *peerFlags) dial(ctx context.Context, a *app, purpose remote.Purpose) (*remote.Conn, error) {
	separator := strings.LastIndex(f.to, "@")
	hasToken := separator >= 0
	tokenText, addr := f.to[:max(separator, 0)], f.to[separator+1:]
	if hasToken && f.tokenFile != "" {
		return nil, usagef("--to and --token-file both contain a token; expected one of them")
	}
	if !hasToken {
		stored, err := a.readToken(ctx, f.tokenFile)
		if err != nil {
			return nil, err
		}
		tokenText = stored
	}
	if tokenText == "" {
		return nil, usagef("--to has no token; expected --to TOKEN@HOST:PORT, as tui listen prints it, or --token-file FILE")
	}
	token, err := remote.ParseToken(tokenText)
	if err != nil {
		return nil, asUsageError(withFlag("--to", err))
	}
	addrPort, err := relay.ParseAddress(ctx, addr)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil: // err repeats the text, which may be a token
		return nil, usagef("--to: no address, or the host is not found; expected TOKEN@HOST:PORT, or HOST:PORT with --token-file")
	}
	noListener := netip.AddrPort{} // the check for the program's own address does not apply
	if err := relay.CheckServer(noListener, addrPort); err != nil {
		return nil, asUsageError(withFlag("--to", err))
	}
	c, err := remote.Dial(ctx, addrPort, token, purpose)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addrPort, err)
	}
	return c, nil
}

// measureFlags are the flags of tui links measure.
type measureFlags struct {
	peer          peerFlags
	seconds, rate float64 // duration; datagrams per second in each direction
	up, down      int     // payload bytes of each datagram to the peer, and from it
	record        string  // path from which the names of both captures are made; "" for no captures
}

// linksMeasureCommand returns tui links measure.
func (a *app) linksMeasureCommand() *cobra.Command {
	var f measureFlags
	cmd := &cobra.Command{
		Use:   "measure --to TOKEN@HOST:PORT",
		Short: "Measure the path to another machine and fit a link to it",
		Long: `Exchange datagrams with another machine, where tui listen runs, with the sizes and the
rate of a game, and fit links to their outcomes. The result, a table [up] to that machine
and a table [down] back from it, is a configuration for run, proxy and other commands.

The two machines have different clocks, so one-way delays cannot be measured absolutely.
The fastest 1 % of packets are assumed to take the same time in both directions; a path
that is slower in one direction cannot be detected. Jitter, loss, reordering and
duplication are measured in each direction. Clock drift looks like jitter: a drift of
50 ppm adds 1.5 ms to the delays within 30 seconds.

Sizes are bytes of UDP payload, of which encryption takes 24 and a number 4. Other users of this machine can read a token in --to in
the list of processes; on a shared machine, use --token-file instead.`,
		Example: `  tui links measure --to TOKEN@game.example.org:27970
  tui links measure --to 192.0.2.7:27970 --token-file token --seconds 60 > path.toml
  tui links measure --to TOKEN@192.0.2.7:27970 --rate 30 --down 1200 --record path.csv --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.linksMeasure(cmd.Context(), &f) },
	}
	f.peer.add(cmd, "measure the path to the machine where tui listen runs")
	flags := cmd.Flags()
	flags.Float64Var(&f.seconds, "seconds", 30, "duration of the measurement in seconds")
	flags.Float64Var(&f.rate, "rate", 60, "datagrams per second in each direction")
	flags.IntVar(&f.up, "up", 100, "payload `BYTES` of each datagram to the peer")
	flags.IntVar(&f.down, "down", 500, "payload `BYTES` of each datagram from the peer")
	flags.StringVar(&f.record, "record", "", "write the captures as CSV; `FILE` x.csv gives x.up.csv and x.down.csv")
	a.addOutputFlags(cmd)
	return cmd
}

// newPlan checks the flags and returns what to send.
func (f *measureFlags) newPlan() (remote.Plan, error) {
	if f.peer.to == "" {
		return remote.Plan{}, usagef("tui links measure expects --to TOKEN@HOST:PORT, the address of tui listen")
	}
	// The negated conditions refuse NaN too.
	if !(f.rate > 0 && f.rate <= 1e6) || !(f.seconds > 0 && f.seconds <= 1e6) {
		return remote.Plan{}, usagef("--seconds %v or --rate %v is out of range; expected numbers above 0, up to 1000000", f.seconds, f.rate)
	}
	p := remote.Plan{Duration: time.Duration(f.seconds * 1e9).Round(time.Millisecond), Up: f.up, Down: f.down,
		Interval: time.Duration(1e9 / f.rate).Round(time.Microsecond)}
	if err := p.Check(); err != nil {
		return p, asUsageError(err)
	}
	if n := p.Packets(); n < measure.MinFitPackets {
		return p, usagef("%d datagrams per direction are too few to fit a link; expected at least %d", n, measure.MinFitPackets)
	}
	return p, nil
}

// measuredPath is the JSON output of tui links measure.
type measuredPath struct {
	To         string       `json:"to"`
	Seconds    float64      `json:"seconds"`
	IntervalUS float64      `json:"interval_us"`
	UpBytes    int          `json:"up_bytes"`
	DownBytes  int          `json:"down_bytes"`
	Trips      roundTrips   `json:"round_trip_ms"`
	Base       float64      `json:"base_ms"`  // assumed one-way delay of the fastest 1 % of packets
	Slack      float64      `json:"slack_ms"` // uncertainty of Base
	Datagrams  remote.Stats `json:"datagrams"`
	Up         fitInfo      `json:"up"`
	Down       fitInfo      `json:"down"`
	Table      string       `json:"toml"` // the tables [up] and [down] of a configuration
}

// roundTrips summarises the measured round-trip times in milliseconds.
type roundTrips struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

// linksMeasure measures the path to the peer and writes the fitted links.
func (a *app) linksMeasure(ctx context.Context, f *measureFlags) error {
	plan, err := f.newPlan()
	if err != nil {
		return err
	}
	c, err := f.peer.dial(ctx, a, remote.MeasurePurpose)
	if err != nil {
		return err
	}
	defer c.Close()
	a.remark("measuring the path to %s for %v: %d datagrams per direction, %d bytes up and %d bytes down", c.Remote(), plan.Duration,
		plan.Packets(), plan.Up, plan.Down)
	line := a.progress("measure")
	path, err := remote.Measure(ctx, c, plan, func(share float64) { line.report(share, 1) })
	line.done()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Remote(), err)
	}
	if err := f.writeCaptures(a, path); err != nil {
		return err
	}
	return a.writeMeasured(path, c)
}

// writeCaptures writes the captures of both directions as CSV, if --record is set.
func (f *measureFlags) writeCaptures(a *app, p *remote.Path) error {
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
			return asUsageError(writeError(x.name, err))
		}
		a.remark("wrote %s", x.name)
	}
	return nil
}

// writeMeasured fits a link to each direction of a measured path and writes the result. c is the
// connection over which the path was measured.
func (a *app) writeMeasured(p *remote.Path, c *remote.Conn) error {
	ms := func(q float64) float64 { return units.Milliseconds(quantile.LowerRank(p.RoundTrips, q)) } // quantile q of the round trips
	doc := measuredPath{To: c.Remote().String(), Seconds: p.Plan.Duration.Seconds(), IntervalUS: float64(p.Plan.Interval) / 1e3,
		UpBytes: p.Plan.Up, DownBytes: p.Plan.Down, Trips: roundTrips{len(p.RoundTrips), ms(0), ms(0.5), ms(0.99)},
		Base: float64(p.Base) / 1e6, Slack: float64(p.BaseError) / 1e6, Datagrams: c.Stats()}
	var fits [2]measure.FitResult // the uplink, then the downlink
	for i, x := range []*capture.Capture{&p.Up, &p.Down} {
		var err error
		if fits[i], err = measure.Fit(x); err != nil {
			return fmt.Errorf("no link can be fitted to the received datagrams: %w", err)
		}
	}
	for i := range fits {
		widenMeanDelay(&fits[i], float64(p.BaseError)/1e6)
	}
	header := fmt.Sprintf("# Path to %s: round trip min %.3f ms, median %.3f ms, p99 %.3f ms.\n"+
		"# The fastest 1 %% of packets of each direction are assumed to take half of their round trip, %.3f ms:\n"+
		"# the clocks of the two machines differ, so one direction cannot be measured alone. Uncertainty: %.3f ms.\n", doc.To, doc.Trips.Min, doc.Trips.P50, doc.Trips.P99, doc.Base, doc.Slack)
	doc.Up, doc.Down = newFitInfo("up", "", &fits[0]), newFitInfo("down", "", &fits[1])
	doc.Table = header + doc.Up.Table + doc.Down.Table
	if p.DroppedCopies > 0 { // a capture stores only some copies of a datagram
		a.remark("tui: warning: %d further copies of datagrams were ignored", p.DroppedCopies)
	}
	return a.writeResult(doc, func(w io.Writer) {
		fmt.Fprintln(w, header)
		writeFit(w, fits[0].Table("up"), &fits[0])
		fmt.Fprintln(w)
		writeFit(w, fits[1].Table("down"), &fits[1])
	})
}

// widenMeanDelay adds slackMS, the uncertainty of the assumed minimum delay, to the confidence
// interval of the mean delay. Independent errors add as squares.
func widenMeanDelay(f *measure.FitResult, slackMS float64) {
	for i := range f.Estimates {
		if e := &f.Estimates[i]; e.Name == "mean delay" {
			e.Low, e.High = max(0, e.Value-math.Hypot(e.Value-e.Low, slackMS)), e.Value+math.Hypot(e.High-e.Value, slackMS)
		}
	}
}
