package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// order is what a typed line asks for: mostly the same Command that a key makes.
type order struct {
	experiment.Command
	quit, help bool
}

// desk is what typed commands are read against.
type desk struct {
	*catalog
	cfg    *experiment.Config
	schema *frame.Schema
}

// verb is a word that begins a typed line.
type verb struct {
	name, args, help string
	parse            func(args []string) (order, error)
	// complete lists what may come next after the arguments typed so far.
	complete func(d desk, before []string) []string
}

// verbs lists the commands: every setting of a link by its key, then the rest.
func (cat *catalog) verbs() []verb {
	list := []verb{
		{"encoder", "NAME", "swap the encoder", parseEncoder, completeEncoder},
		{"param", "NAME VALUE", "set a parameter of the encoder", parseParam, completeParam},
		{"profile", "NAME", "take a ready-made link", parseProfile, completeProfile},
	}
	for _, k := range cat.keys {
		list = append(list, linkVerb(k, bothDirections))
	}
	return append(list,
		verb{"down", "SETTING VALUE", "set one thing of the link to the receiver only", cat.parseOneWay(downOnly), completeOneWay},
		verb{"up", "SETTING VALUE", "set one thing of the link back only", cat.parseOneWay(upOnly), completeOneWay},
		verb{"playout", "TIME", "how long the receiver holds snapshots back", parsePlayout, nil},
		verb{"speed", "FACTOR|max", "pace of virtual time", parseSpeed, completeSpeed},
		verb{"pause", "", "stop virtual time", parsePause(true), nil},
		verb{"resume", "", "let virtual time go on", parsePause(false), nil},
		verb{"step", "[FRAMES]", "advance by so many frames", parseStep, nil},
		verb{"seek", "MM:SS", "jump to a moment; backwards by playing it again", parseSeek, nil},
		verb{"mark", "[TEXT]", "note this moment in the charts", parseMark, nil},
		verb{"undo", "", "take the last change back", parseUndo, nil},
		verb{"save", "[FOLDER]", "write a report that anyone can replay", parseSave, nil},
		verb{"help", "", "show keys and commands", parseHelp, nil},
		verb{"quit", "", "leave", parseQuit, nil},
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
	if near := experiment.Near(words[0], names); near != "" {
		return order{}, fmt.Errorf("no command is called %q; did you mean %s?", words[0], near)
	}
	return order{}, fmt.Errorf("no command is called %q; ? lists them all", words[0])
}

// errUsage: the arguments are too few or too many; parseLine names the right ones.
var errUsage = errors.New("usage")

func changeOrder(ch experiment.Change) order { return order{Command: changeCommand(ch)} }

// direction is which link a setting is for.
type direction uint8

const (
	bothDirections direction = iota
	downOnly
	upOnly
)

func linkVerb(k lossmodel.KeyInfo, d direction) verb {
	return verb{
		name: k.Key, args: "VALUE", help: k.Help,
		parse: func(args []string) (order, error) {
			if len(args) == 0 {
				return order{}, errUsage
			}
			ch := bothWays(k.Key, strings.Join(args, " "))
			if d == downOnly {
				ch.Up = nil
			} else if d == upOnly {
				ch.Down = nil
			}
			return changeOrder(ch), nil
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
		if near := experiment.Near(args[0], names); near != "" {
			return order{}, fmt.Errorf("a link has no %q; did you mean %s?", args[0], near)
		}
		return order{}, fmt.Errorf("a link has no %q; expected one of %s", args[0], strings.Join(names, ", "))
	}
}

func parseEncoder(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	return changeOrder(experiment.Change{Encoder: args[0]}), nil
}

func parseParam(args []string) (order, error) {
	if len(args) != 2 {
		return order{}, errUsage
	}
	return changeOrder(experiment.Change{Params: map[string]any{args[0]: args[1]}}), nil
}

func parseProfile(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	return changeOrder(experiment.Change{Profile: args[0]}), nil
}

func parsePlayout(args []string) (order, error) {
	d, err := time.ParseDuration(strings.Join(args, ""))
	if err != nil || d < 0 {
		return order{}, errors.New("expected a time such as 85ms")
	}
	return changeOrder(experiment.Change{Playout: &d}), nil
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
	return changeOrder(experiment.Change{Mark: text}), nil
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

func parseQuit([]string) (order, error) { return order{quit: true}, nil }
