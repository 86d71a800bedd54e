package main

import (
	"fmt"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"

	"github.com/spf13/cobra"
)

// linkFlags are the flags that choose a link: a profile, a line of netem or a configuration, and
// single keys that --set changes in it.
type linkFlags struct {
	profile string   // from --profile, or from the argument of commands without --profile
	netem   string   // options of tc-netem(8)
	file    string   // path of a configuration
	set     []string // settings of --set, each KEY=VALUE
	seed    uint64
}

// add registers the flags except --profile and --config.
func (f *linkFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.netem, "netem", "", "use the link that the tc netem options in `LINE` describe")
	flags.StringArrayVar(&f.set, "set", nil, "set one key of the links: `KEY=VALUE`, such as down.loss=5%; may be repeated")
	flags.Uint64Var(&f.seed, "seed", config.Default().Seed, "seed of all random decisions; overrides the seed of the configuration")
	complete(cmd, "set", linkKeys)
}

// addProfile registers --profile, for commands that take no profile as argument.
func (f *linkFlags) addProfile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.profile, "profile", "", "use the links of profile `NAME`; see tui links")
	complete(cmd, "profile", profileNames)
}

// direction is one direction of a link: "down" or "up", and its settings.
type direction struct {
	name string
	spec lossmodel.Spec
}

// chosenLink is the link that the flags select.
type chosenLink struct {
	title      string // describes the choice in reports
	seed       uint64
	directions []direction // the downlink, then the uplink unless it is perfect
}

// sameAsDown reports whether direction i has the same settings as the downlink. With the same
// seed both then treat every packet alike.
func (l *chosenLink) sameAsDown(i int) bool {
	return i > 0 && l.directions[i].spec == l.directions[0].spec
}

// load returns the chosen link. Its errors are usage errors.
func (f *linkFlags) load(cmd *cobra.Command) (*chosenLink, error) {
	if err := f.checkOneLink(cmd); err != nil {
		return nil, err
	}
	c, title, err := f.loadConfig(cmd, "down.netem")
	if err != nil {
		return nil, err
	}
	link := &chosenLink{title: title, seed: c.Seed, directions: []direction{{"down", c.Down}}}
	if c.Up != lossmodel.DefaultSpec() {
		link.directions = append(link.directions, direction{"up", c.Up})
	}
	return link, nil
}

// loadConfig returns the configuration that contains the chosen link, and a title that describes
// the choice. A --netem line is set under netemKey: "down.netem" for the downlink, "link.netem" for
// both directions. The settings of --set follow and may change parts of the link.
func (f *linkFlags) loadConfig(cmd *cobra.Command, netemKey string) (c *config.Config, title string, err error) {
	flags := configFlags{file: f.file, set: f.set}
	title = f.file
	switch {
	case f.profile != "":
		p, err := lossmodel.ProfileByName(f.profile)
		if err != nil {
			return nil, "", asUsageError(config.Unknown("", "link profile", f.profile, profileNameList()))
		}
		flags.set = append([]string{"profile=" + p.Name}, flags.set...)
		// "After" precedes the source of the profile. The wording stays, since the title is in JSON output.
		title = fmt.Sprintf("%s: %s. After %s", p.Name, p.Summary, strings.TrimSuffix(p.Source, "."))
	case f.netem != "":
		probe := lossmodel.DefaultSpec() // to check the line, and to print it in its normal form
		if err := probe.Set("netem", f.netem); err != nil {
			return nil, "", asUsageError(withSuggestion(withFlag("--netem", err)))
		}
		flags.set = append([]string{netemKey + "=" + f.netem}, flags.set...)
		title = "netem " + probe.Netem.String()
	case f.file == "":
		title = strings.Join(f.set, " ")
	}
	if c, err = flags.load(cmd.Context()); err != nil {
		return nil, "", err
	}
	if cmd.Flags().Changed("seed") {
		c.Seed = f.seed
	}
	return c, title, nil
}

// checkOneLink returns a usage error unless exactly one of profile, netem and config is given, or
// only --set. Errors name the profile as the user does: by --profile if the command has this flag,
// otherwise as an argument.
func (f *linkFlags) checkOneLink(cmd *cobra.Command) error {
	profileFlag, hasProfileFlag := "", cmd.Flags().Lookup("profile") != nil
	if hasProfileFlag {
		profileFlag = "--profile "
	}
	var links []string
	for _, s := range []struct{ flag, value string }{{profileFlag, f.profile}, {"--netem ", f.netem}, {"", f.file}} {
		if s.value != "" {
			links = append(links, s.flag+s.value)
		}
	}
	switch {
	case len(links) > 1:
		return usagef("%s and %s are two links; expected one", links[0], links[1])
	case len(links) == 1 || len(f.set) > 0:
		return nil
	case hasProfileFlag:
		return usagef("%s expects a link: --profile NAME, --netem LINE, --config FILE or --set KEY=VALUE", cmd.CommandPath())
	}
	return usagef("%s expects a link: the NAME of a profile, --netem LINE or --set KEY=VALUE", cmd.CommandPath())
}

// profileArg is the argument check of commands that take the name of a profile as argument, or no
// argument if a flag chooses the link. It stores the name in f.profile.
func (f *linkFlags) profileArg(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return f.checkOneLink(cmd)
	}
	f.profile = args[0]
	return oneArg("the name of a profile")(cmd, args)
}

// linkWarnings lists effects of the settings of links that a user may not expect, such as known
// faults of netem. Each text begins with the name of the direction.
func linkWarnings(directions ...direction) (list []string) {
	for _, dir := range directions {
		for _, w := range dir.spec.Warnings() {
			list = append(list, dir.name+": "+w)
		}
	}
	return list
}

// warn prints each text of list as a warning.
func (a *app) warn(list []string) {
	for _, w := range list {
		a.remark("tui: warning: %s", w)
	}
}

// trafficFlags are the flags that describe the packets that a command sends over a modelled link.
type trafficFlags struct{ measure.Traffic }

// add registers the flags with the given defaults; size is in bytes.
func (f *trafficFlags) add(cmd *cobra.Command, packets int, interval time.Duration, size int) {
	flags := cmd.Flags()
	flags.IntVar(&f.Packets, "packets", packets, "send `N` packets")
	flags.DurationVar(&f.Interval, "interval", interval, "`TIME` between packets; with --poisson the mean time")
	flags.IntVar(&f.Size, "size", size, "`BYTES` of UDP payload in each packet")
	flags.BoolVar(&f.Poisson, "poisson", false, "draw the times between packets from an exponential distribution")
}

// check returns a usage error if a value is out of range.
func (f *trafficFlags) check() error {
	switch {
	case f.Packets < 1 || f.Packets > measure.MaxPackets:
		return usagef("--packets %d makes no sense; expected 1 to %d", f.Packets, measure.MaxPackets)
	case f.Interval < 0 || f.Interval > time.Hour:
		return usagef("--interval %v makes no sense; expected 0s to 1h", f.Interval)
	case f.Size < 0 || f.Size > lossmodel.MaxDatagram:
		return usagef("--size %d makes no sense; expected 0 to %d", f.Size, lossmodel.MaxDatagram)
	}
	return nil
}

// linkKeys completes --set with the keys of links.
func linkKeys() (list []cobra.Completion) {
	for _, side := range []string{"down.", "up.", "link."} {
		for _, k := range lossmodel.Keys() {
			list = append(list, cobra.CompletionWithDesc(side+k.Key+"=", k.Help))
		}
	}
	return list
}
