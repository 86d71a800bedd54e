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

// linkFlags choose a link: a profile, a line of netem or a configuration, and what
// is to be different from it.
type linkFlags struct {
	profile string // a flag or an argument, as the command has it
	netem   string
	file    string
	set     []string
	seed    uint64
}

func (f *linkFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.netem, "netem", "", "the link that this line of tc's netem makes (`LINE`)")
	flags.StringVar(&f.file, "config", "", "the links of this configuration (`FILE`)")
	flags.StringArrayVar(&f.set, "set", nil, "set one key, as in down.loss=5% (`KEY=VALUE`); may be repeated")
	flags.Uint64Var(&f.seed, "seed", config.Default().Seed, "seed of everything random; that of the configuration if it has one")
	complete(cmd, "set", linkKeys)
	if err := cmd.MarkFlagFilename("config", "toml"); err != nil {
		panic(err)
	}
}

// addProfile adds --profile, for commands without an argument for it.
func (f *linkFlags) addProfile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.profile, "profile", "", "the links of this profile; see tui links (`NAME`)")
	complete(cmd, "profile", profileNames)
}

// side is one direction of a link.
type side struct {
	name string
	spec lossmodel.Spec
}

// chosenLink is what the flags came to.
type chosenLink struct {
	title string
	seed  uint64
	sides []side // down, then up if it is not perfect
}

// side returns one direction; what is not there is perfect.
func (l *chosenLink) side(up bool) side {
	switch {
	case !up:
		return l.sides[0]
	case len(l.sides) > 1:
		return l.sides[1]
	}
	return side{"up", lossmodel.DefaultSpec()}
}

// alike says that side i does what the first does, packet by packet.
func (l *chosenLink) alike(i int) bool { return i > 0 && l.sides[i].spec == l.sides[0].spec }

// load makes the link; its errors are usage errors.
func (f *linkFlags) load(cmd *cobra.Command) (*chosenLink, error) {
	if err := f.one(cmd); err != nil {
		return nil, err
	}
	c, title, err := f.config(cmd, "down.netem")
	if err != nil {
		return nil, err
	}
	link := &chosenLink{title: title, seed: c.Seed, sides: []side{{"down", c.Down}}}
	if c.Up != lossmodel.DefaultSpec() {
		link.sides = append(link.sides, side{"up", c.Up})
	}
	return link, nil
}

// config makes the configuration that the link is a part of, and says in words what was
// chosen; a line of netem is set under netemKey.
func (f *linkFlags) config(cmd *cobra.Command, netemKey string) (c *config.Config, title string, err error) {
	config := configFlags{file: f.file, set: f.set}
	title = f.file
	switch {
	case f.profile != "":
		p, err := lossmodel.ProfileByName(f.profile)
		if err != nil {
			return nil, "", usage(unknownName("link profile", f.profile, profileList(), "tui links"))
		}
		config.set = append([]string{"profile=" + p.Name}, config.set...)
		title = fmt.Sprintf("%s: %s. After %s", p.Name, p.Summary, strings.TrimSuffix(p.Source, "."))
	case f.netem != "":
		spec := lossmodel.DefaultSpec()
		if err := spec.Set("netem", f.netem); err != nil {
			return nil, "", usage(named(prefixed("--netem", err)))
		}
		config.set = append([]string{netemKey + "=" + f.netem}, config.set...)
		title = "netem " + spec.Netem.String()
	case f.file == "":
		title = strings.Join(f.set, " ")
	}
	if c, err = config.load(cmd.Context()); err != nil {
		return nil, "", err
	}
	if cmd.Flags().Changed("seed") {
		c.Seed = f.seed
	}
	return c, title, nil
}

// one demands that one link is named.
func (f *linkFlags) one(cmd *cobra.Command) error {
	profile, isFlag := "", cmd.Flags().Lookup("profile") != nil
	if isFlag {
		profile = "--profile "
	}
	var links []string
	for _, s := range []struct{ flag, value string }{{profile, f.profile}, {"--netem ", f.netem}, {"--config ", f.file}} {
		if s.value != "" {
			links = append(links, s.flag+s.value)
		}
	}
	switch {
	case len(links) > 1:
		return usagef("%s and %s are two links; expected one", links[0], links[1])
	case len(links) == 1 || len(f.set) > 0:
		return nil
	case isFlag:
		return usagef("%s expects a link: --profile NAME, --netem LINE, --config FILE or --set KEY=VALUE", cmd.CommandPath())
	}
	return usagef("%s expects a link: the NAME of a profile, --netem LINE, --config FILE or --set KEY=VALUE", cmd.CommandPath())
}

// nameArg takes the name of a profile as the one argument, or none where a flag
// names the link.
func (f *linkFlags) nameArg(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return f.one(cmd)
	}
	f.profile = args[0]
	return oneArg("the name of a profile")(cmd, args)
}

// warnings lists what the links do that their keys do not say.
func warnings(sides ...side) (list []string) {
	for _, s := range sides {
		for _, w := range s.spec.Warnings() {
			list = append(list, s.name+": "+w)
		}
	}
	return list
}

// warn tells a person of warnings.
func (a *app) warn(list []string) {
	for _, w := range list {
		a.remark("tui: warning: %s", w)
	}
}

// trafficFlags say what is sent over a link.
type trafficFlags struct{ measure.Traffic }

func (f *trafficFlags) add(cmd *cobra.Command, packets int, interval time.Duration, size int) {
	flags := cmd.Flags()
	flags.IntVar(&f.Packets, "packets", packets, "send `N` packets")
	flags.DurationVar(&f.Interval, "interval", interval, "`TIME` between packets; its mean with --poisson")
	flags.IntVar(&f.Size, "size", size, "`BYTES` of UDP payload in each packet")
	flags.BoolVar(&f.Poisson, "poisson", false, "draw the times between packets, exponentially distributed")
}

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

// linkKeys offers the keys of links for --set.
func linkKeys() (list []cobra.Completion) {
	for _, side := range []string{"down.", "up.", "link."} {
		for _, k := range lossmodel.Keys() {
			list = append(list, cobra.CompletionWithDesc(side+k.Key+"=", k.Help))
		}
	}
	return list
}
