package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"wirelab/cmd/tui/internal/script"
	"wirelab/experiment"
	"wirelab/experiment/config"
)

// configFlags are the flags that choose an experiment: a file or a preset, and settings that
// replace parts of it.
type configFlags struct {
	file, preset, profile, data, encoder, seed string   // "" means not given
	set                                        []string // settings of --set, each KEY=VALUE
}

// add registers all flags except for the file: some commands take it as --config, others as an
// argument.
func (f *configFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "", "start from preset `NAME`; see tui presets")
	flags.StringVar(&f.profile, "profile", "", "use the links of profile `NAME`; see tui links")
	flags.StringVar(&f.data, "data", "", dataUsage())
	flags.StringVar(&f.encoder, "encoder", "", "send with encoder `NAME`; see tui encoders")
	flags.StringVar(&f.seed, "seed", "", "use `N` as the seed of all random decisions")
	complete(cmd, "preset", presetNames)
	complete(cmd, "profile", profileNames)
	complete(cmd, "data", dataSpecs)
	complete(cmd, "encoder", encoderNames)
	f.addSet(cmd)
}

// addSet registers --set.
func (f *configFlags) addSet(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "set one key of the configuration: `KEY=VALUE`, such as down.loss=5%; loss=5% sets both directions; may be repeated")
	complete(cmd, "set", settingKeys)
}

// load returns the configuration: the file or preset, changed by the flags in the order that
// settings returns. Its errors are *config.Error or usage errors.
func (f *configFlags) load(ctx context.Context) (*config.Config, error) {
	c, err := f.loadBase()
	if err != nil {
		return nil, err
	}
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := setKey(ctx, c, s.key, s.value); err != nil {
			return nil, asUsageError(withFlag(s.flag, withoutKey(s, err)))
		}
	}
	return c, asUsageError(c.Validate())
}

// flagSetting is the setting of one configuration key by a flag. flag names the flag in errors.
type flagSetting struct {
	flag, key string
	value     any
}

// settings lists the keys that the flags set, in the order in which to set them: the data source
// first, because the default encoder depends on the data.
func (f *configFlags) settings() (list []flagSetting, err error) {
	// Each entry is a flag, its key and its value.
	for _, s := range []flagSetting{{"--data", dataKey, f.data}, {"--encoder", "encoder.name", f.encoder}, {"--seed", "seed", f.seed},
		{"--profile", "profile", f.profile}} {
		if s.value != "" { // the flag is given
			list = append(list, s)
		}
	}
	for _, text := range f.set {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--set %q makes no sense; expected KEY=VALUE, as in down.loss=5%%", text)
		}
		list = append(list, flagSetting{"--set " + text, config.FullKey(strings.TrimSpace(key)), parseValue(strings.TrimSpace(value))})
	}
	slices.SortStableFunc(list, func(a, b flagSetting) int { return cmp.Compare(settingRank(a.key), settingRank(b.key)) })
	return list, nil
}

// dataKey is the configuration key of the data source.
const dataKey = "data.source"

// settingRank returns the sort key of a configuration key in settings: 0 for the data source, 1
// for all others.
func settingRank(key string) int {
	if key == dataKey {
		return 0
	}
	return 1
}

// loadBase loads the file or the preset, or returns the default configuration if neither is
// given.
func (f *configFlags) loadBase() (*config.Config, error) {
	switch {
	case f.file != "" && f.preset != "":
		return nil, usagef("%s and --preset %s are two experiments; expected one", f.file, f.preset)
	case f.file != "":
		return config.LoadFile(f.file)
	case f.preset != "":
		c, err := experiment.LoadPreset(f.preset)
		return c, asUsageError(withSuggestion(err))
	}
	return config.Default(), nil
}

// setKey sets one key of c. Setting another encoder removes the parameters in c, because they were meant
// for the previous encoder. Before a parameter of the default encoder is set, the data is opened to find
// which encoder that is; the end of ctx ends the wait for the data.
func setKey(ctx context.Context, c *config.Config, key string, value any) error {
	if (key == "encoder.name" || key == "encoder") && value != any(c.Encoder.Name) {
		c.Encoder.Params = nil
	}
	if strings.HasPrefix(key, "encoder.params") {
		// If no encoder is named, Settle sets the default encoder of the data, to which the
		// parameters belong. Errors that are not about the data are ignored, because later settings may
		// correct them.
		var configError *config.Error
		if err := experiment.Settle(ctx, c); errors.As(err, &configError) && configError.Key == dataKey {
			return err
		}
	}
	return c.Set(key, value)
}

// parseValue parses text as a TOML number, boolean, list or string. Any other text is taken
// literally, so that 5% and 50ms need no quotes.
func parseValue(text string) any {
	var doc struct{ V any }
	if err := toml.Unmarshal([]byte("V = "+text), &doc); err == nil {
		switch v := doc.V.(type) {
		case int64, float64, bool, []any, string:
			return v
		}
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return u // a seed may be above 1<<63 - 1, the largest integer of TOML
	}
	return text
}

// prefixedError is an error with the name of the flag that caused it.
type prefixedError struct {
	flag string
	err  error
}

func (e prefixedError) Error() string { return e.flag + ": " + e.err.Error() }
func (e prefixedError) Unwrap() error { return e.err }

// withoutKey returns err about the setting without its key, which the flag in front of the error names.
func withoutKey(s flagSetting, err error) error {
	var wrong *config.Error
	if !errors.As(err, &wrong) || wrong.Key != s.key {
		return err
	}
	out := *wrong
	out.Key = ""
	return &out
}

// withFlag prefixes err with the name of a flag.
func withFlag(flag string, err error) error { return prefixedError{flag, err} }

// checkCommand returns tui check.
func (a *app) checkCommand() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:     "check [FILE.toml]",
		GroupID: groupData,
		Short:   "Validate a configuration and print its effective settings",
		Long: `Validate a configuration and print it with every default written out, as a file that
tui run accepts; or tui proxy, if times count from the first datagram. Errors name the
line and the key. Settings that have no effect, because of what other settings are, and
known faults of netem are printed as warnings.`,
		Example: `  tui check experiment.toml
  tui check --preset loss-table > mine.toml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.preset != "" {
				return nil
			}
			return oneArg("a configuration in TOML, or --preset NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.file = firstArg(args)
			return a.check(cmd.Context(), &f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	cmd.Flags().StringVar(&f.preset, "preset", "", "print preset `NAME`; see tui presets")
	f.addSet(cmd)
	complete(cmd, "preset", presetNames)
	return cmd
}

// check validates the configuration and writes it as TOML with all defaults.
func (a *app) check(ctx context.Context, f *configFlags) error {
	cfg, err := f.load(ctx)
	if err != nil {
		return err
	}
	toTOML := cfg.TOML
	if cfg.NeedsProxy() {
		toTOML = cfg.ProxyTOML
		_, err = script.New(cfg, f.file)
		err = asUsageError(err)
	} else {
		err = markDataError(experiment.Check(ctx, cfg))
	}
	if err != nil {
		return err
	}
	text, err := toTOML()
	if err != nil {
		return err
	}
	a.warn(cfg.Warnings())
	return a.writeTOML(text)
}
