package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
	"wirelab/internal/tomlkeys"
)

// maxConfigBytes is the maximum size of a configuration file.
const maxConfigBytes = 1 << 20

// LoadFile reads a configuration from a TOML file.
func LoadFile(path string) (*Config, error) {
	data, err := ReadFile(path, maxConfigBytes, "a TOML file")
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// ReadFile reads a regular file of at most limit bytes. Its errors are *Error; expected is the text in
// them that describes the file that was expected.
func ReadFile(path string, limit int64, expected string) ([]byte, error) {
	bad := func(problem string) error { return &Error{File: path, Problem: problem, Expected: expected} }
	data, err := boundedio.ReadFile(path, limit)
	var kind *boundedio.KindError
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, &kind):
		return nil, bad("is " + source.DescribeMode(kind.Mode))
	case errors.As(err, &tooLarge):
		return nil, bad(fmt.Sprintf("has more than %d bytes", limit))
	case err != nil:
		return nil, readError(path, expected, err)
	}
	return data, nil
}

// readError returns the error for a file that cannot be read.
func readError(path, expected string, err error) error {
	return &Error{File: path,
		Problem: "cannot be read: " + WithoutPath(err), Expected: expected, Cause: err}
}

// WithoutPath returns the text of a file error without the path, for messages that contain the path already.
func WithoutPath(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Parse reads a configuration from TOML text. name is the path of the file; errors name it, and paths of
// plugins are relative to its folder.
func Parse(name string, data []byte) (*Config, error) {
	c := Default()
	lines, err := c.setAll(filepath.Dir(name), data)
	if err != nil {
		return nil, Located(name, lines, err)
	}
	c.file = name
	c.lines = lines
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, c.Normalise()
}

// setAll sets every key of the TOML text data and returns the line of each key. It sets the profile and the
// data source first, because other keys modify the profile or are chosen for the data. It also loads the
// plugins, whose paths are relative to the folder dir.
func (c *Config) setAll(dir string, data []byte) (lines map[string]int, err error) {
	// A file in UTF-16 begins with a byte order mark, of little or big endian.
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, &Error{Line: 1, Problem: "the text is in UTF-16, as PowerShell writes it", Expected: "UTF-8"}
	}
	tree, lines, err := tomlkeys.Parse(data) // its errors are of type *tomlkeys.Error
	if bad, ok := errors.AsType[*tomlkeys.Error](err); ok {
		return nil, &Error{Line: bad.Line, Problem: bad.Problem, Expected: bad.Expected}
	}
	if err := sweepTable(tree, lines); err != nil {
		return lines, err
	}
	if err := checkShape(tree); err != nil {
		return lines, err
	}
	flat := Values(tree).flat()
	if err := checkPlayoutKeys(flat); err != nil {
		return lines, err
	}
	inOrder := func(a, b string) int { // by rank, then in the order of the file
		byRank := keyRank(a) - keyRank(b)
		byLine := tomlkeys.LineOf(lines, a) - tomlkeys.LineOf(lines, b)
		return cmp.Or(byRank, byLine, strings.Compare(a, b))
	}
	for _, key := range slices.SortedFunc(maps.Keys(flat), inOrder) {
		list, isList := flat[key].([]any)
		isTopLevel := !strings.Contains(key, ".")
		if isTopLevel && isList && len(list) == 0 { // an empty list of tables, such as at = []
			continue
		}
		if err := c.set(key, flat[key]); err != nil {
			return lines, err
		}
	}
	return lines, c.loadPlugins(dir)
}

// A tableList describes an array of tables of the file.
type tableList struct {
	example  string                                                    // a key of an entry, for errors
	expected string                                                    // the required keys of an entry, for errors
	set      func(c *Config, i int, key, rest string, value any) error // sets key rest of entry i; key is the full key
}

// tableLists returns the arrays of tables by name.
func tableLists() map[string]tableList {
	return map[string]tableList{ // each entry: example, expected, set
		"at":      {"at[0].t", `t = "10s" and a change, such as loss = "5%"`, (*Config).setAt},
		"client":  {"client[0].turn", `turn = 1 (the first client that sends) or address = "10.0.0.5", and settings of its links, such as down.loss = "5%"`, (*Config).setClient},
		"plugin":  {"plugin[0].path", `path = "FILE.wasm"`, (*Config).setPlugin},
		"traffic": {"traffic[0].kind", `kind = "cubic" and parameters of it, such as flows = 4`, nil},
		"shadow":  {"shadow[0].name", `name = "an encoder"`, (*Config).setShadow},
		"sweep":   {"sweep[0].key", `key = "down.loss" and values = ["0%", "5%"], or repeat = 30`, (*Config).setSweep},
	}
}

// checkShape checks the top level of a file. It returns an error if one table is given for a key that needs a
// list of tables, if a list of tables is given for another key, or if a table in a list is empty.
func checkShape(tree map[string]any) error {
	for _, name := range sortedKeys(tree) {
		list, isList := tableLists()[name]
		switch v := tree[name].(type) {
		case map[string]any:
			if isList {
				return refuse(name, "is a list of tables, got one table",
					"[["+name+"]]")
			}
		case []any:
			for i, entry := range v {
				table, isTable := entry.(map[string]any)
				switch {
				case isTable && !isList:
					return refuse(Indexed(name, i), "is not a list of tables",
						"one table, as in ["+name+"]")
				case isTable && len(table) == 0:
					return refuse(Indexed(name, i), "empty table", list.expected)
				}
			}
		}
	}
	return nil
}

// flatten adds the values of v, which may be nested tables and arrays of tables, to out by their dotted keys.
// prefix is the key of v.
func flatten(prefix string, v any, out map[string]any) {
	switch t := v.(type) {
	case map[string]any:
		if isTableValue(prefix, t) {
			out[prefix] = t
			return
		}
		for k, sub := range t {
			flatten(strings.TrimPrefix(prefix+"."+k, "."), sub, out)
		}
	case map[string]string: // of Change
		for k, sub := range t {
			flatten(prefix+"."+k, sub, out)
		}
	case []any:
		if !isTableList(t) || prefix == "traffic" {
			out[prefix] = t
			return
		}
		for i, sub := range t {
			flatten(Indexed(prefix, i), sub, out)
		}
	default:
		out[prefix] = t
	}
}

// isTableList reports whether the first entry of a list is a table.
func isTableList(list []any) bool {
	if len(list) == 0 {
		return false
	}
	_, isTable := list[0].(map[string]any)
	return isTable
}

// isTableValue reports whether a table is the value of a key: the shares of profiles, or a range of a search.
func isTableValue(key string, table map[string]any) bool {
	isRange := table["from"] != nil || table["to"] != nil || table["step"] != nil
	return key == profilesKey || isRange && strings.HasPrefix(key, "search.over.")
}

// Locate adds file and line to an Error about a key of the configuration's file. Errors about keys that were
// set later are unchanged.
func (c *Config) Locate(err error) error {
	if err == nil || c.file == "" {
		return err
	}
	var ce *Error
	if errors.As(err, &ce) && c.flags[ce.Key] {
		return err
	}
	return Located(c.file, c.lines, err)
}

// Located adds the file name and the line to an *Error: the line of its key, or of the closest table
// that contains the key. Other errors get the file name as a prefix.
func Located(name string, lines map[string]int, err error) error {
	var ce *Error
	if name == "" {
		return err
	}
	if !errors.As(err, &ce) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if ce.File != "" {
		return err
	}
	out := *ce
	out.File = name
	if out.Line == 0 {
		out.Line = tomlkeys.LineOf(lines, out.Key)
	}
	return &out
}
