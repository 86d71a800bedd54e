// Package command implements the command line of the dashboard: the commands, the parsing and
// completion of their arguments, and the line in which they are typed.
//
// Parse returns an Order, which mostly contains the same live.Command as a key press.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/openfile"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/live"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// Order is the action that a typed line requests: an live.Command, or one of the other
// fields, which concern only the screen.
type Order struct {
	live.Command
	Help, Tour bool              // show the help; start the guided tour
	HTML       bool              // write the HTML page of the selected report
	Previous   bool              // run the encoder as it was before its last change as a shadow
	Quit       QuitMode          // whether and how to quit
	Themes     bool              // show the list of themes
	Copy       bool              // copy the selection, or the screen, to the clipboard
	Theme      string            // the new theme; "" leaves it unchanged
	Open       string            // the file or source of data to open; "" for none
	Crosshair  *time.Duration    // move the crosshair of the charts to this time; 0 removes it
	Packets    *room.PacketOrder // an order for the list of packets, if not nil
	FindRow    *int              // the row whose bits are shown in the selected packet; nil means none
	Client     *int              // the client of a proxy whose links the controls set, 0 for all; nil leaves it unchanged
	Datagram   *Datagram         // the datagram of a proxy to explain, if not nil
}

// Datagram identifies a datagram of a proxy: number N of a direction, from 0.
type Datagram struct {
	Up bool
	N  uint64
}

// QuitMode is whether and how to leave the program.
type QuitMode uint8

// The modes.
const (
	NoQuit     QuitMode = iota // do not leave
	QuitAsking                 // ask first if much unsaved work would be lost
	QuitSaving                 // save a report first
	QuitNow                    // leave without asking
)

// Context is the state that commands depend on.
type Context struct {
	*controls.Catalog
	Config *config.Config
	Schema *frame.Schema
	World  *playout.Picture // the newest cubes; nil if there are none
	Screen screen
	Paths  func(typed string) []string // completes a typed path; nil if no command takes one
}

// verb is a command that can be typed.
type verb struct {
	Name, Args, Help string
	Note             string // further information, shown while the command is typed
	present          string // the present value of a setting and its range; "" for other commands

	screens          screen // where the command exists; 0 means Lab
	minArgs, maxArgs int    // number of arguments; maxArgs may be unlimited
	strict           bool   // the first argument is a number with a unit, or a word that can be completed
	isPath           bool   // the text after the name is a path, the only argument
	order            Order  // the action of a command without parse
	// parse returns the action. It may rely on minArgs and maxArgs. nil means order.
	parse func(args []string) (Order, error)
	words []string // candidates for the first argument; nil if complete returns them
	// complete returns the candidates for the argument after the arguments in before. If it is
	// nil, there are candidates only for the first argument.
	complete func(before []string) []string
	// hint describes the arguments typed so far, in more detail than usage; "" if it has nothing
	// to add. The last element of args is "" if the line ends with a blank.
	hint func(args []string) string
}

// screen is a set of the program's screens.
type screen uint8

const (
	Lab screen = 1 << iota
	Proxy
	Sweep // shows a sweep; settings cannot be changed
)

// unlimited is the maxArgs of commands with any number of arguments.
const unlimited = 1 << 20

// Verbs returns the commands of env.Screen. A sweep has only those of screenVerbs.
func Verbs(env Context) []verb {
	all := screenVerbs()
	if env.Screen != Sweep {
		all = slices.Concat(encoderVerbs(env), linkVerbs(env), settingVerbs(env.Config), worldVerbs(env.World), proxyVerbs(), timeVerbs(), packetVerbs(), all)
	}
	return slices.DeleteFunc(all, func(v verb) bool {
		return cmp.Or(v.screens, Lab)&env.Screen == 0
	})
}

// encoderVerbs returns the commands that set encoders and the link profile.
func encoderVerbs(env Context) []verb {
	var params []string
	if codec := env.Codec(env.Config.Encoder.Name); codec != nil {
		for _, info := range codec.ParamInfo() {
			params = append(params, info.Name)
		}
	}
	names := setting.Names(env.Encoders(env.Schema))
	return []verb{
		{Name: "encoder", Args: "NAME", Help: "change the encoder", strict: true, minArgs: 1, maxArgs: 1, words: names,
			parse: func(args []string) (Order, error) { return changeOrder("encoder.name", args[0]) }},
		{Name: "shadow", Args: "[off] NAME [PARAM=VALUE...]", Help: "run another encoder, or one with other parameters, as a shadow, on the same " +
			"frames and losses; previous: the encoder before its last change",
			minArgs: 1, maxArgs: unlimited, parse: parseShadow,
			complete: func(before []string) []string {
				switch {
				case len(before) == 0:
					return append([]string{"off", "previous"}, names...)
				case before[0] == "off":
					return controls.ShadowNames(env.Config)
				}
				return nil
			}},
		{Name: "param", Args: "NAME VALUE", Help: "set a parameter of the encoder", minArgs: 2, maxArgs: 2, words: params,
			parse: func(args []string) (Order, error) { return changeOrder("encoder.params."+args[0], args[1]) }},
		{Name: "profile", Args: "NAME", Help: "use a predefined link", screens: Lab | Proxy, strict: true, minArgs: 1, maxArgs: 1, words: setting.Names(env.Links()),
			parse: func(args []string) (Order, error) { return changeOrder("profile", args[0]) }},
	}
}

// linkVerbs returns the commands that set links: one for each setting, which sets it in both
// directions, and "down" and "up", which precede a setting to set it in one direction.
func linkVerbs(env Context) (list []verb) {
	for _, info := range env.Keys {
		list = append(list, linkVerb(env, info, config.BothDirections))
	}
	down, up := "to the receiver", "to the sender"
	if env.Screen == Proxy {
		down, up = "to the clients", "to the server"
	}
	return append(list, directionVerb(env, config.DownOnly, down), directionVerb(env, config.UpOnly, up))
}

// directionVerb returns the command "down" or "up", which changes one setting of one link, as in
// "down loss 5%": the first argument names the setting, and the other arguments are those of the
// command of this setting, see linkVerb. target describes where the link leads.
func directionVerb(env Context, direction config.Direction, target string) verb {
	// innerVerb returns the command of the setting args[0], for the links of setDirection; false
	// if there is no such setting.
	innerVerb := func(args []string, setDirection config.Direction) (v verb, ok bool) {
		if len(args) == 0 {
			return v, false
		}
		info, ok := env.Key(args[0])
		return linkVerb(env, info, setDirection), ok
	}
	return verb{Name: direction.String(), Args: "SETTING VALUE", Help: "change one setting of the link " + target, screens: Lab | Proxy, minArgs: 2, maxArgs: unlimited,
		words: env.KeyNames(),
		parse: func(args []string) (Order, error) {
			if v, ok := innerVerb(args, direction); ok {
				return v.parse(args[1:])
			}
			return Order{}, config.Unknown("", "setting of a link", args[0], env.KeyNames())
		},
		// Completion and hints are the same for all directions.
		complete: func(before []string) []string {
			if v, ok := innerVerb(before, config.BothDirections); ok {
				return v.nextWords(before[1:])
			}
			return nil
		},
		hint: func(args []string) string {
			v, ok := innerVerb(args, config.BothDirections)
			switch {
			case !ok || len(args) < 2: // the setting is unknown, or still being typed
				return ""
			case v.hint != nil:
				return v.hint(args[1:])
			}
			return v.usage()
		}}
}

// bareUnitNote precedes the unit of a number without one.
const bareUnitNote = "a number without a unit is in "

// linkVerb returns the command that changes the setting described by info, of the link in one
// direction or of both links, as in "loss 5%".
func linkVerb(env Context, info lossmodel.KeyInfo, direction config.Direction) verb {
	spec := direction.Link(env.Config) // the current settings of the link; for both links those of the downlink
	v := verb{Name: info.Key, Args: "VALUE", Help: info.Help, screens: Lab | Proxy, minArgs: 1, maxArgs: unlimited,
		parse: func(args []string) (Order, error) {
			value, err := spec.CompleteUnits(info, args) // with the units that may be omitted
			if err != nil {
				return Order{}, err
			}
			probe := *spec // check the value on a copy, so that an error is reported once for both links
			if err := probe.Set(info.Key, value); err != nil {
				return Order{}, config.ErrorAt(info.Key, err)
			}
			return changeOrder(direction.String()+"."+info.Key, value)
		},
		complete: func(before []string) []string { return lossmodel.CompleteWords(info, before) }}
	v.strict = len(info.Ladder) > 0 || len(info.Choices) > 0
	v.present = "now " + config.LinkValue(env.Config, direction, info.Key)
	if info.Min != "" {
		v.present += "; " + info.Min + " to " + info.Max
	}
	hint := func(args []string) string { return lossmodel.Hint(info, args) }
	if u := spec.BareUnit(info); u != "" {
		v.Note = bareUnitNote + u
	}
	switch {
	case info.Key == "netem":
		v.Args, v.hint = "WORDS|off", hint
	case len(info.Models) > 0:
		v.Args, v.hint = "VALUE|MODEL NAME=VALUE...", hint
	}
	return v
}

// settingVerbs returns the command for any setting, and those for the settings outside of encoder and links that can
// change during a run, such as the playout delay.
func settingVerbs(cfg *config.Config) (list []verb) {
	list = append(list, verb{Name: "set", Args: "KEY=VALUE", Help: "change a setting, as --set does, such as down.loss=5%",
		minArgs: 1, maxArgs: unlimited, parse: func(args []string) (Order, error) {
			key, value, ok := strings.Cut(strings.Join(args, " "), "=")
			if !ok {
				return Order{}, errUsage
			}
			return changeOrder(key, value)
		}})
	for _, r := range config.LiveSettings() {
		if r.Args != "" {
			list = append(list, settingVerb(cfg, r))
		}
	}
	return list
}

// settingVerb returns the command of a setting, whose value may be a policy with parameters, as in "playout age
// quantile=99%".
func settingVerb(cfg *config.Config, r *config.Row) verb {
	kind, _, _ := strings.Cut(r.Args, "|")
	unit := map[string]string{"TIME": "ms", "RATE": "kbit"}[kind] // of a number without one
	note := ""
	if unit != "" {
		note = bareUnitNote + unit
	}
	expected, _, _ := strings.Cut(r.ExpectedText(), ", such as")
	expected, _, _ = strings.Cut(expected, `, or "`) // Args has the other values
	return verb{Name: r.Short, Args: r.Args, Help: r.CommandHelp, Note: note, present: "now " + r.Text(cfg) + "; " + expected, minArgs: 1, maxArgs: unlimited,
		strict: unit != "" || kind == "N" || kind == "KBPS",
		parse: func(args []string) (Order, error) {
			text := lowerNames(args)
			if unit != "" && startsWithDigit(text) { // "100", "100 ms" and "100ms" are the same
				text = units.AppendUnit(strings.ReplaceAll(text, " ", ""), unit)
			}
			return changeOrder(r.Key, text)
		},
		complete: func(before []string) []string {
			if len(before) > 0 && startsWithDigit(before[0]) { // a number of flows: "4 cubic"
				before = before[1:]
			}
			return r.Complete(before)
		}}
}

// startsWithDigit reports whether text, which is not empty, begins with a digit.
func startsWithDigit(text string) bool { return text[0] >= '0' && text[0] <= '9' }

// lowerNames joins words. Names are in lower case; values after "=" keep their case, because B and b differ.
func lowerNames(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		name, _, _ := strings.Cut(word, "=")
		out[i] = strings.ToLower(name) + strings.TrimPrefix(word, name)
	}
	return strings.Join(out, " ")
}

// worldVerbs returns the commands that play the cube world. A switch without an argument is turned on if w does not
// show it on, otherwise off; w is nil without a world.
func worldVerbs(w *playout.Picture) []verb {
	if w == nil {
		w = &playout.Picture{}
	}
	toggle := func(name string, isOn bool, help string) verb {
		return verb{Name: name, Args: "[on|off]", Help: "cube world: " + help, maxArgs: unlimited, words: []string{"on", "off"},
			parse: func(args []string) (Order, error) {
				if len(args) == 0 {
					return changeOrder(name, !isOn)
				}
				return changeOrder(name, strings.ToLower(strings.Join(args, " ")))
			}}
	}
	return []verb{
		{Name: "press", Args: "DIRECTION...", Help: "cube world: move left, right, up, down", minArgs: 1, maxArgs: unlimited,
			complete: func(before []string) []string {
				return slices.DeleteFunc(config.Directions(), func(d string) bool { return slices.Contains(before, d) })
			},
			parse: func(args []string) (Order, error) {
				return changeOrder("press", strings.ToLower(strings.Join(args, " ")))
			}},
		toggle("hover", w.Keys.Push, "fly, and blow away the cubes below; or stop"),
		toggle("katamari", w.Keys.Pull, "attract the cubes around; or stop"),
		toggle("autopilot", w.Autopilot, "let the script play; or play yourself"),
		{Name: "reset", Help: "cube world: put all cubes back into the grid",
			parse: func([]string) (Order, error) { return changeOrder("reset", true) }},
	}
}

// proxyVerbs returns the commands that only a proxy has.
func proxyVerbs() []verb {
	return []verb{
		{Name: "client", Args: "NUMBER|all", Help: "select the client whose links the controls set", screens: Proxy,
			minArgs: 1, maxArgs: 1, parse: parseClient, words: []string{"all"}},
		{Name: "explain", Args: "up|down N", Help: "show the effect of each stage on datagram N", screens: Proxy,
			minArgs: 2, maxArgs: 2, parse: parseExplain, words: []string{"up", "down"}},
	}
}

// timeVerbs returns the commands for virtual time.
func timeVerbs() []verb {
	return []verb{
		{Name: "speed", Args: "FACTOR|max", Help: "set the speed of virtual time", maxArgs: unlimited, parse: parseSpeed,
			words: []string{"0.1", "0.25", "0.5", "1", "2", "4", "8", "16", "32", "64", "max"}},
		{Name: "pause", Help: "stop virtual time", order: Order{Command: live.Command{Pause: new(true)}}},
		{Name: "resume", Help: "continue virtual time", order: Order{Command: live.Command{Pause: new(false)}}},
		{Name: "step", Args: "[FRAMES]", Help: "advance by FRAMES frames, default 1", maxArgs: unlimited, parse: parseStep},
		{Name: "find", Args: "ROW", Help: "on page 3: the bits of a row in the selected packet, such as find cube 417", minArgs: 1,
			maxArgs: 2, parse: parseFind},
		{Name: "seek", Args: "MM:SS", Help: "go to a time; a time in the past is reached by replaying", minArgs: 1, maxArgs: 1,
			parse: parseSeek},
		{Name: "crosshair", Args: "MM:SS|off", Help: "show the values of all charts at a time", minArgs: 1, maxArgs: 1,
			words: []string{"off"}, parse: func(args []string) (Order, error) {
				if args[0] == "off" {
					return Order{Crosshair: new(time.Duration)}, nil
				}
				o, err := parseSeek(args)
				return Order{Crosshair: o.Seek}, err
			}},
	}
}

// screenVerbs returns the commands for the screen and the session as a whole. They include
// the command "quit" of each screen, of which Verbs selects that of the open screen.
func screenVerbs() []verb {
	return []verb{
		{Name: "mark", Args: "[TEXT]", Help: "add a mark to the charts", screens: Lab | Proxy, maxArgs: unlimited, parse: func(args []string) (Order, error) {
			if len(args) == 0 {
				args = []string{"mark"}
			}
			return changeOrder("mark", strings.Join(args, " "))
		}},
		{Name: "open", Args: "[PATH]", Help: "open a recording, capture, demo, log, report, configuration or source of data, or list them",
			minArgs: 1, maxArgs: 1, isPath: true, parse: func(args []string) (Order, error) {
				path, _ := openfile.ParsePath(args[0])
				return Order{Open: path}, nil
			}},
		{Name: "theme", Args: "[NAME]", Help: "set the colours, or list the themes", screens: Lab | Proxy | Sweep, maxArgs: 1, parse: parseTheme, words: look.SchemeNames()},
		{Name: "tour", Help: "start the guided tour in eight steps", maxArgs: unlimited, order: Order{Tour: true}},
		{Name: "undo", Help: "undo the last change", screens: Lab | Proxy, order: Order{Command: live.Command{Undo: true}}},
		{Name: "redo", Help: "redo the change that was undone", screens: Lab | Proxy, order: Order{Command: live.Command{Redo: true}}},
		{Name: "save", Args: "[FOLDER]", Help: "write a report; tui replay FOLDER repeats the run", maxArgs: unlimited,
			parse: func(args []string) (Order, error) {
				return Order{Command: live.Command{Save: new(strings.Join(args, " "))}}, nil
			}},
		{Name: "html", Help: "write the HTML page of the report that is selected on the page Compare",
			order: Order{HTML: true}},
		{Name: "copy", Help: "copy the selection, or else the screen, to the clipboard", screens: Lab | Proxy | Sweep, order: Order{Copy: true}},
		{Name: "help", Help: "show keys and commands", screens: Lab | Proxy | Sweep, maxArgs: unlimited, order: Order{Help: true}},
		{Name: "quit", Args: "[save|now]", Help: "quit; save first, or quit without asking", maxArgs: 1, parse: parseQuit,
			words: []string{"save", "now"}},
		{Name: "quit", Args: "[now]", Help: "stop the proxy and print the totals; now: do not ask first", screens: Proxy, maxArgs: 1, parse: parseQuit, words: []string{"now"}},
		{Name: "quit", Args: "[now]", Help: "end the sweep; now: do not ask first", screens: Sweep, maxArgs: 1, parse: parseQuit, words: []string{"now"}},
	}
}

// Parse parses a typed line. A blank line gives an empty Order. Errors name what was expected.
func Parse(env Context, line string) (Order, error) {
	words := splitLine(line)
	if len(words) == 0 {
		return Order{}, nil
	}
	if vi, ok := viCommands[words[0]]; ok {
		words = append(strings.Fields(vi), words[1:]...)
	}
	v, names, ok := env.findVerb(words[0])
	key := config.FullKey(words[0])
	isKey := strings.Contains(key, ".") && env.Screen == Lab
	if !ok && isKey && len(words) > 1 { // a setting without a command of its own, such as receiver.playout_delay
		return changeOrder(key, strings.Join(words[1:], " "))
	}
	if !ok {
		e := config.Unknown("", "command", words[0], names)
		if e.Near == "" {
			e.Expected, e.List = "", "?"
		}
		return Order{}, e
	}
	args := words[1:]
	if v.isPath && len(args) > 0 {
		args = []string{pathIn(line)}
	}
	if len(args) < v.minArgs || len(args) > v.maxArgs {
		return Order{}, v.usageError()
	}
	if v.parse == nil {
		return v.order, nil
	}
	o, err := v.parse(args)
	if errors.Is(err, errUsage) {
		return Order{}, v.usageError()
	}
	return o, err
}

// usageError returns the error for too few or too many arguments.
func (v *verb) usageError() error { return fmt.Errorf("expected: %s %s", v.Name, v.Args) }

// viCommands maps commands of vi to commands of the dashboard.
var viCommands = map[string]string{"q": "quit", "q!": "quit now", "qa": "quit", "w": "save", "wq": "quit save", "x": "quit save", "h": "help"}

// splitLine returns the words of a typed line.
func splitLine(line string) []string {
	return strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "/"))
}

// pathIn returns the text after the name of the command in a typed line.
func pathIn(line string) string {
	_, path, _ := strings.Cut(strings.TrimLeft(line, " /"), " ")
	return strings.TrimSpace(path)
}

// findVerb returns the command with this name, in upper or lower case, and the names of all
// commands. If ok is false, the name is unknown.
func (env Context) findVerb(name string) (found verb, names []string, ok bool) {
	for _, v := range Verbs(env) {
		names = append(names, v.Name)
		if v.Name == strings.ToLower(name) {
			found, ok = v, true
		}
	}
	return found, names, ok
}

// errUsage is returned by parse functions for arguments that do not fit the command; Parse
// replaces it by the usage of the command.
var errUsage = errors.New("usage")

// ErrorText returns the text of an error about a typed line. The key of a setting is left out if a word of the line names
// it.
func ErrorText(line string, err error) string {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	out := *wrong
	for part := range strings.SplitSeq(out.Key, ".") {
		name, _, _ := strings.Cut(part, "[") // without the index in a list
		if slices.Contains(splitLine(line), name) {
			out.Key = ""
		}
	}
	return out.Error()
}

// changeOrder returns the order to set a configuration key to a value. It fails if the key cannot
// change during a run or the value is invalid.
func changeOrder(key string, value any) (Order, error) {
	var ch config.Change
	if err := ch.Set(key, value); err != nil {
		return Order{}, err
	}
	return Order{Command: controls.ChangeCommand(ch)}, nil
}

// parseShadow parses the arguments of "shadow NAME [PARAM=VALUE]...", which adds a shadow, of
// "shadow previous", and of "shadow off NAME...", which removes shadows.
func parseShadow(args []string) (Order, error) {
	if len(args) == 1 && args[0] == "previous" {
		return Order{Previous: true}, nil
	}
	if args[0] == "off" {
		if len(args) == 1 {
			return Order{}, errUsage
		}
		return changeOrder("shadow_off", args[1:])
	}
	e, err := config.ParseEncoder(args)
	if err != nil {
		return Order{}, err
	}
	return changeOrder("shadow", []config.Encoder{e})
}

// parseSpeed parses a speed such as "2", "x0.5" or "max".
func parseSpeed(args []string) (Order, error) {
	text := strings.TrimLeft(strings.ToLower(strings.Join(args, "")), "x×")
	speed, err := strconv.ParseFloat(text, 64)
	if text == "max" {
		speed, err = 0, nil // 0 means as fast as possible
	} else if err == nil && !(speed >= live.MinSpeed && speed <= live.MaxSpeed) { // refuses NaN too
		err = strconv.ErrRange
	}
	if err != nil {
		return Order{}, fmt.Errorf("got %q; expected a speed from %g to %d, or max", text, live.MinSpeed, live.MaxSpeed)
	}
	return Order{Command: live.Command{Speed: &speed}}, nil
}

// maxSteps is the largest number of frames that one step command advances.
const maxSteps = 10_000

// parseStep parses the number of frames; without arguments it is 1.
func parseStep(args []string) (Order, error) {
	if len(args) == 0 {
		return Order{Command: live.Command{Step: 1}}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) > 1 || n < 1 || n > maxSteps {
		return Order{}, fmt.Errorf("got %q; expected 1 to %d frames", strings.Join(args, " "), maxSteps)
	}
	return Order{Command: live.Command{Step: n}}, nil
}

// parseSeek parses a time: minutes and seconds such as 00:30, with hours such as 1:02:03.5, or a
// duration such as 30s.
func parseSeek(args []string) (Order, error) {
	if d, err := time.ParseDuration(args[0]); err == nil && d >= 0 {
		return Order{Command: live.Command{Seek: &d}}, nil
	}
	parts := strings.Split(args[0], ":")
	total := 0.0 // seconds
	for i, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		// Only the first part may exceed 59; the limit keeps the sum within a time.Duration.
		if err != nil || !(v >= 0 && v < 1e6) || len(parts) > 3 || i > 0 && v >= 60 {
			return Order{}, fmt.Errorf("got %q; expected a time such as 00:30 or 90s", args[0])
		}
		total = total*60 + v
	}
	return Order{Command: live.Command{Seek: new(time.Duration(total * float64(time.Second)).Round(time.Millisecond))}}, nil
}

// parseTheme parses the name of a theme; without arguments it requests the list.
func parseTheme(args []string) (Order, error) {
	if len(args) == 0 {
		return Order{Themes: true}, nil
	}
	if scheme, ok := look.ParseScheme(args[0]); ok {
		return Order{Theme: scheme.String()}, nil
	}
	return Order{}, config.Unknown("", "theme", args[0], look.SchemeNames())
}

// parseFind parses the number of a row, which may follow the word for a row, as in "cube 417".
func parseFind(args []string) (Order, error) {
	row, err := strconv.Atoi(args[len(args)-1])
	if err != nil || row < 0 {
		return Order{}, errUsage
	}
	return Order{FindRow: &row}, nil
}

// parseQuit parses the arguments of quit: none, "save" or "now". It refuses any other word, so
// that a typing error does not end the session.
func parseQuit(args []string) (Order, error) {
	mode := map[string]QuitMode{"": QuitAsking, "save": QuitSaving, "now": QuitNow}[strings.Join(args, " ")]
	if mode == NoQuit { // the word is not in the map
		return Order{}, errUsage
	}
	return Order{Quit: mode}, nil
}

// parseClient parses the number of a client, from 1 in the order of joining, or "all", which
// becomes 0.
func parseClient(args []string) (Order, error) {
	if strings.EqualFold(args[0], "all") {
		return Order{Client: new(int)}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return Order{}, fmt.Errorf("%q is not a client; expected its number, such as 2, or all", args[0])
	}
	return Order{Client: &n}, nil
}

// parseExplain parses a direction and the number of a datagram, such as "down 17".
func parseExplain(args []string) (Order, error) {
	if args[0] != "up" && args[0] != "down" {
		return Order{}, errUsage
	}
	n, err := strconv.ParseUint(args[1], 10, 48) // a relay numbers datagrams in 48 bits
	if err != nil {
		return Order{}, fmt.Errorf("%q is not the number of a datagram; expected a number from 0", args[1])
	}
	return Order{Datagram: &Datagram{Up: args[0] == "up", N: n}}, nil
}
