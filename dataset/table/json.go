package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wirelab/dataset/source"
)

// maxJSONLine is the maximum length of a line of JSON Lines in bytes. A line can be a frame of many rows.
const maxJSONLine = 1 << 24

// jsonReader reads rows of JSON Lines. A line is an object; it is a row, or a frame with a list of rows. Columns are
// paths such as "pos.x" or "pos[0]", which are looked up in the row and then, if a line is a frame, in the frame.
type jsonReader struct {
	path  string
	list  string // path of the list of rows in a line; "" if a line is a row
	where condition
	in    *bufio.Reader
	line  int
	size  int64
	text  []byte   // the current line
	cell  [][]byte // of the current row
	name  []string // of the columns, for errors

	selector      int       // the column of where
	row, frame    *jsonNode // what to find in a row, and in a frame around the list
	inRow, around jsonCells
	rows          []byte // text of the list
	count         int    // rows of the list so far
	inList        bool
	lineDecoder   jsontext.Decoder
	listDecoder   jsontext.Decoder
	lineInput     bytes.Buffer
	listInput     bytes.Buffer
}

// jsonNode is a value to find in JSON: one of the columns, or a value that contains some.
type jsonNode struct {
	cell     int                  // index of the column, -1 if none
	isList   bool                 // the list of rows
	members  map[string]*jsonNode // of an object
	elements map[int]*jsonNode    // of a list
}

// jsonCells are the values of columns that were found, as text.
type jsonCells struct {
	text []byte
	ends [][2]int // by column: its start and end in text; the end is 0 if the column was not found
}

// reset forgets all values. n is the number of columns.
func (c *jsonCells) reset(n int) {
	c.text = append(c.text[:0], 0) // so that the end of a value is above 0
	if len(c.ends) != n {
		c.ends = make([][2]int, n)
	}
	clear(c.ends)
}

// get returns the text of column i, or nil.
func (c *jsonCells) get(i int) []byte {
	if i >= len(c.ends) || c.ends[i][1] == 0 {
		return nil
	}
	return c.text[c.ends[i][0]:c.ends[i][1]]
}

// newJSONNode returns a node that is not a column.
func newJSONNode() *jsonNode { return &jsonNode{cell: -1} }

// add returns the node at a path below n, such as "pos.x" or "pos[0]". It adds the nodes on the way.
func (n *jsonNode) add(path string) *jsonNode {
	for path != "" {
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		step := path[:end]
		path = strings.TrimPrefix(path[end:], ".")
		if index, err := strconv.Atoi(strings.Trim(step, "[]")); step[0] == '[' && err == nil {
			n = child(&n.elements, index)
		} else {
			n = child(&n.members, step)
		}
	}
	return n
}

// child returns the element of m with a key. It adds the element if it does not exist.
func child[K comparable](m *map[K]*jsonNode, key K) *jsonNode {
	if *m == nil {
		*m = map[K]*jsonNode{}
	}
	if (*m)[key] == nil {
		(*m)[key] = newJSONNode()
	}
	return (*m)[key]
}

func (r *jsonReader) start(in io.Reader, columns []string) (at []int, err error) {
	if r.in == nil {
		r.in = bufio.NewReaderSize(in, maxLine)
		r.row, r.frame = newJSONNode(), newJSONNode()
		if r.where.column != "" && !slices.Contains(columns, r.where.column) {
			columns = append(slices.Clone(columns), r.where.column)
		}
		r.selector = slices.Index(columns, r.where.column)
		for i, name := range columns {
			for _, n := range []*jsonNode{r.row, r.frame} {
				n.add(name).cell = i
				child(&n.members, name).cell = i // a member whose name has dots
			}
		}
		if r.list != "" {
			r.frame.add(r.list).isList = true
		}
		r.name, r.cell = columns, make([][]byte, len(columns))
	}
	r.in.Reset(in)
	r.line, r.size, r.inList = 0, 0, false
	for i := range r.name {
		at = append(at, i)
	}
	return at, nil
}

func (r *jsonReader) position() (line int, bytes int64) { return r.line, r.size }

func (r *jsonReader) fail(i int, kind error, problem, expected string) error {
	e := &source.Error{File: r.path, Line: r.line, Problem: problem, Expected: expected, Kind: kind}
	if i >= 0 {
		e.Place = r.name[i]
	}
	if r.list != "" && r.count > 0 {
		e.Place = strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", r.list, r.count-1, e.Place), ".")
	}
	return e
}

func (r *jsonReader) next() ([][]byte, error) {
	for !r.inList {
		if err := r.readLine(); err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(r.text)) == 0 {
			continue
		}
		if err := r.readObject(); err != nil {
			return nil, err
		}
		switch {
		case r.where.column != "" && !r.where.accepts(r.around.get(r.selector)):
			r.inList = false
			continue
		case r.list == "":
			return r.cells(), nil
		case !r.inList:
			return nil, r.fail(-1, ErrRecords, "no list "+quoted(r.list)+" in this line", "a list of rows, also if it is empty")
		}
		if r.listDecoder.PeekKind() == ']' {
			r.inList = false
			return nil, nil
		}
	}
	r.count++
	r.inRow.reset(len(r.name))
	if kind := r.listDecoder.PeekKind(); kind != '{' {
		return nil, r.fail(-1, ErrRecords, "is "+describeJSON(kind), "an object, which is a row")
	}
	if err := r.find(&r.listDecoder, r.row, &r.inRow); err != nil {
		return nil, err
	}
	r.inList = r.listDecoder.PeekKind() != ']'
	return r.cells(), nil
}

// readLine reads the next line into r.text.
func (r *jsonReader) readLine() error {
	r.text = r.text[:0]
	r.line++
	r.count = 0
	for {
		part, err := r.in.ReadSlice('\n')
		r.text, r.size = append(r.text, part...), r.size+int64(len(part))
		switch {
		case len(r.text) > maxJSONLine:
			return r.fail(-1, ErrRecords, fmt.Sprintf("a line of more than %d MB", maxJSONLine>>20), "one object on each line")
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(r.text) > 0:
		case err == io.EOF:
			return io.EOF
		case err != nil:
			return fmt.Errorf("%s: line %d: %w", r.path, r.line, err)
		}
		if r.line == 1 {
			r.text = bytes.TrimPrefix(r.text, []byte(byteOrderMark))
		}
		return nil
	}
}

// readObject reads the object on the current line. If it has a list of rows, the list is then ready to be read.
func (r *jsonReader) readObject() error {
	d := &r.lineDecoder
	r.lineInput = *bytes.NewBuffer(r.text)
	d.Reset(&r.lineInput)
	switch kind := d.PeekKind(); kind {
	case '[':
		return r.fail(-1, ErrRecords, "is a list", "one object on each line; jq -c '.[]' FILE makes such lines of a list")
	case '"', '0', 'n', 't', 'f':
		return r.fail(-1, ErrRecords, "is "+describeJSON(kind), "one object on each line")
	}
	root := r.frame
	if r.list == "" {
		root = r.row
	}
	r.around.reset(len(r.name))
	if err := r.find(d, root, &r.around); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return r.fail(-1, ErrRecords, "has more than one value", "one object on each line")
	}
	return nil
}

// find reads the next value of d, and stores the columns that it contains in cells. n describes what to find.
func (r *jsonReader) find(d *jsontext.Decoder, n *jsonNode, cells *jsonCells) error {
	kind := d.PeekKind()
	switch {
	case kind == '{' && n.members != nil:
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			var name jsontext.Value
			if name, err = d.ReadValue(); err != nil {
				break
			}
			if m := n.member(name); m != nil {
				if err := r.find(d, m, cells); err != nil {
					return err
				}
			} else {
				err = d.SkipValue()
			}
		}
		return r.end(d, err)
	case kind == '[' && n.elements != nil:
		_, err := d.ReadToken()
		for i := 0; err == nil && d.PeekKind() != ']'; i++ {
			if m := n.elements[i]; m != nil {
				if err := r.find(d, m, cells); err != nil {
					return err
				}
			} else {
				err = d.SkipValue()
			}
		}
		return r.end(d, err)
	case kind == '[' && n.isList:
		v, err := d.ReadValue()
		if err != nil {
			return r.syntaxError(err)
		}
		r.rows = append(r.rows[:0], v...)
		r.listInput = *bytes.NewBuffer(r.rows)
		r.listDecoder.Reset(&r.listInput)
		_, err = r.listDecoder.ReadToken()
		r.inList = true
		return err
	case n.cell >= 0 && (kind == '{' || kind == '['):
		return r.fail(n.cell, ErrRecords, "is "+describeJSON(kind), `a number, a text, true or false; column = "a.b" or "a[0]" names a value within`)
	}
	v, err := d.ReadValue()
	if err != nil {
		return r.syntaxError(err)
	}
	if n.cell >= 0 && kind != 'n' {
		return r.store(v, n.cell, cells)
	}
	return nil
}

func (r *jsonReader) store(v jsontext.Value, column int, cells *jsonCells) (err error) {
	start := len(cells.text)
	if v.Kind() == '"' {
		cells.text, err = jsontext.AppendUnquote(cells.text, v)
	} else {
		cells.text = append(cells.text, v...)
	}
	cells.ends[column] = [2]int{start, len(cells.text)}
	return err
}

// end reads the end of an object or a list, unless there was an error.
func (r *jsonReader) end(d *jsontext.Decoder, err error) error {
	if err == nil {
		_, err = d.ReadToken()
	}
	if err != nil {
		return r.syntaxError(err)
	}
	return nil
}

// member returns what to find in the member with a name in quotes; nil if nothing.
func (n *jsonNode) member(name jsontext.Value) *jsonNode {
	if bytes.IndexByte(name, '\\') < 0 {
		return n.members[string(name[1:len(name)-1])]
	}
	text, _ := jsontext.AppendUnquote(nil, name) // the decoder has checked it
	return n.members[string(text)]
}

// cells returns the cells of the current row: those in the row and, for columns that it does not have, those around
// the list.
func (r *jsonReader) cells() [][]byte {
	for i := range r.cell {
		r.cell[i] = r.inRow.get(i)
		if r.cell[i] == nil {
			r.cell[i] = r.around.get(i)
		}
	}
	return r.cell
}

// syntaxError returns the error for a line that is not an object of JSON.
func (r *jsonReader) syntaxError(err error) error {
	const expected = "one object of JSON on each line"
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return r.fail(-1, ErrRecords, "the line ends within a value", expected)
	case errors.As(err, &syntax):
		place := strings.ReplaceAll(strings.TrimPrefix(string(syntax.JSONPointer), "/"), "/", ".")
		return &source.Error{File: r.path, Line: r.line, Place: place, Kind: ErrRecords, Expected: expected,
			Problem: strings.TrimPrefix(syntax.Err.Error(), "jsontext: ") + fmt.Sprintf(" at byte %d", syntax.ByteOffset+1)}
	}
	return r.fail(-1, ErrRecords, err.Error(), expected)
}

// describeJSON names a kind of JSON value.
func describeJSON(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}
