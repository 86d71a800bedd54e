package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
)

// Config says everything about an experiment. The same Config gives the same
// bytes on every machine. Keys and their text form are those of the TOML file;
// Set is the one way in, for files, flags and sweeps alike.
type Config struct {
	Seed       uint64
	Duration   time.Duration // of virtual time; 0: once through a recording, 60 s of an endless source
	Data       Data
	Encoder    Encoder
	BudgetKbps float64 // of payload, that should not be exceeded; 0: none

	Profile  string // the link profile that Down and Up started from, "" if none
	Down, Up lossmodel.Spec
	Sender   sender
	Receiver receiver
	At       []StampedChange // scripted changes, by time
	Clients  []proxyClient   // of a proxy
	Shadows  []Encoder       // further encoders on the same frames and fates
	Plugins  []table.Wanted  // encoders from outside that its file names
	Sweep    []Axis
	Search   Search
	Assert   []Assertion

	Codecs []encoders.Codec // those there are; nil: all of the table
	// Trusting: endpoints believe every sequence number, as they did in reports that have no
	// digest_version. Only their replays set it.
	Trusting bool
	// WholeFrames: the digest of a run takes every decoded frame in full, as it did in reports
	// with a digest_version below 3. Only their replays set it.
	WholeFrames bool
	// Find says where a file lies that the data or a link names; nil: where the name says.
	Find func(name string) (path string)

	file   string          // where it was read, for errors
	lines  map[string]int  // the line of each key there
	flags  map[string]bool // keys that were set since: the file is not to blame
	chosen map[string]bool // of the followers, those that were set for this data
}

// Encoder names a codec and those of its params that differ from the defaults.
type Encoder struct {
	Name   string         `json:"name"`
	Params map[string]any `json:"params,omitempty"`
}

// Axis is one dimension of a sweep: Key takes each of Values in turn; or, if Repeat is not
// 0, every point is run with that many seeds, from its own on.
type Axis struct {
	Key    string
	Values []any
	Repeat int
}

// Default returns the configuration that an empty file stands for.
func Default() *Config {
	c := usual() // the scalar settings
	c.Encoder, c.Down, c.Up = Encoder{Name: "relative-orientation"}, lossmodel.DefaultSpec(), lossmodel.DefaultSpec()
	return &c
}

// Clone returns a copy with encoders and lists of its own. What the items of At and Sweep
// hold in turn, changes and values, is shared with c, as is what is known of its file.
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

// fork returns a copy that shares what no Change alters: the script, the sweep and the
// assertions. To copy a script of thousands for each of its own changes would be
// quadratic.
func (c *Config) fork() *Config {
	d := *c
	d.Encoder = c.Encoder.Clone()
	d.Shadows = slices.Clip(c.Shadows) // a Change appends or replaces; what is there stays as it is
	return &d
}

// After returns what c is after ch, or why it cannot be. The script, the sweep and the
// assertions of c are shared: neither may be altered any more.
func (c *Config) After(ch Change) (*Config, error) {
	d := c.fork()
	if err := d.apply(ch); err != nil {
		return nil, err
	}
	return d, nil
}

// Clone returns a copy with a map of its own.
func (e Encoder) Clone() Encoder { return Encoder{Name: e.Name, Params: maps.Clone(e.Params)} }

// CodecTable lists the codecs that this configuration knows.
func (c *Config) CodecTable() []encoders.Codec {
	list := slices.Clone(c.Codecs)
	if list == nil {
		list = table.All()
	}
	for i := range list {
		list[i] = *encoders.Located(&list[i], c.Find)
	}
	return list
}

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

// Resolve looks the codec up and returns its params with e's values set; key names e in
// errors. nil stands for the codecs of the table.
func (e Encoder) Resolve(key string, known []encoders.Codec) (*encoders.Codec, any, error) {
	codec, err := findCodec(e.Name, known)
	if err != nil {
		return nil, nil, ErrorAt(key+".name", err)
	}
	params := codec.Defaults()
	for _, name := range sortedKeys(e.Params) {
		if params == nil {
			return nil, nil, &Error{Key: key + ".params." + name, Problem: "encoder " + e.Name + " has no params to set"}
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

// normal returns e with its params typed as the codec has them: a number is a number,
// even if it was typed.
func (e Encoder) normal(key string, known []encoders.Codec) (Encoder, error) {
	_, params, err := e.Resolve(key, known)
	if err != nil {
		return e, err
	}
	e = e.Clone()
	for name := range e.Params {
		e.Params[name], _ = encoders.ParamValue(params, name)
	}
	return e, nil
}

// Normalise gives the params of all encoders one form, by which they are compared and
// written.
func (c *Config) Normalise() (err error) {
	if c.Encoder, err = c.Encoder.normal("encoder", c.Codecs); err != nil {
		return err
	}
	c.Shadows = slices.Clone(c.Shadows)
	for i := range c.Shadows {
		if c.Shadows[i], err = c.Shadows[i].normal(Indexed("shadow", i), c.Codecs); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks that the configuration makes sense as a whole: the values of
// several keys together. Every error names the key to look at.
func (c *Config) Validate() error { return c.Locate(c.validate()) }

func (c *Config) validate() error {
	if _, _, err := c.Encoder.Resolve("encoder", c.Codecs); err != nil {
		return err
	}
	if len(c.Shadows) > maxShadows {
		return tooManyShadows(Indexed("shadow", maxShadows), len(c.Shadows))
	}
	for i, s := range c.Shadows {
		if _, _, err := s.Resolve(Indexed("shadow", i), c.Codecs); err != nil {
			return err
		}
	}
	return firstError(
		func() error { return ErrorAt("down", c.Down.Validate()) },
		func() error { return ErrorAt("up", c.Up.Validate()) },
		c.checkHistories, c.checkSweep, c.checkSearch, c.checkClients, c.checkScript)
}

// firstError calls checks in turn, until one returns an error.
func firstError(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkHistories compares what must be kept with what is: the display moves
// between two snapshots, and packets lean on one.
func (c *Config) checkHistories() error {
	if least := min(c.Sender.History, c.Receiver.History); c.Sender.Every > 1 && 2*c.Sender.Every > least {
		return &Error{Key: "sender.every", Problem: fmt.Sprintf("every %d-th snapshot is hardly ever within %d of another",
			c.Sender.Every, least),
			Expected: fmt.Sprintf("1 to %d (half of the shorter history)", max(1, least/2))}
	}
	held := time.Duration(c.Receiver.History) * time.Second / time.Duration(c.Sender.RateHz)
	if c.Receiver.Playout >= held {
		return &Error{Key: "receiver.playout_delay",
			Problem:  c.Receiver.Playout.String() + " reaches beyond the receiver's history",
			Expected: "less than " + held.Round(time.Millisecond).String() + " (receiver.history frames at sender.rate_hz)"}
	}
	return nil
}

// checkScript plays the scripted changes on a copy, in the order of their times.
func (c *Config) checkScript() error {
	d := c.fork()
	for _, i := range c.ScriptOrder() {
		at := c.At[i]
		if at.T < 0 {
			return &Error{Key: Indexed("at", i), Problem: "t is missing", Expected: `a time such as t = "10s"`}
		}
		if c.Duration > 0 && at.T >= c.Duration {
			return &Error{Key: Indexed("at", i) + ".t", Problem: at.T.String() + " is not before the end",
				Expected: "less than duration = " + c.Duration.String()}
		}
		if err := d.Apply(at.Change); err != nil {
			return Within(Indexed("at", i), err)
		}
	}
	return nil
}

// ScriptOrder returns the places in At by time, those of one time in file order.
func (c *Config) ScriptOrder() []int {
	order := make([]int, len(c.At))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.At[a].T, c.At[b].T) })
	return order
}

// Pin reads the files that the links name and stores the hash of each, so that the replay of a
// report detects a changed file. A file that cannot be used is refused
// here, before anything runs.
func (c *Config) Pin() error {
	for _, way := range []Way{DownOnly, UpOnly} {
		pinned, err := way.Link(c).Pin(c.ReadTrace)
		if err != nil {
			return c.badFile(way.String(), err)
		}
		*way.Link(c) = pinned
	}
	return nil
}

// badFile describes the error of a file that a link names, under the key that was
// written: "trace" is short for three.
func (c *Config) badFile(way string, err error) error {
	var fe *lossmodel.FileError
	if !errors.As(err, &fe) {
		return ErrorAt(way, err)
	}
	out := &Error{Key: way + "." + fe.Key, Problem: fe.Err.Error(), Cause: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.Expected = "the path of a file"
	}
	for _, key := range []string{out.Key, way + ".trace", "link." + fe.Key, "link.trace"} {
		if c.flags[key] || c.lines[key] > 0 {
			out.Key = key
			break
		}
	}
	return out
}

// ReadTrace reads a file that a link names, where it lies.
func (c *Config) ReadTrace(name string) ([]byte, error) { return tracefile.ReadFile(c.where(name)) }

func (c *Config) where(name string) string {
	if c.Find == nil {
		return name
	}
	return c.Find(name)
}

// Warnings names what the links do that their keys do not say.
func (c *Config) Warnings() []string {
	var out []string
	for _, way := range []Way{DownOnly, UpOnly} {
		for _, w := range way.Link(c).Warnings() {
			out = append(out, way.String()+": "+w)
		}
	}
	if len(c.Clients) > 0 {
		out = append(out, "client: a proxy has clients; a run does not look at them")
	}
	return out
}
