package config

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// A row describes one setting of a T: of a Config, or of an entry of a list such as [[client]]. Files,
// flags, scripts, controls, commands, completion, labels, undo, JSON and warnings are derived from it.
type row[T any] struct {
	Key   string // in a file
	Words string // name of the setting in sentences; "" means that its key is its name
	Help  string // one line, for a control
	// Field returns the address of the setting in a T: of a number, a text, a Boolean, a policy or a
	// flag.Value. nil means the fields that Key names without regard to case and underscores.
	Field func(*T) any
	// Default is the value in an empty file, as Set accepts it; nil means the zero value of the field.
	Default any
	Needs   []string // other settings without which this one has no effect: see setting.Unmet

	Min, Max float64          // range of a number
	Scale    float64          // integers stored for 1; 0 means 1
	Unit     string           // of numbers, after them in texts
	quantity *quantity        // how an int64 is written; nil means in decimal
	Zero     string           // text of 0, or of no policy; "" if there is none
	Policies policy.Set       // the policies that are values
	Options  []setting.Option // the only values of a text; of a Boolean, those for false and true
	Expected string           // continues the sentence after "expected"; "" means that it follows from the above

	Short       string // name in scripts and of the command; "" if a session cannot change the setting
	Restarts    bool   // a change during a session restarts the run
	Args        string // arguments of the command; "" if there is no command
	CommandHelp string // help of the command

	Label   string          // of the control; "" if there is none
	Ladder  []float64       // values at which the control stops, from its left end to its right end
	IsShown func(*T) bool   // whether the control is shown while the setting has its default; nil means always
	Display func(*T) string // the value as the control shows it; nil means the label with the unit
}

// Row describes one setting of a Config. LinkRow and ParamRow return the rows of links and encoders.
type Row = row[Config]

// A quantity converts numbers with units to and from text.
type quantity struct {
	what    string // "a rate"
	example string
	parse   func(text string) (int64, bool)
	format  func(int64) string
}

// The quantities. A span is a time as Go writes it.
var (
	rate = &quantity{"a rate", "64kbit", units.ParseRate, units.FormatRate}
	size = &quantity{"a size", "200B", units.ParseSize, units.FormatSize}
	span = &quantity{"a time", "10s", func(text string) (int64, bool) {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		return int64(d), err == nil
	}, func(n int64) string { return time.Duration(n).String() }}
)

// field returns the address of the setting in t: see Field.
func (r *row[T]) field(t *T) any {
	if r.Field != nil {
		return r.Field(t)
	}
	v := reflect.ValueOf(t).Elem()
	for name := range strings.SplitSeq(strings.ReplaceAll(r.Key, "_", ""), ".") {
		v = v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	}
	return v.Addr().Interface()
}

// off is the text of many settings that are switched off.
const off = "off"

// invalidValue is the problem text for most invalid values.
const invalidValue = "is invalid"

// errInvalid is returned by the Set of a flag.Value for a text that is not as the row expects.
var errInvalid = errors.New(invalidValue)

// Set parses a value and stores it in t. The value has one of the types of TOML, or is text. Errors are
// *Error.
func (r *row[T]) Set(t *T, v any) error {
	ok := false
	text := strings.TrimSpace(fmt.Sprint(v))
	switch p := r.field(t).(type) {
	case *bool:
		ok = r.setBool(p, v)
	case *uint64:
		var n uint64
		if n, ok = toUint(v); ok {
			*p = n
		}
	case *string:
		_, isText := v.(string)
		isOption := slices.Contains(setting.Names(r.Options), text)
		if isText && len(r.Options) > 0 && !isOption {
			return Unknown(r.Key, "name", text, setting.Names(r.Options))
		}
		if ok = isText && text != ""; ok {
			*p = text
		}
	case *policy.Policy:
		return r.setPolicy(p, v)
	case flag.Value:
		if names, isText := parseNames(v); isText {
			if err := p.Set(strings.Join(names, ", ")); err != errInvalid {
				return ErrorAt(r.Key, err)
			}
		}
	default:
		ok = r.setNumber(p, v)
	}
	return errorUnless(ok, r.Key, v, invalidValue, r.ExpectedText())
}

// setBool stores a Boolean, or one of two options. It returns false if v is neither.
func (r *row[T]) setBool(p *bool, v any) bool {
	if len(r.Options) == 0 {
		return setBool(p, v)
	}
	i := slices.IndexFunc(r.Options, func(o setting.Option) bool { return o.Name == v })
	if i >= 0 {
		*p = i == 1
	}
	return i >= 0
}

// setPolicy stores a policy, or the zero Policy if v is off and the setting can be off.
func (r *row[T]) setPolicy(p *policy.Policy, v any) error {
	var text string
	if !setText(&text, v) {
		return errorUnless(false, r.Key, v, invalidValue, r.ExpectedText())
	}
	parsed, err := r.Policies.Parse(text)
	hasOff := r.Zero == off
	if unknown := (*setting.KeyError)(nil); hasOff && errors.As(err, &unknown) && unknown.Expected == "policy" {
		unknown.Known = append(unknown.Known, off)
	}
	if hasOff && text == off {
		err = nil
	}
	if err == nil {
		*p = parsed
	}
	return ErrorAt(r.Key, err)
}

// setNumber stores a number within its range in the integer, float64 or time.Duration at p. It returns
// false if v is no such number.
func (r *row[T]) setNumber(p, v any) bool {
	n, ok := r.parse(p, v)
	if !ok {
		return false
	}
	stored := math.Round(n * cmp.Or(r.Scale, 1))
	switch p := p.(type) {
	case *int:
		*p = int(stored)
	case *int64:
		*p = int64(stored)
	case *time.Duration:
		*p = time.Duration(stored)
	case *float64:
		*p = n
	}
	return true
}

// parse converts a value to a number for the field at p. It returns false if v is no number or out of range.
func (r *row[T]) parse(p, v any) (n float64, ok bool) {
	text := strings.TrimSpace(fmt.Sprint(v))
	if r.Zero != "" && text == r.Zero {
		return 0, true
	}
	if q := r.quantityOf(p); q != nil {
		whole, ok := q.parse(text)
		return float64(whole), ok && float64(whole) >= r.Min && float64(whole) <= r.Max
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, cmp.Or(r.Unit, " "))), 64)
	if _, isFloat := p.(*float64); !isFloat && r.Scale == 0 && n != math.Trunc(n) {
		return 0, false
	}
	return n, err == nil && n >= r.Min && n <= r.Max
}

// quantityOf returns how numbers of the field at p are written; nil means in decimal.
func (r *row[T]) quantityOf(p any) *quantity {
	if _, isSpan := p.(*time.Duration); isSpan {
		return span
	}
	return r.quantity
}

// Get returns the value as in a file: a number, a Boolean, or a text that Set accepts.
func (r *row[T]) Get(t *T) any {
	switch p := r.field(t).(type) {
	case *bool:
		if len(r.Options) == 0 {
			return *p
		}
		return r.Options[indexOf(*p)].Name
	case *uint64:
		return seedValue(*p)
	case *string:
		return *p
	case *policy.Policy:
		return cmp.Or(p.String(), r.Zero)
	case flag.Value:
		return p.String()
	default:
		return r.value(p, number(p)/cmp.Or(r.Scale, 1))
	}
}

// indexOf returns 0 for false and 1 for true.
func indexOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number returns the integer, float64 or time.Duration at p.
func number(p any) float64 {
	v := reflect.ValueOf(p).Elem()
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// seedValue returns a seed as in TOML and JSON: as text from 2^53 on, because JSON readers convert numbers to
// float64.
func seedValue(seed uint64) any {
	if seed >= 1<<53 {
		return strconv.FormatUint(seed, 10)
	}
	return int64(seed)
}

// value returns a number of the field at p as in a file.
func (r *row[T]) value(p any, n float64) any {
	_, isFloat := p.(*float64)
	switch q := r.quantityOf(p); {
	case n == 0 && r.Zero == off:
		return off
	case q != nil:
		return q.format(int64(n))
	case isFloat || r.Scale != 0:
		return n
	}
	return int64(n)
}

// Text returns the value as text that Set accepts.
func (r *row[T]) Text(t *T) string { return fmt.Sprint(r.Get(t)) }

// label returns the value without parameters that have their defaults.
func (r *row[T]) label(t *T) string {
	switch p := r.field(t).(type) {
	case *policy.Policy:
		return cmp.Or(p.Label(), r.Zero)
	case interface{ Label() string }:
		return p.Label()
	}
	return r.Text(t)
}

// Show returns the value as a control shows it.
func (r *row[T]) Show(t *T) string {
	if r.Display != nil {
		return r.Display(t)
	}
	text := r.label(t)
	if r.Unit != "" && text != off {
		text += " " + r.Unit
	}
	return text
}

// Complete returns the candidates for the word that follows before in a command: policies with their
// parameters, and the words of Args in lower case, which are values.
func (r *row[T]) Complete(before []string) (candidates []string) {
	if len(r.Policies) > 0 {
		candidates = r.Policies.Complete(before)
	}
	for word := range strings.SplitSeq(r.Args, "|") {
		if len(before) == 0 && word == strings.ToLower(word) {
			candidates = append(candidates, word)
		}
	}
	return candidates
}

// boundText returns the smallest or largest value of a setting as text, without an exponent.
func boundText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// ExpectedText describes the values. It continues the sentence after "expected".
func (r *row[T]) ExpectedText() string {
	text := r.Expected
	p := r.field(new(T))
	_, isBool := p.(*bool)
	switch {
	case text != "":
		return text
	case len(r.Policies) > 0:
		text = r.Policies.Expected()
	case len(r.Options) > 0:
		return OneOf(setting.Names(r.Options))
	case isBool:
		return "true or false"
	default:
		what, example := "a number", ""
		if _, isFloat := p.(*float64); !isFloat && r.Scale == 0 {
			what = "a whole number"
		}
		if q := r.quantityOf(p); q != nil {
			what, example = q.what, fmt.Sprintf(", such as %q", q.example)
		}
		bounds := boundText(r.value(p, r.Min)) + " to " + boundText(r.value(p, r.Max))
		text = strings.TrimSpace(what+" from "+bounds+" "+r.Unit) + example
	}
	if r.Zero == off {
		text += `, or "off"`
	}
	return text
}

// A stepper is a field that knows the values that a control steps through.
type stepper interface {
	Step(n int) (value any, ok bool)
}

// HasSteps reports whether a control can step through values; otherwise they are typed.
func (r *row[T]) HasSteps(t *T) bool {
	_, isStepper := r.field(t).(stepper)
	return isStepper || len(r.Ladder) > 0 || len(r.Options) > 0
}

// Step returns the value n steps further, to the left if n is negative; ok is false if there is no such
// value. From a value between two stops of the ladder the first step leads to the next stop in that
// direction.
func (r *row[T]) Step(t *T, n int) (value any, ok bool) {
	p := r.field(t)
	if s, isStepper := p.(stepper); isStepper {
		return s.Step(n)
	}
	if len(r.Options) > 0 {
		name, _, _ := strings.Cut(r.Text(t), " ")
		next := setting.Cycle(r.Options, name, n)
		return next, next != ""
	}
	if len(r.Ladder) == 0 {
		return nil, false
	}
	index, isBetween := r.stop(number(p))
	if isBetween && n > 0 {
		n--
	}
	next := min(max(index+n, 0), len(r.Ladder)-1)
	return r.value(p, r.Ladder[next]), next != index || isBetween
}

// stop returns the index of the first stop of the ladder that is not to the left of n, or the last, and
// whether n is before that stop.
func (r *row[T]) stop(n float64) (index int, isBetween bool) {
	isRising := r.Ladder[0] < r.Ladder[len(r.Ladder)-1]
	index = slices.IndexFunc(r.Ladder, func(stop float64) bool { return stop == n || stop > n == isRising })
	if index < 0 {
		return len(r.Ladder) - 1, false
	}
	return index, r.Ladder[index] != n
}

// Level returns the position of the value between the ends of the control, from 0 to 1; ok is false if
// there are none.
func (r *row[T]) Level(t *T) (level float64, ok bool) {
	p := r.field(t)
	if l, has := p.(interface{ Level() (float64, bool) }); has {
		return l.Level()
	}
	if len(r.Ladder) == 0 {
		return 0, false
	}
	index, _ := r.stop(number(p))
	return float64(index) / float64(len(r.Ladder)-1), true
}

// A parsed is a flag.Value of type V with functions that parse and format it.
type parsed[V any] struct {
	p      *V
	parse  func(text string) (V, error)
	format func(V) string
}

func (x parsed[V]) String() string { return x.format(*x.p) }

func (x parsed[V]) Set(text string) error {
	v, err := x.parse(text)
	if err == nil {
		*x.p = v
	}
	return err
}

// setRow sets the field of t that belongs to key, one of the keys of rows. found is false if no row has
// the key. fullKey is the key in errors.
func setRow[T any](rows []row[T], t *T, fullKey, key string, value any) (found bool, err error) {
	for i := range rows {
		if rows[i].Key == key {
			return true, withKey(fullKey, rows[i].Set(t, value))
		}
	}
	return false, nil
}

// addRowValues adds the values of t to a table by the keys of rows, without those that are not set.
func addRowValues[T any](rows []row[T], t *T, table map[string]any) {
	for i := range rows {
		if r := &rows[i]; r.Text(t) != r.Text(new(T)) {
			table[r.Key] = r.Get(t)
		}
	}
}
