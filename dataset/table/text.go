package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/internal/unpack"
)

// rowReader reads rows of text, in CSV or JSON Lines.
type rowReader interface {
	// start begins to read from in, and returns the index in each row of each of the columns.
	start(in io.Reader, columns []string) (at []int, err error)
	// next returns the cells of the next row, which are valid until the next call. A cell is nil if the row does not
	// have it. A nil row stands for a frame without rows. At the end of the file the error is io.EOF.
	next() (cells [][]byte, err error)
	// position returns the number of the current line, from 1, and the number of bytes read since start.
	position() (line int, bytes int64)
	// fail returns an error about cell i of the current row, or about the row if i < 0. kind is the error that it
	// wraps, such as ErrRecords.
	fail(i int, kind error, problem, expected string) error
}

// textFrames reads frames from rows of text.
type textFrames struct {
	rowReader
	layout      *Layout
	rounding    []roundingErrors // of each field, then of Layout.Axes; nil to measure nothing
	columnOf    []int            // by field: index of its cell in a row; -1 for the presence of a row with a key
	frameColumn int              // index of the cell that identifies frames, -1 if none does
	roundColumn int              // index of the cell whose change lets the numbers of frames begin again, -1 if none does
	keyColumn   int              // index of the cell that identifies the thing of a row, -1 if things have fixed rows
	absent      []int32          // value of each field in rows without a thing
	residual    []float32        // of the frame being read; see frame.Frame
	roster      roster

	cells      [][]byte // of the newest row
	hasNextRow bool     // cells is the first row of the next frame
	begins     bool     // the newest row is the first of a frame; false if rows are counted
	line       int      // of the newest row, if a line is a frame
	rows       int      // rows of the newest frame so far
	label      []byte   // text of the frame column in the newest frame
	round      []byte   // text of the round column in the newest frame
	number     float64  // label as a number, -Inf if it is not a number
	strays     int      // number of rows that were skipped
	firstStray int      // line of the first of them
}

// newTextFrames returns a reader of the file at path, which has layout l.
func newTextFrames(path string, l *Layout) *textFrames {
	t := &textFrames{layout: l}
	if l.FormatOf(path) == formatJSON {
		t.rowReader = &jsonReader{path: path, list: l.List, where: l.where}
	} else {
		t.rowReader = &csvReader{path: path, comma: l.Separator(path), header: l.Header, decimalComma: l.Decimal == ",", where: l.where}
	}
	return t
}

// start prepares to read frames from the start of the unpacked file. It returns io.EOF if the file is empty.
func (t *textFrames) start(in *unpack.Reader) error {
	t.hasNextRow, t.label, t.line, t.number = false, t.label[:0], 0, math.Inf(-1)
	l, s := t.layout, t.layout.Schema
	present := -1
	if l.Key != "" {
		present = s.FieldOf(frame.Present)
	}
	var names []string // of the columns to find, in the order of a file without names
	index := func(name string) int {
		i := slices.Index(names, name)
		if i < 0 {
			i, names = len(names), append(names, name)
		}
		return i
	}
	wanted := []int{-1, -1, -1} // frame, round, key, and then the fields
	for i, name := range []string{l.Frame, l.Round, l.Key} {
		if name != "" {
			wanted[i] = index(name)
		}
	}
	for i, c := range l.columns {
		if i == present {
			wanted = append(wanted, -1)
		} else {
			wanted = append(wanted, index(c.name))
		}
	}
	at, err := t.rowReader.start(in, names)
	if err != nil {
		return err
	}
	for i, w := range wanted {
		if w >= 0 {
			wanted[i] = at[w]
		}
	}
	t.frameColumn, t.roundColumn, t.keyColumn, t.columnOf = wanted[0], wanted[1], wanted[2], wanted[3:]
	t.absent = absentRow(s)
	if l.Key != "" {
		t.roster.reset(s.Rows)
	}
	return nil
}

// read reads the next frame into f. It returns io.EOF at the end of the file.
func (t *textFrames) read(f *frame.Frame, _ int) error {
	table := f.Table
	f.Residual = slices.Grow(f.Residual[:0], len(table))[:len(table)]
	clear(f.Residual)
	t.residual = f.Residual
	if !t.hasNextRow {
		if err := t.nextRow(); err != nil {
			return err
		}
	}
	t.hasNextRow = false
	if err := t.startFrame(); err != nil {
		return err
	}
	keyed, counted := t.keyColumn >= 0, t.frameColumn < 0 && t.layout.List == ""
	if keyed {
		t.clear(table)
	}
	t.rows = 0
	for end := false; !end; {
		if t.cells != nil {
			place := t.placeRow
			if keyed {
				place = t.placeKey
			}
			if err := place(table); err != nil {
				return err
			}
		}
		if counted && t.rows == t.layout.Schema.Rows {
			return nil
		}
		switch err := t.nextRow(); {
		case err == io.EOF && counted:
			return t.truncated()
		case err == io.EOF:
			end = true
		case err != nil:
			return err
		case t.begins:
			end, t.hasNextRow = true, true
		}
	}
	if keyed {
		t.roster.finish(table, t.residual, len(t.absent))
		return nil
	}
	return t.checkRows()
}

// nextRow reads the next row into t.cells, and sets t.begins.
func (t *textFrames) nextRow() error {
	for {
		cells, err := t.next()
		t.cells = cells
		if err != nil {
			return err
		}
		switch {
		case t.layout.List != "":
			line, _ := t.position()
			t.begins, t.line = line != t.line, line
		case t.frameColumn >= 0:
			t.begins = t.newRound() || !bytes.Equal(cells[t.frameColumn], t.label)
		}
		if !t.layout.skipStrays || !t.begins || t.newRound() || t.frameNumber() >= t.number {
			return nil
		}
		t.skip()
	}
}

// newRound reports whether the newest row is of another round than the newest frame. A frame without rows is of the same.
func (t *textFrames) newRound() bool {
	return t.roundColumn >= 0 && t.cells != nil && !bytes.Equal(t.cells[t.roundColumn], t.round)
}

// frameNumber returns the number of the frame in the newest row; +Inf if the row has none.
func (t *textFrames) frameNumber() float64 {
	if t.frameColumn < 0 || t.cells == nil {
		return math.Inf(1)
	}
	number, err := parseDecimal(t.cells[t.frameColumn])
	if err != nil {
		return math.Inf(1)
	}
	return number
}

// skip counts the newest row, which is not used.
func (t *textFrames) skip() {
	if t.strays == 0 {
		t.firstStray, _ = t.position()
	}
	t.strays++
}

// startFrame stores the label of a new frame. Labels that are numbers must not decrease.
func (t *textFrames) startFrame() error {
	if t.frameColumn < 0 || t.cells == nil {
		return nil
	}
	if t.newRound() {
		t.round, t.number = append(t.round[:0], t.cells[t.roundColumn]...), math.Inf(-1)
	}
	label := t.cells[t.frameColumn]
	number := t.frameNumber()
	if number < t.number {
		expected := "frames in order"
		if t.keyColumn < 0 {
			expected += `; without the key "frame" in the schema, rows are counted instead`
		}
		return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s comes after frame %s", quotedLabel(label), quotedLabel(t.label)), expected)
	}
	if math.IsInf(number, 1) {
		number = math.Inf(-1) // the label is a name, after which any label may follow
	}
	t.label, t.number = append(t.label[:0], label...), number
	return nil
}

// checkRows returns an error unless the frame that has ended has the number of rows of the schema. The newest row is then
// the first one of the next frame.
func (t *textFrames) checkRows() error {
	want := t.layout.Schema.Rows
	switch {
	case t.rows == want:
		return nil
	case !t.hasNextRow:
		return t.truncated()
	}
	name := quotedLabel(t.label)
	if t.frameColumn < 0 {
		name = "before this line"
	}
	return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s ends after %d rows", name, t.rows),
		fmt.Sprintf("%d rows in each frame, or the key \"key\" in the schema if things come and go", want))
}

// truncated returns the error for a file that ends after some rows of a frame.
func (t *textFrames) truncated() error {
	return t.fail(-1, ErrTruncated, fmt.Sprintf("the records end after %d rows of a frame", t.rows),
		fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
}

// quotedLabel quotes a label for an error and shortens it.
func quotedLabel(label []byte) string { return quoted(string(label)) }

// placeRow parses the newest row as the next row of table.
func (t *textFrames) placeRow(table []int32) error {
	s := t.layout.Schema
	row := t.rows
	if row >= s.Rows {
		return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s has more rows", quotedLabel(t.label)),
			fmt.Sprintf("%d rows in each frame", s.Rows))
	}
	at := row * len(s.Fields)
	return t.parseRow(table[at:], t.residual[at:], row)
}

// placeKey parses the newest row as the row of the thing that its key identifies. Rows of new things are stored in
// t.roster until the frame is complete.
func (t *textFrames) placeKey(table []int32) error {
	s := t.layout.Schema
	key := t.cells[t.keyColumn]
	switch {
	case key == nil:
		return t.fail(t.keyColumn, ErrRecords, "is missing", "a key, which identifies the thing in the row")
	case len(key) == 0:
		return t.fail(t.keyColumn, ErrRecords, "is empty", "a key, which identifies the thing in the row")
	case len(key) > maxKey:
		return t.fail(t.keyColumn, ErrRecords, fmt.Sprintf("a key of %d bytes", len(key)), fmt.Sprintf("at most %d", maxKey))
	}
	row, known := t.roster.find(key)
	switch {
	case row == duplicateKey && t.layout.skipStrays:
		t.skip()
		return nil
	case row == duplicateKey:
		return t.fail(t.keyColumn, ErrRecords, "a second row of "+quotedLabel(key)+" in one frame", "each key once in a frame")
	case known:
		at := row * len(s.Fields)
		return t.parseRow(table[at:], t.residual[at:], row)
	case t.rows >= s.Rows:
		return t.fail(-1, ErrRecords, fmt.Sprintf("more than %d things at once", s.Rows), t.expectedRows())
	}
	values, residual := t.roster.newRow(key, len(s.Fields))
	return t.parseRow(values, residual, 0)
}

// expectedRows describes how to make room for more things at once.
func (t *textFrames) expectedRows() string {
	most := min(maxRows, MaxCells/len(t.absent))
	if t.layout.Schema.Rows < most {
		return `more rows in the schema, or rows = "auto"`
	}
	return fmt.Sprintf("at most %d", most)
}

// clear sets all rows of table to absent.
func (t *textFrames) clear(table []int32) {
	copy(table, t.absent)
	for n := len(t.absent); n < len(table); n *= 2 {
		copy(table[n:], table[:n])
	}
}

// parseRow parses the fields of the newest row into row, in steps, and sets their residuals. index is the number of the
// row in the table. Cells of fields that its part does not use may be empty.
func (t *textFrames) parseRow(row []int32, residual []float32, index int) error {
	fields := t.layout.Schema.Fields
	for i := range fields {
		column := t.columnOf[i]
		if column < 0 {
			row[i] = 1 // the row is present
			continue
		}
		cell := t.cells[column]
		if len(cell) == 0 {
			if p := t.layout.Schema.PartForRow(index); i < p.Field || i >= p.Field+p.Size {
				row[i] = t.absent[i]
				continue
			}
		}
		var rounding *roundingErrors
		if t.rounding != nil {
			rounding = &t.rounding[i]
		}
		v, err := t.layout.columns[i].parse(cell, &fields[i], rounding)
		if err != nil {
			var problem *cellError
			errors.As(err, &problem)
			if cell == nil {
				problem.problem = "is missing"
			}
			return t.fail(column, problem.kind, problem.problem, problem.expected)
		}
		row[i] = v
		if rounding != nil {
			residual[i] = float32(rounding.last)
		}
	}
	for k, axes := range t.layout.Axes {
		squares := 0.0
		for _, i := range axes {
			squares += float64(t.rounding[i].last * t.rounding[i].last)
		}
		t.rounding[len(fields)+k].count(&fields[axes[0]], math.Sqrt(squares))
	}
	t.rows++
	return nil
}
