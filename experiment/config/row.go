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
	Needs   string // other settings without which this one has no effect, such as anyBudget + and + radiusKey

	Min, Max float64          // range of a number
	Scale    float64          // integers stored for 1; 0 means 1
	Unit     string           // of numbers, after them in texts
	quantity *quantity        // how a number is written; nil means in decimal
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

// A quantity converts numbers to and from text.
type quantity struct {
	what    string // "a rate"
	example string // "" if the range is example enough
	parse   func(text string) (n float64, ok bool)
	format  func(float64) any // a number, or a text for parse
}

// The quantities. A span is a time as Go writes it.
var (
	decimal = &quantity{"a number", "", parseDecimal, func(n float64) any { return n }}
	whole   = &quantity{"a whole number", "", func(text string) (float64, bool) {
		n, ok := parseDecimal(text)
		return n, ok && n == math.Trunc(n)
	}, func(n float64) any { return int64(n) }}
	rate = unit("a rate", "64kbit", units.ParseRate, units.FormatRate)
	size = unit("a size", "200B", units.ParseSize, units.FormatSize)
	span = unit("a time", "10s", func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		return d, err == nil
	}, time.Duration.String)
)

// text returns a whole number of the quantity as text.
func (q *quantity) text(n int64) string { return fmt.Sprint(q.format(float64(n))) }

// parseDecimal parses a number without a unit.
func parseDecimal(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// unit returns the quantity with values of type N.
func unit[N ~int64](what, example string, parse func(string) (N, bool), format func(N) string) *quantity {
	return &quantity{what, example, func(text string) (float64, bool) {
		n, ok := parse(text)
		return float64(n), ok
	}, func(n float64) any { return format(N(n)) }}
}

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
	text := strings.TrimSpace(fmt.Sprint(v))
	_, isText := v.(string)
	isText = isText && text != ""
	switch p := r.field(t).(type) {
	case *bool:
		if i := slices.Index(r.names(), text); i >= 0 {
			*p = i == 1
			return nil
		}
	case *uint64:
		if n, ok := toUint(v); ok {
			*p = n
			return nil
		}
	case *string:
		if isText && len(r.Options) > 0 && !slices.Contains(r.names(), text) {
			return Unknown(r.Key, "name", text, r.names())
		}
		if isText {
			*p = text
			return nil
		}
	case *policy.Policy:
		if isText {
			return r.setPolicy(p, text)
		}
	case flag.Value:
		if names, isText := parseNames(v); isText {
			if err := p.Set(strings.Join(names, ", ")); err != errInvalid {
				return ErrorAt(r.Key, err)
			}
		}
	default:
		if r.setNumber(p, text) {
			return nil
		}
	}
	return invalid(r.Key, v, r.ExpectedText())
}

// names returns the texts of a setting with options, or those of false and true.
func (r *row[T]) names() []string {
	if len(r.Options) == 0 {
		return []string{"false", "true"}
	}
	return setting.Names(r.Options)
}

// setPolicy stores a policy, or the zero Policy for off if the setting can be off.
func (r *row[T]) setPolicy(p *policy.Policy, text string) error {
	hasOff := r.Zero == off
	if hasOff && text == off {
		*p = policy.Policy{}
		return nil
	}
	parsed, err := r.Policies.Parse(text)
	if err == nil {
		*p = parsed
		return nil
	}
	if unknown, ok := errors.AsType[*setting.KeyError](err); ok && hasOff && unknown.Expected == "policy" {
		unknown.Known = append(unknown.Known, off)
	}
	return ErrorAt(r.Key, err)
}

// setNumber stores a number within its range in the integer or float64 at p. It returns false if text is no
// such number.
func (r *row[T]) setNumber(p any, text string) bool {
	n, ok := r.quantityOf(p).parse(strings.TrimSpace(strings.TrimSuffix(text, r.Unit)))
	isZero := text == r.Zero && text != ""
	switch v := reflect.ValueOf(p).Elem(); {
	case isZero:
		v.SetZero()
	case !ok || !(n >= r.Min && n <= r.Max): // also NaN
		return false
	case v.CanInt():
		v.SetInt(int64(math.Round(n * cmp.Or(r.Scale, 1))))
	default:
		v.SetFloat(n)
	}
	return true
}

// quantityOf returns how numbers of the field at p are written.
func (r *row[T]) quantityOf(p any) *quantity {
	_, isFloat := p.(*float64)
	_, isSpan := p.(*time.Duration)
	switch {
	case isSpan:
		return span
	case r.quantity != nil:
		return r.quantity
	case isFloat || r.Scale != 0:
		return decimal
	}
	return whole
}

// Get returns the value as in a file: a number, a Boolean, or a text that Set accepts.
func (r *row[T]) Get(t *T) any {
	switch p := r.field(t).(type) {
	case *bool:
		if len(r.Options) == 0 {
			return *p
		}
		if *p {
			return r.Options[1].Name
		}
		return r.Options[0].Name
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
	if n == 0 && r.Zero == off {
		return off
	}
	return r.quantityOf(p).format(n)
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
		return OneOf(r.names())
	case isBool:
		return "true or false"
	default:
		q := r.quantityOf(p)
		bounds := boundText(r.value(p, r.Min)) + " to " + boundText(r.value(p, r.Max))
		text = strings.TrimSpace(q.what + " from " + bounds + " " + r.Unit)
		if q.example != "" {
			text += fmt.Sprintf(", such as %q", q.example)
		}
	}
	if r.Zero == off {
		text += `, or "off"`
	}
	return text
}

// A stepper is a field that knows the values that a control steps through.
type stepper interface {
	HasSteps() bool
	Step(n int) (value any, ok bool) // only if HasSteps
}

// HasSteps reports whether a control can step through values; otherwise they are typed.
func (r *row[T]) HasSteps(t *T) bool {
	s, isStepper := r.field(t).(stepper)
	return isStepper && s.HasSteps() || len(r.Ladder) > 0 || len(r.Options) > 0
}

// Step returns the value n steps further, to the left if n is negative; ok is false if there is no such
// value. From a value between two stops of the ladder the first step leads to the next stop in that
// direction.
func (r *row[T]) Step(t *T, n int) (value any, ok bool) {
	p := r.field(t)
	if s, isStepper := p.(stepper); isStepper && s.HasSteps() {
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

// findRow returns the row with a full key or a short name; nil if none.
func findRow[T any](rows []row[T], key string) *row[T] {
	for i := range rows {
		if r := &rows[i]; r.Key == key || r.Short == key && key != "" {
			return r
		}
	}
	return nil
}

// addRowValues adds the values of t to a table by the keys of rows, without those that are not set.
func addRowValues[T any](rows []row[T], t *T, table map[string]any) {
	for i := range rows {
		if r := &rows[i]; r.Text(t) != r.Text(new(T)) {
			table[r.Key] = r.Get(t)
		}
	}
}
