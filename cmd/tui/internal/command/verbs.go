package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// Order is what a typed line asks for: mostly the same Command that a key makes.
type Order struct {
	experiment.Command
	Help, Tour bool
	Leave      Leave
	Themes     bool         // list them
	Theme      string       // "": as it is
	Filter     *room.Filter // of the packets; nil: as it is
	Client     *int         // whom of a proxy's clients the controls set; 0: all
	Datagram   *Datagram    // of a proxy's, to be explained
}

// Leave is how somebody wants to leave.
type Leave uint8

// The ways to leave. LeaveAsking asks first if much would be lost.
const (
	Stay Leave = iota
	LeaveAsking
	LeaveSaving
	LeaveNow
)

// Context is what typed commands are read against.
type Context struct {
	*controls.Catalog
	Config *config.Config
	Schema *frame.Schema
}

// Verb is a word that begins a typed line.
type Verb struct {
	Name, Args, Help string
	Note             string // what else there is to know while it is typed
	parse            func(args []string) (Order, error)
	// complete lists what may come next after the arguments typed so far.
	complete func(d Context, before []string) []string
	// hint says more about the arguments typed so far than usage does; the last is
	// "" if a word is about to begin. "": nothing.
	hint func(args []string) string
}

// Verbs lists the commands: every setting of a link by its key, then the rest.
func Verbs(d Context) []Verb {
	if d.LinksOnly() {
		return slices.Concat([]Verb{profileVerb()}, linkVerbs(d), proxyVerbs(), []Verb{markVerb(), themeVerb()}, undoVerbs(),
			[]Verb{helpVerb(), {Name: "quit", Help: "end the proxy, and print the totals", parse: parseQuit}})
	}
	list := []Verb{
		{Name: "encoder", Args: "NAME", Help: "swap the encoder", parse: parseEncoder, complete: completeEncoder},
		shadowVerb(),
		{Name: "param", Args: "NAME VALUE", Help: "set a parameter of the encoder", parse: parseParam, complete: completeParam},
		profileVerb(),
	}
	list = append(list, linkVerbs(d)...)
	for _, x := range config.LiveSettings() {
		list = append(list, settingVerb(d, x))
	}
	list = append(list, playVerbs()...)
	return append(list,
		Verb{Name: "speed", Args: "FACTOR|max", Help: "pace of virtual time", parse: parseSpeed, complete: completeSpeed},
		Verb{Name: "pause", Help: "stop virtual time", parse: parsePause(true)},
		Verb{Name: "resume", Help: "let virtual time go on", parse: parsePause(false)},
		Verb{Name: "step", Args: "[FRAMES]", Help: "advance by so many frames", parse: parseStep},
		Verb{Name: "filter", Args: "all|trouble|OUTCOME", Help: "which packets page 3 lists", parse: parseFilter, complete: completeFilter},
		Verb{Name: "seek", Args: "MM:SS", Help: "jump to a moment; backwards by playing it again", parse: parseSeek},
		markVerb(), themeVerb(),
		Verb{Name: "tour", Help: "seven steps through what the lab is about", parse: parseTour},
		undoVerbs()[0], undoVerbs()[1],
		Verb{Name: "save", Args: "[FOLDER]", Help: "write a report that anyone can replay", parse: parseSave},
		helpVerb(),
		Verb{Name: "quit", Args: "[save|now]", Help: "leave; saving first, or at once", parse: parseQuit, complete: completeQuit},
	)
}

func profileVerb() Verb {
	return Verb{Name: "profile", Args: "NAME", Help: "take a ready-made link", parse: parseProfile, complete: completeProfile}
}

// linkVerbs set a link, both ways or one.
func linkVerbs(d Context) (list []Verb) {
	for _, k := range d.Keys {
		list = append(list, linkVerb(d, k, controls.BothDirections))
	}
	to, back := "to the receiver", "back"
	if d.LinksOnly() {
		to, back = "to the clients", "to the server"
	}
	return append(list,
		Verb{Name: "down", Args: "SETTING VALUE", Help: "set one thing of the link " + to + " only",
			parse: parseOneWay(d, controls.DownOnly), complete: completeOneWay, hint: hintOneWay(d)},
		Verb{Name: "up", Args: "SETTING VALUE", Help: "set one thing of the link " + back + " only",
			parse: parseOneWay(d, controls.UpOnly), complete: completeOneWay, hint: hintOneWay(d)})
}

func markVerb() Verb {
	return Verb{Name: "mark", Args: "[TEXT]", Help: "note this moment in the charts", parse: parseMark}
}

func themeVerb() Verb {
	return Verb{Name: "theme", Args: "[NAME]", Help: "how the dashboard is coloured", parse: parseTheme, complete: completeTheme}
}

func undoVerbs() []Verb {
	return []Verb{{Name: "undo", Help: "take the last change back", parse: parseUndo},
		{Name: "redo", Help: "make the change again that was taken back", parse: parseRedo}}
}

func helpVerb() Verb {
	return Verb{Name: "help", Help: "show keys and commands", parse: parseHelp}
}

// Parse reads a typed line. The error says what was expected instead.
func Parse(d Context, line string) (Order, error) {
	words := fields(line)
	if len(words) == 0 {
		return Order{}, nil
	}
	if meant := ofVi(words[0]); meant != nil {
		words = append(meant, words[1:]...)
	}
	v, names, ok := d.verb(words[0])
	if !ok {
		return Order{}, unknown("no command is called", words[0], names, "? lists them all")
	}
	o, err := v.parse(words[1:])
	if errors.Is(err, errUsage) {
		return Order{}, fmt.Errorf("expected: %s %s", v.Name, v.Args)
	}
	return o, err
}

// ofVi is what a command of vi means here; nil if it is none.
func ofVi(word string) []string {
	return map[string][]string{"q": {"quit"}, "q!": {"quit", "now"}, "qa": {"quit"}, "w": {"save"}, "wq": {"quit", "save"},
		"x": {"quit", "save"}, "h": {"help"}}[word]
}

// fields are the words of a typed line.
func fields(line string) []string {
	return strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "/"))
}

// verb returns the command of that name, and the names of all there are.
func (d Context) verb(name string) (v Verb, names []string, ok bool) {
	for _, x := range Verbs(d) {
		if names = append(names, x.Name); x.Name == strings.ToLower(name) {
			v, ok = x, true
		}
	}
	return v, names, ok
}

// unknown is the answer to a name that there is not: a near one, or what else helps.
func unknown(what, name string, known []string, help string) error {
	if near := config.Near(name, known); near != "" {
		help = "did you mean " + near + "?"
	}
	return fmt.Errorf("%s %q; %s", what, name, help)
}

// errUsage: the arguments are too few or too many; Parse names the right ones.
var errUsage = errors.New("usage")

func changeOrder(ch config.Change) Order { return Order{Command: controls.ChangeCommand(ch)} }

func linkVerb(d Context, k lossmodel.KeyInfo, way controls.Direction) Verb {
	v := Verb{
		Name: k.Key, Args: "VALUE", Help: k.Help,
		parse: func(args []string) (Order, error) {
			if len(args) == 0 {
				return Order{}, errUsage
			}
			if err := checkModel(k, args[0]); err != nil {
				return Order{}, err
			}
			text, err := withUnits(k, way.Of(d.Config), args)
			return changeOrder(way.Set(k.Key, text)), err
		},
		complete: func(_ Context, before []string) []string {
			if len(before) > 0 {
				return nil
			}
			if len(k.Choices) > 0 {
				return k.Choices
			}
			return k.Ladder
		},
	}
	if u := unitOf(k, way.Of(d.Config)); u != "" {
		v.Note = "a bare number is " + u
	}
	switch {
	case k.Key == "netem":
		v.Args, v.complete, v.hint = "WORDS|off", completeNetem, hintNetem
	case len(k.Models) > 0:
		v.Args = "VALUE|MODEL NAME=VALUE..."
		v.complete = func(_ Context, before []string) []string { return completeModel(k, before) }
		v.hint = func(args []string) string { return hintModel(k, args) }
	}
	return v
}

// parseOneWay reads "down loss 5%".
func parseOneWay(d Context, way controls.Direction) func([]string) (Order, error) {
	return func(args []string) (Order, error) {
		if len(args) < 2 {
			return Order{}, errUsage
		}
		if k, ok := d.Key(args[0]); ok {
			return linkVerb(d, k, way).parse(args[1:])
		}
		return Order{}, unknown("a link has no", args[0], d.KeyNames(), expectOne(d.KeyNames()))
	}
}

func expectOne(names []string) string { return "expected one of " + strings.Join(names, ", ") }

func parseEncoder(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	return changeOrder(config.NewChange("encoder.name", args[0])), nil
}

func parseParam(args []string) (Order, error) {
	if len(args) != 2 {
		return Order{}, errUsage
	}
	return changeOrder(config.NewChange("encoder.params."+args[0], args[1])), nil
}

func parseProfile(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	return changeOrder(config.NewChange("profile", args[0])), nil
}

// settingVerb sets a live setting of the table.
func settingVerb(d Context, x *config.Setting) Verb {
	unit := ""
	if x.Control != nil && x.Args == "TIME" {
		unit = millis
	}
	v := Verb{Name: x.Word(), Args: x.Args, Help: x.Help, parse: func(args []string) (Order, error) {
		if len(args) == 0 {
			return Order{}, errUsage
		}
		var ch config.Change
		err := ch.Set(x.Key, withUnit(strings.ToLower(strings.Join(args, "")), unit))
		switch {
		case err != nil && len(x.Names()) > 0:
			return Order{}, errors.New(expectOne(x.Names()))
		case err != nil:
			return Order{}, fmt.Errorf("expected %s", x.Expected)
		}
		return changeOrder(ch), nil
	}}
	if words := append(x.Names(), x.Words...); len(words) > 0 {
		v.complete = func(_ Context, before []string) []string { return firstOnly(before, words) }
	}
	return v
}

func parseSpeed(args []string) (Order, error) {
	text := strings.TrimLeft(strings.ToLower(strings.Join(args, "")), "x×")
	v, err := strconv.ParseFloat(text, 64)
	if text == "max" {
		v, err = 0, nil
	} else if err == nil && !(v >= experiment.MinSpeed && v <= experiment.MaxSpeed) {
		err = strconv.ErrRange
	}
	if err != nil {
		return Order{}, fmt.Errorf("expected a speed from %g to %d, or max", experiment.MinSpeed, experiment.MaxSpeed)
	}
	return Order{Command: experiment.Command{Speed: &v}}, nil
}

func parsePause(on bool) func([]string) (Order, error) {
	return func(args []string) (Order, error) {
		if len(args) != 0 {
			return Order{}, errUsage
		}
		return Order{Command: experiment.Command{Pause: &on}}, nil
	}
}

// maxSteps is the most frames that one step command advances.
const maxSteps = 10_000

func parseStep(args []string) (Order, error) {
	if len(args) == 0 {
		return Order{Command: experiment.Command{Step: 1}}, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) > 1 || n < 1 || n > maxSteps {
		return Order{}, fmt.Errorf("expected 1 to %d frames", maxSteps)
	}
	return Order{Command: experiment.Command{Step: n}}, nil
}

func parseSeek(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	t, err := parseMoment(args[0])
	if err != nil {
		return Order{}, err
	}
	return Order{Command: experiment.Command{Seek: &t}}, nil
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

func parseMark(args []string) (Order, error) {
	text := strings.Join(args, " ")
	if text == "" {
		text = "mark"
	}
	return changeOrder(config.NewChange("mark", text)), nil
}

func parseUndo(args []string) (Order, error) {
	if len(args) != 0 {
		return Order{}, errUsage
	}
	return Order{Command: experiment.Command{Undo: true}}, nil
}

func parseSave(args []string) (Order, error) {
	dir := strings.Join(args, " ")
	return Order{Command: experiment.Command{Save: &dir}}, nil
}

func parseHelp([]string) (Order, error) { return Order{Help: true}, nil }

func parseTheme(args []string) (Order, error) {
	switch len(args) {
	case 0:
		return Order{Themes: true}, nil
	case 1:
	default:
		return Order{}, errUsage
	}
	if l, ok := look.SchemeNamed(args[0]); ok {
		return Order{Theme: l.String()}, nil
	}
	return Order{}, unknown("no theme is called", args[0], look.Themes(), expectOne(look.Themes()))
}

func completeTheme(_ Context, before []string) []string { return firstOnly(before, look.Themes()) }

func parseTour([]string) (Order, error) { return Order{Tour: true}, nil }

func parseRedo(args []string) (Order, error) {
	if len(args) != 0 {
		return Order{}, errUsage
	}
	return Order{Command: experiment.Command{Redo: true}}, nil
}

// parseQuit takes no other words: nobody wants to leave by mistake.
func parseQuit(args []string) (Order, error) {
	how := map[string]Leave{"": LeaveAsking, "save": LeaveSaving, "now": LeaveNow}[strings.Join(args, " ")]
	if how == Stay {
		return Order{}, errUsage
	}
	return Order{Leave: how}, nil
}

func completeQuit(_ Context, before []string) []string {
	return firstOnly(before, []string{"save", "now"})
}
