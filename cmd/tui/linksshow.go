package main

import (
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

// The widths that pictures are drawn in. On a wide screen a wider one says no more.
const (
	leastWidth = measure.MinWidth + len("# ")
	usualWidth = 80
	mostWidth  = 1000
)

// linkInfo is the JSON of `links show`.
type linkInfo struct {
	profileInfo
	Seed     uint64                   `json:"seed"`
	Packets  int                      `json:"packets"`
	Measured map[string]measure.Stats `json:"measured"` // by side; a perfect link back is left out
}

type showFlags struct {
	link    linkFlags
	traffic trafficFlags
	width   int
	ascii   bool
}

func (a *app) linksShowCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Draw what a link does, beside what it is set to",
		Long: `Show what a link profile sets, as the tables of a configuration, and as comments in
them a picture of what becomes of packets there: the histogram of delays, how many
are lost in a row, and the first 500 packets one by one. What is at its default, a
perfect link, is left out.

Unless told otherwise the packets are those of a game, 60 a second of 256 bytes.`,
		Example: `  tui links show lte
  tui links show starlink --ascii --interval 1ms --packets 100000
  tui links show --set down.loss=5% --set down.burst=3
  tui links show lte --json`,
		Args:              f.link.nameArg,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.linksShow(cmd, &f) },
		ValidArgsFunction: completeArg(profileNames, cobra.ShellCompDirectiveNoFileComp),
	}
	f.link.add(cmd)
	f.traffic.add(cmd, 20_000, 16_667*time.Microsecond, 256)
	cmd.Flags().IntVar(&f.width, "width", 0,
		fmt.Sprintf("`COLUMNS` of the picture (default those of the terminal, at most %d)", usualWidth))
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with plain ASCII, for terminals without Unicode")
	a.addOutputFlags(cmd)
	return cmd
}

func (a *app) linksShow(cmd *cobra.Command, f *showFlags) error {
	if err := f.traffic.check(); err != nil {
		return err
	}
	if cmd.Flags().Changed("width") && (f.width < leastWidth || f.width > mostWidth) {
		return usagef("--width %d makes no sense; expected %d to %d", f.width, leastWidth, mostWidth)
	}
	link, err := f.link.load(cmd)
	if err != nil {
		return err
	}
	a.warn(warnings(link.sides...))
	captures := make([]*capture.Sequence, len(link.sides))
	err = a.await(cmd.Context(), "show", func() error {
		for i, s := range link.sides {
			rows, err := measure.Trace(s.spec, link.seed, f.traffic.Traffic)
			if err != nil {
				return usage(err)
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
		return a.stdout.json(f.info(link, captures))
	}
	style := measure.Style{Width: a.pictureWidth(f.width) - len("# "), ASCII: f.ascii}
	for _, line := range words.Wrap(f.plain(link.title)+".", style.Width) {
		fmt.Fprintln(a.stdout, "# "+line)
	}
	for i, s := range link.sides {
		fmt.Fprintln(a.stdout)
		io.WriteString(a.stdout, f.plain(tableOf(s)))
		fmt.Fprintln(a.stdout, "#")
		if link.alike(i) {
			fmt.Fprintf(a.stdout, "# Like %s.\n", link.sides[0].name)
			continue
		}
		io.WriteString(&comment{w: a.stdout}, measure.Picture(captures[i], style))
	}
	return nil
}

// pictureWidth is what was asked for, or what fits.
func (a *app) pictureWidth(asked int) int {
	switch {
	case asked > 0:
		return asked
	case a.columns > 0:
		return max(min(a.columns, usualWidth), leastWidth)
	}
	return usualWidth
}

func (f *showFlags) info(link *chosenLink, captures []*capture.Sequence) linkInfo {
	info := linkInfo{Seed: link.seed, Packets: f.traffic.Packets, Measured: map[string]measure.Stats{}}
	perfect := lossmodel.DefaultSpec()
	info.profileInfo = profileInfo{Name: f.link.profile, Summary: link.title, Down: perfect.Values(), Up: perfect.Values()}
	if p, err := lossmodel.ProfileByName(f.link.profile); err == nil {
		info.Summary, info.Source = p.Summary, p.Source
	}
	for i, s := range link.sides {
		info.Measured[s.name] = measure.Of(captures[i])
		if s.name == "down" {
			info.Down = s.spec.Values()
		} else {
			info.Up = s.spec.Values()
		}
	}
	return info
}

// plain spells out what ASCII lacks, if that is asked for; links read it back alike.
func (f *showFlags) plain(text string) string {
	if f.ascii {
		return strings.NewReplacer("±", "+-", "µ", "u").Replace(text)
	}
	return text
}

// tableOf returns what a link is set to as a table of a configuration.
func tableOf(s side) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", s.name)
	for _, k := range lossmodel.Keys() {
		if v, err := s.spec.Get(k.Key); err == nil && v != k.Default {
			fmt.Fprintf(&b, "%s = %q\n", k.Key, v)
		}
	}
	return b.String()
}
