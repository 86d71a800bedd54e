package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/experiment"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"

	"github.com/spf13/cobra"
)

type runFlags struct {
	config configFlags
	out    string
	force  bool
	others otherFiles
	remote remoteFlags
	jobs   int
	limit  timeLimit
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [FILE.toml]",
		GroupID: groupMeasure,
		Short:   "Run an experiment as fast as it goes, and report",
		Long: `Run an experiment in virtual time, as fast as it goes. The same configuration
gives the same bytes on every machine; only the timings differ.

Without a file or a preset it is the default experiment: the demo recording over
a perfect link. With [[sweep]] it runs once per value, over all cores.

--out writes a folder: report.json, report.md, report.html, samples.csv, packets.csv
and experiment.toml; at the top of a sweep also summary.csv. It is rewritten as the run
goes on, whole or not at all, so that an interruption loses at most a second. A folder
that holds the results of another run is refused, unless --force: then all of them give
way at once. So is a run whose histories may take more than 8 GB of memory, unless --force.

The report says why the run ended: reason is finished, assertion (it did not hold),
interrupted, data (it could not be read to its end), machine (the report could not be
written) or running. planned is how many runs there were to be, planned_s how long.

--to sends to another machine, where tui listen runs, and --udp to another end of this
process over loopback: in real time then, through the modelled link first. The report
holds what came in, so that tui replay repeats the run without the other machine.

--bench writes the figures in the format of Go's benchmarks, a line for each run, for
benchstat; --junit writes what was asserted for a CI system.

--timeout ends it as Ctrl-C does, with what was measured saved, and exits with 1.

Exits with 1 if an assertion does not hold. A reader of the output that leaves early
changes nothing about the exit code.`,
		Example: `  tui run --set link.loss=5% --set link.latency=50ms
  tui run experiment.toml --out report
  tui run experiment.toml --bench new.txt --junit results.xml
  tui run --to TOKEN@192.0.2.7:27970 --set duration=30s --out report
  tui run --preset loss-table --json | jq '.runs[] | {set, kbps: .totals.payload_kbps}'
  tui run --encoder rotor --data walk.bin.zst --set duration=10s --json`,
		Args: perhapsArg("a configuration in TOML"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.config.file = firstOf(args)
			return a.runExperiment(cmd, f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	f.config.add(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the report into this folder (`DIR`)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the results of another run in --out; run what may take more than 8 GB of memory")
	f.others.add(cmd)
	f.remote.add(cmd)
	f.limit.add(cmd)
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "runs of a [[sweep]] side by side (default: one a core)")
	a.addOutputFlags(cmd)
	return cmd
}

func (a *app) runExperiment(cmd *cobra.Command, f runFlags) error {
	jobs, err := jobsFlag(f.jobs)
	if err != nil {
		return err
	}
	ctx, done, err := f.limit.begin(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	config, err := f.config.load(ctx)
	if err != nil {
		return err
	}
	a.warn(config.Warnings())
	link, err := f.remote.open(ctx)
	if err != nil {
		return err
	}
	line := a.progress("run")
	result, err := experiment.Run(ctx, config, experiment.RunOptions{Progress: line.report, Packing: a.packing(line),
		Clock: a.clock, Dir: f.out, Force: f.force, Disk: a.disk, Remote: link.Link, Workers: jobs})
	line.done()
	link.close()
	if result != nil {
		if len(result.Runs) > 0 {
			a.warn(slices.DeleteFunc(slices.Clone(result.Runs[0].Warnings), func(w string) bool { return !strings.HasPrefix(w, "data: ") }))
		}
		err = errors.Join(err, a.forOthers(f.others, result))
	}
	if err != nil {
		if a.asJSON && result != nil {
			_ = a.stdout.json(result) // there is something worse to tell of
		}
		if f.out != "" && result != nil && (result.Reason == engine.BadData || result.Reason == engine.BadNetwork) && len(result.Runs) > 0 {
			a.remark("report in %s: what was measured until then", f.out)
		}
		return badData(err)
	}
	err = a.answer(result, func(w io.Writer) { writeReport(w, result) })
	if f.out != "" {
		a.remark("report in %s", f.out)
	}
	if result.Interrupted {
		return errors.Join(err, context.Cause(ctx))
	}
	return errors.Join(err, held(result.Failed()))
}

// otherFiles are what other programs read.
type otherFiles struct {
	bench string // in Go's benchmark format
	junit string // in JUnit's
}

func (f *otherFiles) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.bench, "bench", "", "write the figures in Go's benchmark format into this `FILE`")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write what was asserted in JUnit's format into this `FILE`")
}

// forOthers writes the files that other programs read.
func (a *app) forOthers(f otherFiles, r *report.Report) error {
	var errs []error
	for _, x := range []struct {
		path  string
		write func(io.Writer, *report.Report) error
	}{{f.bench, report.WriteBench}, {f.junit, report.WriteJUnit}} {
		if x.path == "" {
			continue
		}
		if err := a.disk.WriteFile(x.path, 0o644, func(w *atomicfile.File) error { return x.write(w, r) }); err != nil {
			errs = append(errs, unwritable(x.path, err))
		}
	}
	return errors.Join(errs...)
}

// badData marks what is wrong with a recording or a specification as the
// caller's to mend.
func badData(err error) error {
	if isDataError(err) {
		return usage(named(readable(err)))
	}
	return err
}

// remoteFlags say where the receiver is, if it is not here behind modelled links.
type remoteFlags struct {
	far farFlags
	udp bool
}

func (f *remoteFlags) add(cmd *cobra.Command) {
	f.far.add(cmd, "send to the machine where tui listen runs, in real time")
	cmd.Flags().BoolVar(&f.udp, "udp", false, "send to another end of this process, over loopback sockets, in real time")
}

// given reports whether packets are to go over a network.
func (f *remoteFlags) given() bool { return f.udp || f.far.to != "" }

// remoteLink is the near end of a session, with what closes it; nothing without a network.
type remoteLink struct {
	*remote.Link
	close func()
}

// open connects to the far end, if there is to be one.
func (f *remoteFlags) open(ctx context.Context) (remoteLink, error) {
	none := remoteLink{close: func() {}}
	switch {
	case f.udp && f.far.to != "":
		return none, usagef("--udp is a far end in this process and --to one in another; expected one of them")
	case f.udp:
		l, closeBoth, err := remote.NewLoopback(ctx)
		if err != nil {
			return none, fmt.Errorf("--udp: %w", err)
		}
		return remoteLink{l, func() { _ = closeBoth() }}, nil
	case f.far.to != "":
		s, err := f.far.dial(ctx, remote.Purpose)
		if err != nil {
			return none, err
		}
		return remoteLink{remote.NewLink(s, s.Remote().String()), func() { _ = s.Close() }}, nil
	case f.far.tokenFile != "":
		return none, usagef("--token-file is for --to HOST:PORT, which is not there")
	}
	return none, nil
}
