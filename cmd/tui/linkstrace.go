package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
)

func (a *app) linksTraceCommand() *cobra.Command {
	var link linkFlags
	var traffic trafficFlags
	up := false
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Send packets over a link and write what became of each as CSV",
		Long: `Send packets over a link and write what became of each, and of each copy:
seq,send_us,recv_us,copy, where recv_us may be "lost". links fit takes that back,
and so does the key trace of a link: down.trace = "FILE.csv".

A line of netem decides packet by packet as Linux does with its seed:

  tui links trace --netem "loss gemodel 1% 20% seed 1" --packets 200000`,
		Example: `  tui links trace --profile lte --packets 10000 > lte.csv
  tui links trace --set down.loss=5% --set down.burst=3 --packets 100000 | tui links fit -
  tui links trace --config experiment.toml --up --interval 16.667ms --packets 3600`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.linksTrace(cmd, &link, &traffic, up) },
	}
	link.add(cmd)
	traffic.add(cmd, 10_000, time.Millisecond, 64)
	cmd.Flags().StringVar(&link.profile, "profile", "", "the links of this profile; see tui links (`NAME`)")
	cmd.Flags().BoolVar(&up, "up", false, "the link back to the sender instead of the one to the receiver")
	a.addQuiet(cmd)
	complete(cmd, "profile", profileNames)
	return cmd
}

func (a *app) linksTrace(cmd *cobra.Command, f *linkFlags, traffic *trafficFlags, up bool) error {
	if err := traffic.check(); err != nil {
		return err
	}
	link, err := f.load(cmd)
	if err != nil {
		return err
	}
	chosen := link.side(up)
	a.warn(warnings(chosen))
	var rows []capture.Packet
	err = a.await(cmd.Context(), "trace", func() (err error) {
		rows, err = measure.Trace(chosen.spec, link.seed, traffic.Traffic)
		return usage(err)
	})
	if err != nil {
		return err
	}
	return capture.Write(a.stdout, slices.Values(rows))
}
