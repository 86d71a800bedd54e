package table

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"wirelab/dataset/source"
)

// Limits of the search for columns in JSON Lines.
const (
	maxPathLines = 1000
	maxPathBytes = 1 << 22
	maxPathDepth = 8
)

// pathFinder collects the paths of values in lines of JSON.
type pathFinder struct {
	list   string            // path of the first list of objects; "" if none was found
	around []string          // paths of values outside of that list
	within []string          // paths of values in its objects
	lists  []string          // further lists of objects
	tooFar bool              // there are more than MaxFields paths, or deep ones
	shape  map[string]string // by path outside of the list: its text, if it has one; of the newest line
}

// findPaths determines the columns of JSON Lines from the first lines.
func (g *guess) findPaths() error {
	f, shapes, err := g.readPaths()
	if err != nil {
		return err
	}
	g.where = kindOfLines(f.list, shapes)
	if g.where.column != "" {
		if err := g.In.Rewind(); err != nil {
			return fmt.Errorf("%s: %w", g.Path, err)
		}
		if f, _, err = g.readPaths(); err != nil {
			return err
		}
	}
	g.list = f.list
	paths := f.around
	if f.list != "" {
		paths = append(f.within, f.around...)
	}
	for i, path := range paths {
		switch {
		case !isPrintableName(path):
			g.leave(path[:min(len(path), maxText)], fmt.Sprintf("its path is not a printable text of at most %d characters", maxText))
		case len(g.columns) == MaxFields || slices.Contains(paths[:i], path):
			f.tooFar = f.tooFar || len(g.columns) == MaxFields
		default:
			g.columns = append(g.columns, profile{name: path, around: f.list != "" && i >= len(f.within)})
		}
	}
	for _, list := range f.lists {
		g.leave(list, fmt.Sprintf("it is a list of objects beside or within %s. Columns such as %q read one of them", f.list, list+"[0].x"))
	}
	if f.tooFar {
		g.leave("further paths", fmt.Sprintf("the lines have more than %d, or more than %d levels", MaxFields, maxPathDepth))
	}
	if len(g.columns) == 0 {
		return &source.Error{File: g.Path, Problem: "has no values", Expected: "lines with an object that has members", Kind: ErrRecords}
	}
	return nil
}

// readPaths reads the first lines, and returns also the shape of each.
func (g *guess) readPaths() (f pathFinder, shapes []map[string]string, err error) {
	r := &jsonReader{path: g.Path, where: g.where}
	if _, err := r.start(g.In, nil); err != nil {
		return f, nil, err
	}
	for n := 0; n < maxPathLines && r.size < maxPathBytes; n++ {
		if _, err := r.next(); err == io.EOF {
			break
		} else if err != nil {
			return f, nil, err
		}
		f.shape = map[string]string{}
		if err := f.find(jsontext.NewDecoder(bytes.NewReader(r.text)), "", 0, false); err != nil {
			return f, nil, r.syntaxError(err)
		}
		shapes = append(shapes, f.shape)
	}
	return f, shapes, nil
}

// kindOfLines returns the condition for lines to read if lines of several kinds alternate: a text is the same in all lines
// that have the list and in no others, or without a list, in most lines, and other lines have at most half of their values.
func kindOfLines(list string, shapes []map[string]string) (where condition) {
	const maxKinds = 16
	for _, path := range slices.Sorted(maps.Keys(shapes[0])) {
		groups := map[string][]map[string]string{}
		for _, shape := range shapes {
			groups[shape[path]] = append(groups[shape[path]], shape)
		}
		largest := ""
		for value, group := range groups {
			_, hasList := group[0][list]
			if (list == "" || hasList) && len(group) > len(groups[largest]) {
				largest = value
			}
		}
		isOther := func(shape map[string]string) bool { // has no list or other values
			if list != "" {
				_, hasList := shape[list]
				return !hasList
			}
			shared := -1 // without path
			for p := range groups[largest][0] {
				if _, ok := shape[p]; ok {
					shared++
				}
			}
			return 2*shared < len(groups[largest][0])
		}
		mixed := func(shape map[string]string) bool { return isOther(shape) == (shape[path] == largest) }
		if largest != "" && len(groups) > 1 && len(groups) <= maxKinds && !slices.ContainsFunc(shapes, mixed) {
			return condition{path, largest, true}
		}
	}
	return condition{}
}

// leave remarks that the schema does not describe a value, and why.
func (g *guess) leave(name, reason string) {
	if len(g.leftOut) < MaxFields {
		g.leftOut = append(g.leftOut, fmt.Sprintf("%s: left out, since %s", name, reason))
	}
}

// find collects the paths of the next value, whose own path is given. inList means that the value is in an object of
// f.list.
func (f *pathFinder) find(d *jsontext.Decoder, path string, depth int, inList bool) error {
	kind := d.PeekKind()
	if depth > maxPathDepth && (kind == '{' || kind == '[') {
		f.tooFar = true
		return d.SkipValue()
	}
	if kind != '{' && kind != '[' {
		f.add(path, inList)
		v, err := d.ReadValue()
		if kind == '"' && err == nil && !inList {
			text, _ := jsontext.AppendUnquote(nil, v) // the decoder has checked it
			f.shape[path] = string(text)
		} else if !inList {
			f.shape[path] = ""
		}
		return err
	}
	if kind == '[' && !inList {
		f.shape[path] = ""
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		if kind == '[' && d.PeekKind() == '{' && path != "" {
			if err := f.findRow(d, path, depth, inList); err != nil {
				return err
			}
			continue
		}
		step := fmt.Sprintf("[%d]", i)
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			step = name.String()
			if path != "" {
				step = "." + step
			}
		}
		if err := f.find(d, path+step, depth+1, inList); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// findRow collects the paths of the next value, an object in the list at path.
func (f *pathFinder) findRow(d *jsontext.Decoder, path string, depth int, inList bool) error {
	if f.list == "" && !inList && isPrintableName(path) {
		f.list = path
	}
	if path == f.list && !inList {
		return f.find(d, "", depth+1, true)
	}
	if !slices.Contains(f.lists, path) && len(f.lists) < maxPathDepth {
		f.lists = append(f.lists, path)
	}
	return d.SkipValue()
}

// add adds the path of a value.
func (f *pathFinder) add(path string, inList bool) {
	list := &f.around
	if inList {
		list = &f.within
	}
	if slices.Contains(*list, path) {
		return
	}
	if len(*list) > MaxFields {
		f.tooFar = true
		return
	}
	*list = append(*list, path)
}
