package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirelab/experiment/figures"
	"wirelab/internal/setting"
	"wirelab/internal/suggest"
	"wirelab/lossmodel"
)

// Set sets the value of one dotted key of the TOML file, such as "down.loss", "encoder.name" or
// "at[0].t". "link.KEY" sets both directions. value has one of the types to which TOML is decoded; a
// number or a Boolean may also be given as text. Set also records that a flag or a caller set the key.
func (c *Config) Set(key string, value any) error {
	head, _, _ := strings.Cut(key, ".")
	if name, _, _ := cutIndex(head); name == "plugin" {
		return refuse(key, "plugins cannot be set here, because they are loaded first",
			"--plugin FILE, or [[plugin]] in a file")
	}
	c.flags = maps.Clone(c.flags)
	if c.flags == nil {
		c.flags = map[string]bool{}
	}
	c.flags[key] = true
	return c.set(key, value)
}

// set sets a key as Set does, but does not record it in c.flags, the keys that were not set by the file.
func (c *Config) set(key string, value any) error {
	if text, ok := value.(string); ok && !utf8.ValidString(text) {
		return refuse(key, fmt.Sprintf("%q is not UTF-8", text), "UTF-8 text")
	}
	c.recordChoice(key, value)
	head, rest, _ := strings.Cut(key, ".")
	name, index, isItem := cutIndex(head)
	dir, _, isLink := cutDirection(key)
	list, isList := tableLists()[name]
	switch {
	case isList && isItem && list.set != nil:
		return list.set(c, index, key, rest, value)
	case isList && key == name && findSetting(key) == nil: // only the keys of its entries can be set
		return refuse(key, "is a list",
			"a key of one of its entries, such as "+list.example)
	case head == "assert":
		return c.setAssert(rest, value)
	case head == "search":
		return c.Search.set(key, rest, value)
	case head == "encoder":
		return c.Encoder.set(key, rest, value)
	case head == "profile" && rest == "":
		return c.setProfile(value)
	case isLink:
		return c.setLink(key, dir, rest, value)
	}
	if list, isList := value.([]any); key == "traffic" && isList && isTableList(list) {
		return c.setTrafficTables(list)
	}
	if shares, isTable := value.(map[string]any); isTable { // of profiles
		var words []string
		for _, name := range sortedKeys(shares) {
			words = append(words, fmt.Sprint(name, " ", shares[name]))
		}
		value = strings.Join(words, ", ")
	}
	if r := findSetting(key); r != nil && r.Key == key {
		return r.Set(c, value)
	}
	return unknownKey(key)
}

// setLink sets key name of the links of a direction. key is the full key, for errors.
func (c *Config) setLink(key string, dir Direction, name string, value any) error {
	if name == "" {
		return notLinkError(key, value)
	}
	for _, link := range dir.links(c) {
		if err := link.Set(name, value); err != nil {
			return ErrorAt(key, err)
		}
	}
	return nil
}

// notLinkError returns the error for setting a link to a value that is not a table.
func notLinkError(key string, value any) error {
	return invalid(key, value, "a key of the link, such as "+key+`.loss = "5%"`)
}

// unknownKey returns the error for a key that cannot be set: it does not exist, or it is a table, of
// which only the keys can be set.
func unknownKey(key string) error {
	if key == "budget" {
		return refuse(key, "may mean two settings",
			budgetLineKey+" for the line in the chart, or "+BudgetKey+" for the budget that is enforced")
	}
	known := knownKeys()
	for _, k := range known {
		if strings.HasPrefix(k, key+".") {
			return refuse(key, "is a table", "a key of it, such as "+k)
		}
	}
	e := Unknown(key, "key", key, known)
	table, name, hasTable := strings.Cut(key, ".")
	inTable := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, table+".") })
	switch {
	case len(inTable) > 0:
		e.expectOneOf("key", cmp.Or(Near(name, inTable), Near(name, known)), inTable)
	case !hasTable: // more likely a name that commands use than one of any table
		e.expectOneOf("key", cmp.Or(FullKey(suggest.Closest(key, append(shortNames(), known...))), e.Near), tables(known))
	default:
		e.expectOneOf("key", e.Near, tables(known))
	}
	return e
}

// tables returns the names of the tables and of the keys outside of tables, in the order of keys.
func tables(keys []string) (names []string) {
	for _, key := range keys {
		name, _, _ := strings.Cut(key, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Keys returns the keys of the scalar settings and of both links.
func Keys() (keys []string) {
	for _, s := range Rows() {
		keys = append(keys, s.Key)
	}
	keys = append(keys, "profile", "encoder.name")
	for _, k := range lossmodel.Keys() {
		keys = append(keys, "down."+k.Key, "up."+k.Key)
	}
	return keys
}

// FullKey returns the key in a file for a name that the dashboard's commands accept: "link.loss" for "loss",
// "sender.every" for "every". Other keys are returned unchanged.
func FullKey(key string) string {
	head, _, _ := strings.Cut(key, ".")
	s := findSetting(key)
	switch {
	case s != nil:
		return s.Key
	case key == "encoder":
		return keyEncoder
	case head == "params":
		return "encoder." + key
	case isLinkKey(head) || key == "trace":
		return "link." + key
	}
	return key
}

// knownKeys returns the keys of a file, for suggestions.
func knownKeys() []string {
	return append(Keys(), "encoder.params", "at", "client", "plugin", "shadow", "sweep", "search.minimise", "assert")
}

// set sets the name or a parameter of an encoder, or one of the settings called own. key is the full key,
// rest the key in the encoder.
func (e *Encoder) set(key, rest string, value any, own ...string) error {
	param, isParam := strings.CutPrefix(rest, "params.")
	switch {
	case rest == "" || rest == "name":
		if !setText(&e.Name, value) {
			return invalid(key, value, "the name of an encoder")
		}
		return nil
	case isParam:
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[param] = value
		return nil
	case rest == "params":
		return invalid(key, value,
			"a parameter, such as encoder.params.NAME = VALUE; tui encoders ENCODER lists the parameters")
	}
	if slices.Contains(own, rest) {
		return e.setOwn(key, rest, value)
	}
	return Unknown(key, "key", rest, append([]string{"name", "params"}, own...))
}

// noProfile as the name of a profile leaves the links unchanged, but they are no longer named by a
// profile. Undo needs it.
const noProfile = "none"

// setProfile sets the links to a link profile. The name noProfile only removes the name of the profile.
func (c *Config) setProfile(value any) error {
	var name string
	if !setText(&name, value) {
		return invalid("profile", value, "the name of a link profile")
	}
	if name == noProfile {
		c.Profile = ""
		return nil
	}
	p := findProfile(name)
	if p == nil { // ProfileByName fails too, with an error that lists the names
		_, err := lossmodel.ProfileByName(name)
		return ErrorAt("profile", err)
	}
	c.Profile, c.Down, c.Up = name, p.Down, p.Up
	return nil
}

// firstDatagram is the value of at.from for times that count from the first datagram.
const firstDatagram = "first datagram"

// atRows are the keys of [[at]] that are no settings.
var atRows = []row[StampedChange]{
	{Key: "t", Max: float64(MaxDuration),
		Expected: `a time such as "10s"`},
	{Key: "from", Options: setting.Options([]string{"start", firstDatagram}), Field: func(at *StampedChange) any { return &at.FromFirstDatagram }},
}

// setAt sets key rest of [[at]] entry i. key is the full key, for errors.
func (c *Config) setAt(i int, key, rest string, value any) error {
	at := entryAt(&c.At, i, StampedChange{T: -1}) // a negative time is missing: see checkScript
	if r := findRow(atRows, rest); r != nil {
		err := r.Set(at, value)
		at.TS = at.T.Seconds()
		return withKey(key, err)
	}
	return Within(Indexed("at", i), at.Change.Set(rest, value))
}

// setShadow sets key rest of [[shadow]] entry i. key is the full key, for errors.
func (c *Config) setShadow(i int, key, rest string, value any) error {
	return entryAt(&c.Shadows, i, Encoder{}).set(key, rest, value, ownSettings()...)
}

// axisRows are the keys of [[sweep]] with one value.
var axisRows = []row[Axis]{
	{Key: "key", Expected: `a key such as "down.loss"`},
	{Key: "repeat", Min: 1, Max: maxRepeat, Unit: "seeds"},
}

// setSweep sets key rest of [[sweep]] entry i. key is the full key, for errors.
func (c *Config) setSweep(i int, key, rest string, value any) error {
	axis := entryAt(&c.Sweep, i, Axis{})
	if r := findRow(axisRows, rest); r != nil {
		return withKey(key, r.Set(axis, value))
	}
	if rest == "values" {
		return axis.setValues(key, value)
	}
	if strings.HasPrefix(rest, "values.") || strings.HasPrefix(rest, "values[") {
		return refuse(Indexed("sweep", i)+".values", "a table cannot be swept",
			plainValues)
	}
	return Unknown(key, "key", rest, []string{"key", "values", "repeat"})
}

// plainValues describes the values of a sweep.
const plainValues = `a list of plain values, such as ["0%", "5%"] or ["gilbert mean=5% burst=3"]`

// setValues sets the values of an axis, which must not be tables or lists.
func (a *Axis) setValues(key string, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return invalid(key, value, plainValues)
	}
	for j, v := range list {
		switch v.(type) {
		case map[string]any, []any:
			return refuse(Indexed(key, j), "a table or a list cannot be swept", plainValues)
		}
	}
	a.Values = list
	return nil
}

// setAssert sets the assertion about figure name.
func (c *Config) setAssert(name string, value any) error {
	a, err := parseAssertion(name, value, figures.Keys())
	if err != nil {
		return ErrorAt("assert."+name, err)
	}
	i := slices.IndexFunc(c.Assert, func(x Assertion) bool { return x.Name == a.Name })
	if i < 0 {
		i = len(c.Assert)
	}
	*entryAt(&c.Assert, i, a) = a
	return nil
}

// entryAt returns entry i of a list. If the list is too short, it is extended by copies of empty.
func entryAt[T any](list *[]T, i int, empty T) *T {
	for len(*list) <= i {
		*list = append(*list, empty)
	}
	return &(*list)[i]
}

// maxIndex is the largest index of a list in a key.
const maxIndex = 10_000

// cutIndex splits "at[3]" into "at" and 3. If s has no index from 0 to maxIndex, ok is false and name is s.
func cutIndex(s string) (name string, index int, ok bool) {
	name, rest, found := strings.Cut(s, "[")
	if !found || !strings.HasSuffix(rest, "]") {
		return s, 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil || n < 0 || n > maxIndex {
		return s, 0, false
	}
	return name, n, true
}

// Indexed returns the key of an entry of a list: "at[3]".
func Indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// invalid returns the error for a value of key.
func invalid(key string, value any, expected string) error {
	return refuse(key, quoteValue(value)+" "+invalidValue, expected)
}

// quoteValue returns a value for an error: text in quotes, truncated if it is long.
func quoteValue(v any) string {
	if s, ok := v.(string); ok {
		return quote(s)
	}
	return truncate(fmt.Sprint(v))
}

// setText stores the text v in dst, without spaces around it. It returns false if v is not a text or is
// blank.
func setText(dst *string, v any) bool {
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return false
	}
	*dst = strings.TrimSpace(s)
	return true
}

// toUint converts an integer from 0 on, which may have any of the types of TOML, JSON and flags. It returns
// false if v is no such integer.
func toUint(v any) (uint64, bool) {
	switch n := v.(type) {
	case int64:
		return uint64(n), n >= 0
	case int:
		return uint64(n), n >= 0
	case uint64:
		return n, true
	case float64:
		return uint64(n), n >= 0 && n < 1<<53 && n == math.Trunc(n) // from 2^53 on, a float64 is not exact
	case string:
		u, err := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
		return u, err == nil
	}
	return 0, false
}
