package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/view"
	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
	"wirelab/lossmodel/traffic"
)

// A Config is the configuration of an experiment. Equal configurations give equal packets on
// every machine. Files, flags and sweeps set values by Set, with the keys of the TOML file.
type Config struct {
	Seed       uint64
	Duration   time.Duration // virtual time; 0 means once through a recording, or 60 s of an endless source
	Data       Data
	Encoder    Encoder
	BudgetKbps float64 // limit of the payload for charts and totals; 0 means none

	Profile  string // link profile that Down and Up were set to; later changes may have made them differ; "" if none
	Down, Up lossmodel.Spec
	Traffic  traffic.Plan // other traffic on the downlink; never modified
	Sender   senderSettings
	Receiver receiverSettings
	Messages Messages // beside the snapshots
	Crowd    crowd
	Interest view.Interest   // what matters to the client under a budget
	At       []StampedChange // scripted changes, by time
	Clients  []proxyClient   // settings for single clients of a proxy
	Shadows  []Encoder       // further encoders on the same frames and losses
	Plugins  []table.Wanted  // plugins named in the file
	Sweep    []Axis          // dimensions of the grid of runs, the outermost first; empty for a single run
	Search   Search          // search for the best settings; the zero Search if none
	Assert   []Assertion     // bounds on figures of the run

	LinkSeed uint64 // seed of the links; 0 means Seed. Not 0 in a session that repeats a client of a crowd
	Player   int    // row of the receiver's player in a session that repeats a client of a crowd, from 0

	Codecs []encoders.Codec // available codecs; nil means those of package table
	// ResolvePath returns the path of a file that the data or a link names; nil means that the name is the
	// path.
	ResolvePath func(name string) (path string)

	origin
}

// origin describes where the values of a configuration came from.
type origin struct {
	file   string          // name of the file that the configuration was read from, for errors; "" if none
	lines  map[string]int  // line of each key in the file
	flags  map[string]bool // keys that were set after reading the file: errors do not name the file
	chosen map[string]bool // keys of dataDependentKeys that were set explicitly for the data
	varied []string        // keys of the sweep that this configuration is a point of
}

// Encoder is the name of a codec and the parameters that were set.
type Encoder struct {
	Name   string
	Params map[string]any    // by name; other parameters have their defaults
	Own    map[string]string // settings of the sender of this lane instead of those of all lanes: see ownSettings
}

// Axis is one dimension of a sweep: Key takes each of Values. An Axis with Repeat has neither: every point
// of the sweep is run with that number of consecutive seeds, beginning with the point's own.
type Axis struct {
	Key    string
	Values []any
	Repeat int // 0 for an axis with a key
}

// Default returns the configuration of an empty file.
func Default() *Config { return new(*defaultConfig()) }

// defaultConfig returns the configuration of an empty file, which must not be changed.
var defaultConfig = sync.OnceValue(func() *Config {
	c := &Config{Encoder: Encoder{Name: "relative-orientation"},
		Down: lossmodel.DefaultSpec(), Up: lossmodel.DefaultSpec()}
	for i := range Rows() {
		if r := &Rows()[i]; r.Default != nil {
			if err := r.Set(c, r.Default); err != nil {
				panic("config: the default of a row: " + err.Error())
			}
		}
	}
	return c
})

// Clone returns a copy that can be changed independently of c. The changes in At and Clients and the
// values of axes are shared; they are never modified.
func (c *Config) Clone() *Config {
	d := *c
	d.Encoder = c.Encoder.Clone()
	d.At = slices.Clone(c.At)
	d.Clients = slices.Clone(c.Clients)
	d.Shadows = nil
	for _, s := range c.Shadows {
		d.Shadows = append(d.Shadows, s.Clone())
	}
	d.Sweep = slices.Clone(c.Sweep)
	d.Search.Over = slices.Clone(c.Search.Over)
	d.Assert = slices.Clone(c.Assert)
	return &d
}

// fork returns a copy to which changes can be applied. Unlike Clone, it shares what no Change modifies: the
// script, the sweep and the assertions. Cloning a script of thousands of changes for each of its changes
// would take quadratic time.
func (c *Config) fork() *Config {
	d := *c
	d.Encoder = c.Encoder.Clone()
	d.Shadows = slices.Clip(c.Shadows) // a Change appends or replaces, but does not modify elements
	return &d
}

// WithChange returns a copy of c with ch applied. The copy shares the script, the sweep and the
// assertions with c; they must no longer be modified.
func (c *Config) WithChange(ch Change) (*Config, error) {
	d := c.fork()
	if err := d.apply(ch); err != nil {
		return nil, err
	}
	return d, nil
}

// Clone returns a copy with its own map of parameters.
func (e Encoder) Clone() Encoder {
	e.Params = maps.Clone(e.Params)
	return e
}

// CodecTable returns the available codecs, with ResolvePath applied to the files in their parameters.
func (c *Config) CodecTable() []encoders.Codec {
	list := slices.Clone(c.Codecs)
	if list == nil {
		list = table.All()
	}
	for i := range list {
		list[i] = *encoders.LocateFiles(&list[i], c.ResolvePath)
	}
	return list
}

// findCodec returns the codec called name. known are the available codecs, nil means those of package table.
func findCodec(name string, known []encoders.Codec) (*encoders.Codec, error) {
	for i := range known {
		if known[i].Name == name {
			return &known[i], nil
		}
	}
	if known == nil {
		codec, err := table.ByName(name)
		if err == nil {
			return codec, nil
		}
		known = table.All()
	}
	var names []string
	for _, c := range known {
		names = append(names, c.Name)
	}
	return nil, Unknown("", "encoder", name, names)
}

// Resolve returns the codec of e and a new struct of its parameters, with the values of e set and checked.
// The struct is nil if the codec has no parameters. key is the key of e for errors. known are the available
// codecs, nil means those of package table.
func (e Encoder) Resolve(key string, known []encoders.Codec) (*encoders.Codec, any, error) {
	codec, err := findCodec(e.Name, known)
	if err != nil {
		return nil, nil, ErrorAt(key+".name", err)
	}
	params := codec.Defaults()
	for _, name := range sortedKeys(e.Params) {
		if params == nil {
			return nil, nil, &Error{Key: key + ".params." + name,
				Problem: "encoder " + e.Name + " has no params"}
		}
		if err := encoders.SetParam(params, name, e.Params[name]); err != nil {
			return nil, nil, ErrorAt(key+".params."+name, err)
		}
	}
	if params != nil {
		if err := encoders.Validate(params); err != nil {
			return nil, nil, ErrorAt(key+".params", err)
		}
	}
	return codec, params, nil
}

// normalised returns e with the parameters that differ from the codec's defaults, in the types of the codec: a
// number that was given as text becomes a number. key is the key of e for errors. known are the available codecs, nil means those of
// package table.
func (e Encoder) normalised(key string, known []encoders.Codec) (Encoder, error) {
	codec, params, err := e.Resolve(key, known)
	if err != nil {
		return e, err
	}
	for _, name := range sortedKeys(e.Own) {
		if err := e.setOwn(key+"."+name, name, e.Own[name]); err != nil {
			return e, err
		}
	}
	e.Params = codec.Changed(params)
	return e, nil
}

// normaliseEncoder converts the parameters of the encoder to the types of its codec.
func (c *Config) normaliseEncoder() (err error) {
	c.Encoder, err = c.Encoder.normalised("encoder", c.Codecs)
	return err
}

// Normalise converts the parameters of all encoders to the types of their codecs, so that they can be
// compared and written.
func (c *Config) Normalise() error {
	err := c.normaliseEncoder()
	c.Shadows = slices.Clone(c.Shadows)
	for i := range c.Shadows {
		if err == nil {
			c.Shadows[i], err = c.Shadows[i].normalised(Indexed("shadow", i), c.Codecs)
		}
	}
	return err
}

// Validate checks the values of several keys together, and everything that Set does not check. Every error
// names a key.
func (c *Config) Validate() error { return c.Locate(c.validate()) }

// validate checks all settings. Its errors name only the key; Validate adds the file and the line.
func (c *Config) validate() error {
	if len(c.Shadows) > maxShadows {
		return tooManyShadows(Indexed("shadow", maxShadows), len(c.Shadows))
	}
	normal := c.Clone()
	if err := cmp.Or(normal.Normalise(), normal.checkShadows()); err != nil {
		return err
	}
	return firstError(c.checkLive, c.checkSweep, c.checkSearch, c.checkCrowd, c.checkClients, c.checkScript)
}

// checkLive checks the settings that a change may set.
func (c *Config) checkLive() error {
	return firstError(
		func() error { return linkError("down", c.Down.Validate()) },
		func() error { return linkError("up", c.Up.Validate()) },
		c.checkHistories, c.checkContainers, c.checkBudget, c.checkControls, c.checkTraffic)
}

// firstError calls checks in order and returns the first error.
func firstError(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkHistories checks that the histories of sender and receiver are long enough. A history has a slot
// for each frame of the source, also for those that are not sent because only every N-th one is
// (sender.every). It must hold two sent frames: a frame and its baseline, or the two frames between which
// the display interpolates. The receiver must also store a frame until the playout delay is over.
func (c *Config) checkHistories() error {
	shorter := min(c.Sender.History, c.Receiver.History)
	if c.Sender.Every > 1 && 2*c.Sender.Every > shorter {
		return refuse("sender.every", fmt.Sprintf("with every %d-th snapshot a history of %d frames is too short",
			c.Sender.Every, shorter),
			fmt.Sprintf("1 to %d (half of the shorter history)", max(1, shorter/2)))
	}
	stored := time.Duration(c.Receiver.History) * time.Second / time.Duration(c.Sender.RateHz)
	if c.Playout().IsFixed() && c.Receiver.Playout >= stored { // the frame would be overwritten before it is displayed
		return refuse("receiver.playout_delay", c.Receiver.Playout.String()+" exceeds the receiver's history",
			"less than "+stored.Round(time.Millisecond).String()+" (receiver.history frames at sender.rate_hz)")
	}
	return nil
}

// checkScript checks the times of the scripted changes, and applies the changes to a copy in the order of
// their times, because each is checked against the settings before it.
func (c *Config) checkScript() error {
	trial := c.fork()
	for _, i := range c.ScriptOrder() {
		at := c.At[i]
		if at.T < 0 {
			return refuse(Indexed("at", i), "t is missing",
				`a time such as t = "10s"`)
		}
		if at.FromFirstDatagram != c.At[0].FromFirstDatagram { // otherwise the order of the changes would be unknown
			return refuse(Indexed("at", i), "counts its time from another instant than "+Indexed("at", 0),
				`the same "from" in every [[at]]`)
		}
		if c.Duration > 0 && at.T >= c.Duration {
			return refuse(Indexed("at", i)+".t", at.T.String()+" is not before the end",
				"less than duration = "+c.Duration.String())
		}
		if err := trial.Apply(at.Change); err != nil {
			return Within(Indexed("at", i), err)
		}
	}
	return nil
}

// ScriptOrder returns the indices of At sorted by time; changes at the same time are in file order.
func (c *Config) ScriptOrder() []int {
	order := make([]int, len(c.At))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.At[a].T, c.At[b].T) })
	return order
}

// PinFiles reads the files named by the links and stores their hashes, so that the replay of a report detects
// a changed file. It returns an error if a file cannot be used.
func (c *Config) PinFiles() error {
	for _, dir := range []Direction{DownOnly, UpOnly} {
		pinned, err := dir.Link(c).Pin(c.ReadTrace)
		if err != nil {
			return c.fileError(dir.String(), err)
		}
		*dir.Link(c) = pinned
	}
	return nil
}

// fileError converts an error about a file of link, which is "down" or "up", into an *Error about the key
// with which the user set the file. This may be another key than that of the file: "trace" sets several
// settings of a link, and "link" sets both links.
func (c *Config) fileError(link string, err error) error {
	var fe *lossmodel.FileError
	if !errors.As(err, &fe) {
		return ErrorAt(link, err)
	}
	out := &Error{Key: link + "." + fe.Key, Problem: fe.Err.Error(), Cause: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.Expected = "the path of a file"
	}
	// All of these keys can set the file; report the first one that a flag or the configuration file sets.
	for _, key := range []string{out.Key, link + ".trace", "link." + fe.Key, "link.trace"} {
		if c.flags[key] || c.lines[key] > 0 {
			out.Key = key
			break
		}
	}
	return out
}

// ReadTrace reads the file that a link names.
func (c *Config) ReadTrace(name string) ([]byte, error) { return tracefile.ReadFile(c.resolve(name)) }

// resolve returns the path of a file: see ResolvePath.
func (c *Config) resolve(name string) string {
	if c.ResolvePath == nil {
		return name
	}
	return c.ResolvePath(name)
}

// Warnings returns warnings about settings that have an unexpected effect or none.
func (c *Config) Warnings() []string {
	var out []string
	for _, dir := range c.linkDirections() {
		for _, w := range dir.Link(c).NetemWarnings() {
			out = append(out, dir.String()+": "+w)
		}
	}
	if len(c.Clients) > 0 && c.Crowd.Clients == 0 && !c.NeedsProxy() {
		out = append(out, "client: only a proxy or a crowd has clients; this run ignores them")
	}
	return append(out, c.idleSettings()...)
}
