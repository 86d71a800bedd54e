package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"wirelab/experiment"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"

	"github.com/spf13/cobra"
)

// runFlags are the flags of tui run.
type runFlags struct {
	config  configFlags
	out     string // folder for the report; "" for none
	force   bool   // replace other results in out; allow more than 8 GB of memory
	exports exportFlags
	remote  remoteFlags
	jobs    int // parallel runs of a sweep; 0 means one per core
	timeout timeLimit
}

// runCommand returns tui run.
func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Run an experiment at full speed and report the results",
		Long: `Run an experiment in virtual time, at full speed. The same configuration gives the
same bytes on every machine; only the timings differ.

Without a file or a preset it runs the default experiment: the demo recording over
a perfect link. With [[sweep]] it runs once per value, on all cores.

--out writes a folder with report.json, report.md, report.html, samples.csv, packets.csv
and experiment.toml; a sweep also writes summary.csv. The files are replaced atomically
during the run, so that an interruption loses at most one second of results. If the folder
holds the results of another run, the command fails; --force replaces them. --force also
allows a run that may need more than 8 GB of memory for its histories.

The field "reason" of the report is the reason why the run ended: finished, assertion (an
assertion failed), interrupted, data (the data could not be read to the end), machine (the
report could not be written) or running. "planned" is the planned number of runs and
"planned_s" their planned duration.

--to sends to another machine on which tui listen runs, and --udp to a receiver in this
process over loopback sockets. Both run in real time, and packets pass the modelled link
first. Such a run cannot be replayed, and its report says so.

--bench writes the figures in the format of Go benchmarks, one line per run, for benchstat.
--junit writes the assertions for a CI system.

--timeout stops the run as Ctrl-C does: what was measured is saved, and the exit code is 1.

The exit code is 1 if an assertion fails. It does not change if the reader of the output
closes the pipe early.`,
		Example: `  tui run --set link.loss=5% --set link.latency=50ms
  tui run experiment.toml --out report
  tui run experiment.toml --bench new.txt --junit results.xml
  tui run --to TOKEN@192.0.2.7:27970 --set duration=30s --out report
  tui run --preset loss-table --json | jq '.runs[] | {set, kbps: .totals.payload_kbps}'
  tui run --encoder rotor --data walk.bin.zst --set duration=10s --json`,
		Args: optionalArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.file = firstArg(args)
			return a.runExperiment(cmd, f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.config.add(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the report to folder `DIR`")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the results of another run in --out; allow more than 8 GB of memory")
	f.exports.add(cmd)
	f.remote.add(cmd)
	f.timeout.add(cmd)
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "number of parallel runs of a [[sweep]] (default: one per core)")
	a.addOutputFlags(cmd)
	return cmd
}

// runExperiment runs the experiment and writes its results. If the run fails, it still writes
// what was measured until then, in the formats of the flags, but no text.
func (a *app) runExperiment(cmd *cobra.Command, f runFlags) error {
	jobs, err := parallelRuns(f.jobs)
	if err != nil {
		return err
	}
	ctx, stopTimer, err := f.timeout.start(cmd.Context())
	if err != nil {
		return err
	}
	defer stopTimer()
	cfg, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	a.warn(cfg.Warnings())
	link, err := f.remote.open(ctx, a) // link.Link is nil without --to and --udp
	if err != nil {
		return err
	}
	line := a.progress("run")
	result, err := experiment.Run(ctx, cfg, experiment.RunOptions{
		Progress: line.report,
		Packing:  a.packingProgress(line), // shows the patches that file transfers make before they begin
		Clock:    a.clock, Dir: f.out, Force: f.force, Disk: a.disk, Remote: link.Link, Workers: jobs})
	line.done()
	link.close()
	if result != nil {
		if len(result.Runs) > 0 { // print only the warnings about data; those about links are printed above
			a.warn(slices.DeleteFunc(slices.Clone(result.Runs[0].Warnings), func(w string) bool { return slices.Contains(cfg.Warnings(), w) }))
		}
		result.File = cmp.Or(f.config.file, f.config.preset)
		err = errors.Join(err, a.writeExports(f.exports, result))
	}
	if err != nil {
		if a.asJSON && result != nil {
			_ = a.stdout.json(result) // the error of the run is more important than a write error
		}
		// Bad data or a broken network end a run that has measured something. After other errors, such
		// as a full disk, the report may be missing or incomplete.
		runEndedEarly := result != nil && (result.Reason == engine.BadData || result.Reason == engine.BadNetwork) && len(result.Runs) > 0
		if f.out != "" && runEndedEarly && !errors.Is(err, report.ErrWrite) {
			a.remark("report in %s, with what was measured until the error", f.out)
		}
		return markDataError(err)
	}
	err = a.writeResult(result, func(w io.Writer) { writeReport(w, result) })
	if f.out != "" {
		a.remark("report in %s", f.out)
	}
	if result.Interrupted {
		return errors.Join(err, context.Cause(ctx))
	}
	return errors.Join(err, newFailure(result.Failed()))
}

// exportFlags name files that are written for other programs; "" means not written.
type exportFlags struct {
	bench string // path of a file with the figures in the format of Go benchmarks
	junit string // path of a file with the assertions in JUnit XML
}

// add registers the flags.
func (f *exportFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.bench, "bench", "", "write the figures in the format of Go benchmarks to this `FILE`")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write the assertions in JUnit format to this `FILE`")
}

// writeExports writes the files of exportFlags.
func (a *app) writeExports(f exportFlags, r *report.Report) error {
	var errs []error
	for _, export := range []struct {
		path  string
		write func(io.Writer, *report.Report) error
	}{{f.bench, report.WriteBench}, {f.junit, report.WriteJUnit}} {
		if export.path == "" {
			continue
		}
		if err := a.disk.WriteFile(export.path, 0o644, func(w *atomicfile.File) error { return export.write(w, r) }); err != nil {
			errs = append(errs, writeError(export.path, err))
		}
	}
	return errors.Join(errs...)
}

// markDataError returns err as a usage error if it is an error in the data or its specification,
// else unchanged.
func markDataError(err error) error {
	if isDataError(err) {
		return asUsageError(withSuggestion(withoutSyscall(err)))
	}
	return err
}

// remoteFlags choose a receiver outside of this session: on another machine, or behind a loopback
// socket.
type remoteFlags struct {
	peer peerFlags
	udp  bool // send to a receiver in this process, over loopback sockets
}

// add registers the flags.
func (f *remoteFlags) add(cmd *cobra.Command) {
	f.peer.add(cmd, "send in real time to the machine where tui listen runs")
	cmd.Flags().BoolVar(&f.udp, "udp", false, "send in real time to a receiver in this process, over loopback sockets")
}

// given reports whether packets go over a network.
func (f *remoteFlags) given() bool { return f.udp || f.peer.to != "" }

// remoteLink is the sending side of a session over a network, with the function that closes it.
// Link is nil without a network; close is never nil.
type remoteLink struct {
	*remote.Link
	close func()
}

// open connects to the peer that the flags name, if any. The caller must call close of the result
// unless open fails.
func (f *remoteFlags) open(ctx context.Context, a *app) (remoteLink, error) {
	none := remoteLink{close: func() {}}
	switch {
	case f.udp && f.peer.to != "":
		return none, usagef("--udp and --to both choose a receiver; expected one of them")
	case f.udp:
		l, closeBoth, err := remote.NewLoopback(ctx)
		if err != nil {
			return none, fmt.Errorf("--udp: %w", err)
		}
		return remoteLink{l, func() { _ = closeBoth() }}, nil
	case f.peer.to != "":
		c, err := f.peer.dial(ctx, a, remote.SessionPurpose)
		if err != nil {
			return none, err
		}
		return remoteLink{remote.NewLink(c, c.Remote().String()), func() { _ = c.Close() }}, nil
	case f.peer.tokenFile != "":
		return none, usagef("--token-file needs --to HOST:PORT")
	}
	return none, nil
}
