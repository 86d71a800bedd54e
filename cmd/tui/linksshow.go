package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/internal/words"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
)

// Widths of pictures in columns, including "# " at the start of each line, which makes them
// comments. Wider pictures than defaultWidth show no more detail.
const (
	minWidth     = measure.MinWidth + len("# ")
	defaultWidth = 80
)

// linkInfo is the JSON output of tui links show.
type linkInfo struct {
	profileInfo
	Seed     uint64                   `json:"seed"`
	Packets  int                      `json:"packets"`
	Measured map[string]measure.Stats `json:"measured"` // by direction; "up" is missing if the uplink is perfect
}

// showFlags are the flags of tui links show.
type showFlags struct {
	link    linkFlags
	traffic trafficFlags
	ascii   bool
}

// linksShowCommand returns tui links show.
func (a *app) linksShowCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the settings of a link and draw its effect on packets",
		Long: `Print the settings of a link as tables of a configuration and, in comments, charts of its
effect on packets: a histogram of delays, the lengths of loss bursts, and the first 500
packets one by one. Settings at their defaults are omitted.

By default the packets are those of a game: 60 per second of 256 bytes.`,
		Example: `  tui links show lte
  tui links show starlink --ascii --interval 1ms --packets 100000
  tui links show --set down.loss=5% --set down.burst=3
  tui links show lte --json`,
		Args:              f.link.profileArg,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.linksShow(cmd, &f) },
		ValidArgsFunction: completeArg(profileNames, cobra.ShellCompDirectiveNoFileComp),
	}
	f.link.add(cmd)
	f.traffic.add(cmd, 20_000, 16_667*time.Microsecond, 256) // defaults: number of packets, interval, bytes of a packet
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	a.addOutputFlags(cmd)
	return cmd
}

// linksShow writes the settings and the pictures of both directions of a link, or measurements in
// JSON. The picture of an uplink that equals the downlink is omitted.
func (a *app) linksShow(cmd *cobra.Command, f *showFlags) error {
	if err := f.traffic.check(); err != nil {
		return err
	}
	link, err := f.link.load(cmd)
	if err != nil {
		return err
	}
	a.warn(linkWarnings(link.directions...))
	captures := make([]*capture.Sequence, len(link.directions))
	err = a.await(cmd.Context(), "show", func() error {
		for i, s := range link.directions {
			rows, err := measure.Trace(s.spec, link.seed, f.traffic.Traffic)
			if err != nil {
				return asUsageError(err)
			}
			if captures[i], err = (&capture.Capture{Packets: rows, HasSent: true, HasDelay: true}).Sequence(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.stdout.json(f.newLinkInfo(link, captures))
	}
	style := measure.Style{Width: a.pictureWidth() - len("# "), ASCII: f.ascii}
	for _, line := range words.Wrap(f.toASCII(link.title)+".", style.Width) {
		fmt.Fprintln(a.stdout, "# "+line)
	}
	for i, s := range link.directions {
		fmt.Fprintln(a.stdout)
		io.WriteString(a.stdout, f.toASCII(settingsTable(s)))
		fmt.Fprintln(a.stdout, "#")
		if link.sameAsDown(i) {
			fmt.Fprintf(a.stdout, "# The same as %s.\n", link.directions[0].name)
			continue
		}
		io.WriteString(&commentWriter{w: a.stdout}, measure.Picture(captures[i], style))
	}
	return nil
}

// pictureWidth returns the width of pictures: that of the terminal within limits, or defaultWidth without a terminal.
func (a *app) pictureWidth() int {
	return max(min(cmp.Or(a.columns, defaultWidth), defaultWidth), minWidth)
}

// newLinkInfo returns the JSON output for a link. captures contains the measured packets of each
// direction, in the order of link.directions. A profile has a summary and a source; other links have
// only their title as summary.
func (f *showFlags) newLinkInfo(link *chosenLink, captures []*capture.Sequence) linkInfo {
	info := linkInfo{Seed: link.seed, Packets: f.traffic.Packets, Measured: map[string]measure.Stats{}}
	perfect := lossmodel.DefaultSpec()
	info.profileInfo = profileInfo{Name: f.link.profile, Summary: link.title, Down: perfect.Values(), Up: perfect.Values()}
	if p, err := lossmodel.ProfileByName(f.link.profile); err == nil {
		info.Summary, info.Source = p.Summary, p.Source
	}
	for i, s := range link.directions {
		info.Measured[s.name] = measure.NewStats(captures[i])
		if s.name == "down" {
			info.Down = s.spec.Values()
		} else {
			info.Up = s.spec.Values()
		}
	}
	return info
}

// toASCII replaces the characters ± and µ if --ascii is set. Configurations accept both forms.
func (f *showFlags) toASCII(text string) string {
	if f.ascii {
		return strings.NewReplacer("±", "+-", "µ", "u").Replace(text)
	}
	return text
}

// settingsTable returns the settings of one direction that differ from a perfect link, as a table
// of a configuration.
func settingsTable(dir direction) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", dir.name)
	for _, k := range lossmodel.Keys() {
		if v, err := dir.spec.Get(k.Key); err == nil && v != k.Default {
			fmt.Fprintf(&b, "%s = %q\n", k.Key, v)
		}
	}
	return b.String()
}
