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

	"wirelab/experiment"
	"wirelab/experiment/config"
)

// configFlags choose an experiment: a file or a preset, and what is to be
// different from it.
type configFlags struct {
	file, preset  string
	data, encoder string
	seed          string
	set           []string
}

// add adds the flags; the file itself is a flag or an argument, as the command
// has it.
func (f *configFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "", "start from this experiment; see tui presets (`NAME`)")
	flags.StringVar(&f.data, "data", "", "where the frames come from: `SPEC` is "+specs()+"; see tui datasets")
	flags.StringVar(&f.encoder, "encoder", "", "send with this encoder (`NAME`); see tui encoders")
	flags.StringVar(&f.seed, "seed", "", "seed of everything random (`N`)")
	complete(cmd, "preset", presetNames)
	complete(cmd, "data", dataSpecs)
	complete(cmd, "encoder", encoderNames)
	f.addSet(cmd)
}

// addSet adds --set.
func (f *configFlags) addSet(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "set one key of the configuration, as in down.loss=5% (`KEY=VALUE`); may be repeated")
	complete(cmd, "set", settingKeys)
}

// load makes the configuration: file or preset first, then the flags in the
// order of their fields, then --set; of all these the data first. Its errors are *config.Error or
// usage errors.
func (f *configFlags) load(ctx context.Context) (*config.Config, error) {
	c, err := f.base()
	if err != nil {
		return nil, err
	}
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := setOne(ctx, c, s.key, s.value); err != nil {
			return nil, usage(prefixed(s.flag, err))
		}
	}
	return c, usage(c.Validate())
}

// flagSetting is one key that a flag sets.
type flagSetting struct {
	flag, key string
	value     any
}

// settings lists what the flags set: the data first, since an encoder that was
// named is one for that data.
func (f *configFlags) settings() (list []flagSetting, err error) {
	for _, s := range []flagSetting{{"--data", dataKey, f.data}, {"--encoder", "encoder.name", f.encoder}, {"--seed", "seed", f.seed}} {
		if s.value != "" {
			list = append(list, s)
		}
	}
	for _, text := range f.set {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--set %q makes no sense; expected KEY=VALUE, as in down.loss=5%%", text)
		}
		list = append(list, flagSetting{"--set " + text, strings.TrimSpace(key), parseValue(strings.TrimSpace(value))})
	}
	slices.SortStableFunc(list, func(a, b flagSetting) int { return cmp.Compare(rank(a.key), rank(b.key)) })
	return list, nil
}

const dataKey = "data.source"

func rank(key string) int {
	if key == dataKey {
		return 0
	}
	return 1
}

func (f *configFlags) base() (*config.Config, error) {
	switch {
	case f.file != "" && f.preset != "":
		return nil, usagef("%s and --preset %s are two experiments; expected one", f.file, f.preset)
	case f.file != "":
		return config.LoadFile(f.file)
	case f.preset != "":
		c, err := experiment.LoadPreset(f.preset)
		return c, usage(named(err))
	}
	return config.Default(), nil
}

// setOne sets a key. A new encoder comes with its own defaults: params of the
// one before would mean something else to it.
func setOne(ctx context.Context, c *config.Config, key string, value any) error {
	if (key == "encoder.name" || key == "encoder") && value != any(c.Encoder.Name) {
		c.Encoder.Params = nil
	}
	if strings.HasPrefix(key, "encoder.params") { // those of the encoder that goes with the data
		var wrong *config.Error
		if err := experiment.Settle(ctx, c); errors.As(err, &wrong) && wrong.Key == dataKey {
			return err
		}
	}
	return c.Set(key, value)
}

// parseValue reads a value as TOML would, where that gives a number, a truth or
// a list; all else is text, so that 5% and 50ms need no quotes.
func parseValue(text string) any {
	var doc struct{ V any }
	if err := toml.Unmarshal([]byte("V = "+text), &doc); err == nil {
		switch v := doc.V.(type) {
		case int64, float64, bool, []any, string:
			return v
		}
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return u // beyond TOML's integers: a seed
	}
	return text
}

// prefixedError is err with the flag that it came from.
type prefixedError struct {
	flag string
	err  error
}

func (e prefixedError) Error() string { return e.flag + ": " + e.err.Error() }
func (e prefixedError) Unwrap() error { return e.err }

func prefixed(flag string, err error) error { return prefixedError{flag, err} }

// flatKeys lists the dotted keys of nested tables.
func flatKeys(prefix string, values map[string]any, add func(key string)) {
	for k, v := range values {
		if table, ok := v.(map[string]any); ok {
			flatKeys(prefix+k+".", table, add)
			continue
		}
		add(prefix + k)
	}
}

func (a *app) checkCommand() *cobra.Command {
	var f configFlags
	cmd := &cobra.Command{
		Use:     "check [FILE.toml]",
		GroupID: groupData,
		Short:   "Validate a configuration and print what it amounts to",
		Long: `Validate a configuration and print the effective one, every default spelt out, as
a file that run takes. What is wrong is said with its line and key, and what a link
does that its keys do not say, as netem's faults, as a warning.`,
		Example: `  tui check experiment.toml
  tui check --preset loss-table > mine.toml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.preset != "" {
				return nil
			}
			return oneArg("a configuration in TOML, or --preset NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.file = firstOf(args)
			return a.check(cmd.Context(), &f)
		},
		ValidArgsFunction: completeFiles(1, "toml"),
	}
	cmd.Flags().StringVar(&f.preset, "preset", "", "print this experiment (`NAME`); see tui presets")
	f.addSet(cmd)
	complete(cmd, "preset", presetNames)
	return cmd
}

func (a *app) check(ctx context.Context, f *configFlags) error {
	config, err := f.load(ctx)
	if err != nil {
		return err
	}
	if err := experiment.Check(ctx, config); err != nil {
		return badData(err)
	}
	text, err := config.TOML()
	if err != nil {
		return err
	}
	a.warn(config.Warnings())
	_, err = a.stdout.Write(text)
	return err
}
