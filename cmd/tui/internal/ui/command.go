package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// order is what a typed line asks for: mostly the same Command that a key makes.
type order struct {
	experiment.Command
	quit, help, tour bool
	themes           bool    // list them
	theme            string  // "": as it is
	filter           *filter // of the packets; nil: as it is
}

// desk is what typed commands are read against.
type desk struct {
	*catalog
	cfg    *config.Config
	schema *frame.Schema
}

// verb is a word that begins a typed line.
type verb struct {
	name, args, help string
	parse            func(args []string) (order, error)
	// complete lists what may come next after the arguments typed so far.
	complete func(d desk, before []string) []string
	// hint says more about the arguments typed so far than usage does; the last is
	// "" if a word is about to begin. "": nothing.
	hint func(args []string) string
}

// verbs lists the commands: every setting of a link by its key, then the rest.
func (cat *catalog) verbs() []verb {
	list := []verb{
		{name: "encoder", args: "NAME", help: "swap the encoder", parse: parseEncoder, complete: completeEncoder},
		shadowVerb(),
		{name: "param", args: "NAME VALUE", help: "set a parameter of the encoder", parse: parseParam, complete: completeParam},
		{name: "profile", args: "NAME", help: "take a ready-made link", parse: parseProfile, complete: completeProfile},
	}
	for _, k := range cat.keys {
		list = append(list, linkVerb(k, bothDirections))
	}
	list = append(list,
		verb{name: "down", args: "SETTING VALUE", help: "set one thing of the link to the receiver only", parse: cat.parseOneWay(downOnly), complete: completeOneWay, hint: cat.hintOneWay},
		verb{name: "up", args: "SETTING VALUE", help: "set one thing of the link back only", parse: cat.parseOneWay(upOnly), complete: completeOneWay, hint: cat.hintOneWay},
		verb{name: "playout", args: "TIME", help: "how long the receiver holds snapshots back", parse: parsePlayout},
		verb{name: "every", args: "N", help: "send every N-th snapshot only; 1 sends all", parse: parseEvery},
		verb{name: "interpolation", args: "linear|hermite", help: "how the receiver moves from one snapshot to the next", parse: parseInterpolation, complete: completeInterpolation},
	)
	list = append(list, playVerbs()...)
	return append(list,
		verb{name: "speed", args: "FACTOR|max", help: "pace of virtual time", parse: parseSpeed, complete: completeSpeed},
		verb{name: "pause", help: "stop virtual time", parse: parsePause(true)},
		verb{name: "resume", help: "let virtual time go on", parse: parsePause(false)},
		verb{name: "step", args: "[FRAMES]", help: "advance by so many frames", parse: parseStep},
		verb{name: "filter", args: "all|trouble|OUTCOME", help: "which packets page 3 lists", parse: parseFilter, complete: completeFilter},
		verb{name: "seek", args: "MM:SS", help: "jump to a moment; backwards by playing it again", parse: parseSeek},
		verb{name: "mark", args: "[TEXT]", help: "note this moment in the charts", parse: parseMark},
		verb{name: "theme", args: "[NAME]", help: "how the dashboard is coloured", parse: parseTheme, complete: completeTheme},
		verb{name: "tour", help: "seven steps through what the lab is about", parse: parseTour},
		verb{name: "undo", help: "take the last change back", parse: parseUndo},
		verb{name: "save", args: "[FOLDER]", help: "write a report that anyone can replay", parse: parseSave},
		verb{name: "help", help: "show keys and commands", parse: parseHelp},
		verb{name: "quit", help: "leave", parse: parseQuit},
	)
}

// parseLine reads a typed line. The error says what was expected instead.
func (cat *catalog) parseLine(line string) (order, error) {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "/"))
	if len(words) == 0 {
		return order{}, nil
	}
	all := cat.verbs()
	names := make([]string, len(all))
	for i, v := range all {
		if names[i] = v.name; v.name == strings.ToLower(words[0]) {
			o, err := v.parse(words[1:])
			if errors.Is(err, errUsage) {
				return order{}, fmt.Errorf("expected: %s %s", v.name, v.args)
			}
			return o, err
		}
	}
	if near := config.Near(words[0], names); near != "" {
		return order{}, fmt.Errorf("no command is called %q; did you mean %s?", words[0], near)
	}
	return order{}, fmt.Errorf("no command is called %q; ? lists them all", words[0])
}

// errUsage: the arguments are too few or too many; parseLine names the right ones.
var errUsage = errors.New("usage")

func changeOrder(ch config.Change) order { return order{Command: changeCommand(ch)} }

func linkVerb(k lossmodel.KeyInfo, d direction) verb {
	v := verb{
		name: k.Key, args: "VALUE", help: k.Help,
		parse: func(args []string) (order, error) {
			if len(args) == 0 {
				return order{}, errUsage
			}
			if err := checkModel(k, args[0]); err != nil {
				return order{}, err
			}
			return changeOrder(d.set(k.Key, strings.Join(args, " "))), nil
		},
		complete: func(_ desk, before []string) []string {
			if len(before) > 0 {
				return nil
			}
			if len(k.Choices) > 0 {
				return k.Choices
			}
			return k.Ladder
		},
	}
	switch {
	case k.Key == "netem":
		v.args, v.complete, v.hint = "WORDS|off", completeNetem, hintNetem
	case len(k.Models) > 0:
		v.args = "VALUE|MODEL NAME=VALUE..."
		v.complete = func(_ desk, before []string) []string { return completeModel(k, before) }
		v.hint = func(args []string) string { return hintModel(k, args) }
	}
	return v
}

// parseOneWay reads "down loss 5%".
func (cat *catalog) parseOneWay(d direction) func([]string) (order, error) {
	return func(args []string) (order, error) {
		if len(args) < 2 {
			return order{}, errUsage
		}
		if k, ok := cat.key(args[0]); ok {
			return linkVerb(k, d).parse(args[1:])
		}
		names := cat.keyNames()
		if near := config.Near(args[0], names); near != "" {
			return order{}, fmt.Errorf("a link has no %q; did you mean %s?", args[0], near)
		}
		return order{}, fmt.Errorf("a link has no %q; expected one of %s", args[0], strings.Join(names, ", "))
	}
}

func parseEncoder(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	return changeOrder(config.Change{Encoder: args[0]}), nil
}

func parseParam(args []string) (order, error) {
	if len(args) != 2 {
		return order{}, errUsage
	}
	return changeOrder(config.Change{Params: map[string]any{args[0]: args[1]}}), nil
}

func parseProfile(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	return changeOrder(config.Change{Profile: args[0]}), nil
}

func parsePlayout(args []string) (order, error) {
	d, err := time.ParseDuration(strings.Join(args, ""))
	if err != nil || d < 0 {
		return order{}, errors.New("expected a time such as 85ms")
	}
	return changeOrder(config.Change{Playout: &d}), nil
}

func parseSpeed(args []string) (order, error) {
	text := strings.TrimLeft(strings.ToLower(strings.Join(args, "")), "x×")
	v, err := strconv.ParseFloat(text, 64)
	if text == "max" {
		v, err = 0, nil
	} else if err == nil && !(v >= experiment.MinSpeed && v <= experiment.MaxSpeed) {
		err = strconv.ErrRange
	}
	if err != nil {
		return order{}, fmt.Errorf("expected a speed from %g to %d, or max", experiment.MinSpeed, experiment.MaxSpeed)
	}
	return order{Command: experiment.Command{Speed: &v}}, nil
}

func parsePause(on bool) func([]string) (order, error) {
	return func(args []string) (order, error) {
		if len(args) != 0 {
			return order{}, errUsage
		}
		return order{Command: experiment.Command{Pause: &on}}, nil
	}
}

// maxSteps is the most frames that one step command advances.
const maxSteps = 10_000

func parseStep(args []string) (order, error) {
	if len(args) == 0 {
		return order{Command: experiment.Command{Step: 1}}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) > 1 || n < 1 || n > maxSteps {
		return order{}, fmt.Errorf("expected 1 to %d frames", maxSteps)
	}
	return order{Command: experiment.Command{Step: n}}, nil
}

func parseSeek(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	t, err := parseMoment(args[0])
	if err != nil {
		return order{}, err
	}
	return order{Command: experiment.Command{Seek: &t}}, nil
}

// parseMoment reads 00:30, 1:02:03.5 or 30s.
func parseMoment(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	parts := strings.Split(s, ":")
	total := 0.0
	for i, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || !(v >= 0 && v < 1e6) || len(parts) > 3 || i > 0 && v >= 60 {
			return 0, errors.New("expected a moment such as 00:30 or 90s")
		}
		total = total*60 + v
	}
	return time.Duration(total * float64(time.Second)).Round(time.Millisecond), nil
}

func parseMark(args []string) (order, error) {
	text := strings.Join(args, " ")
	if text == "" {
		text = "mark"
	}
	return changeOrder(config.Change{Mark: text}), nil
}

func parseUndo(args []string) (order, error) {
	if len(args) != 0 {
		return order{}, errUsage
	}
	return order{Command: experiment.Command{Undo: true}}, nil
}

func parseSave(args []string) (order, error) {
	dir := strings.Join(args, " ")
	return order{Command: experiment.Command{Save: &dir}}, nil
}

func parseHelp([]string) (order, error) { return order{help: true}, nil }

func parseTheme(args []string) (order, error) {
	switch len(args) {
	case 0:
		return order{themes: true}, nil
	case 1:
	default:
		return order{}, errUsage
	}
	if l, ok := schemeNamed(args[0]); ok {
		return order{theme: l.String()}, nil
	}
	if near := config.Near(args[0], Themes()); near != "" {
		return order{}, fmt.Errorf("no theme is called %q; did you mean %s?", args[0], near)
	}
	return order{}, fmt.Errorf("no theme is called %q; expected one of %s", args[0], strings.Join(Themes(), ", "))
}

func completeTheme(_ desk, before []string) []string { return firstOnly(before, Themes()) }

func parseTour([]string) (order, error) { return order{tour: true}, nil }

func parseQuit(args []string) (order, error) {
	if len(args) != 0 { // nobody wants to leave by mistake
		return order{}, errUsage
	}
	return order{quit: true}, nil
}
