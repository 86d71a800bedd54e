package table

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/words"
)

// Limits of the pass over the records before they are played.
const (
	maxSurvey = 1 << 28 // bytes that are read, after decompression: about two seconds
	maxWords  = 1024    // words of an enum
)

// survey completes an unfinished schema from the records, and remarks on rows that change places. It then returns to the
// start of the file. regular reports whether the file can be read twice.
func (s *Source) survey(regular bool) error {
	l := s.layout
	packed := l.FormatOf(s.Path) == formatPacked
	switch {
	case packed && (l.unfinished() || l.Key != "" || l.List != ""):
		return &source.Error{File: s.Path, Problem: `is packed int32, without the columns that rows = "auto", values = "auto", key and list need`,
			Expected: `CSV or JSON Lines, also as format = "csv" or "jsonl" in the schema`, Kind: ErrRecords}
	case l.List != "" && l.FormatOf(s.Path) == formatCSV:
		return &source.Error{File: s.Path, Problem: "is CSV, which has no lists, but the schema has the key list",
			Expected: `JSON Lines, or format = "jsonl" in the schema`, Kind: ErrRecords}
	case l.unfinished() && !regular:
		return &source.Error{File: s.Path, Problem: `is not a regular file, which can be read twice`,
			Expected: `a file, or numbers and words in the schema instead of "auto"`, Kind: ErrRecords}
	}
	if l.unfinished() {
		if err := s.complete(); err != nil {
			return err
		}
		if err := s.In.Rewind(); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	if s.layout.Key != "" || s.layout.Schema.Rows == 1 || !regular {
		return nil
	}
	s.checkIdentity()
	if err := s.In.Rewind(); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return nil
}

// complete replaces s.layout by a copy with the number of rows and the words of enums that the records have.
func (s *Source) complete() error {
	t := newTextFrames(s.Path, s.layout)
	if err := t.start(s.In); err == io.EOF {
		return s.tooShortError()
	} else if err != nil {
		return err
	}
	c := census{textFrames: t, words: make([]map[string]bool, len(s.layout.columns)), seen: map[string]int{}, learns: s.layout.learns()}
	if err := c.read(); err != nil {
		return err
	}
	if c.partial {
		s.Remark("rows and words of the schema that are \"auto\" are those of the first %d MB of %s", maxSurvey>>20, s.Path)
	}
	if t.strays > 0 {
		s.Remark("%s of %s skipped, first in line %d: out of order, or a second row of a %s in one frame", words.Count(t.strays, "row"), s.Path,
			t.firstStray, s.layout.Schema.Item)
	}
	l, schema := *s.layout, *s.layout.Schema
	schema.Fields, l.columns = slices.Clone(schema.Fields), slices.Clone(l.columns)
	if l.AutoRows {
		schema.Rows = min(max(c.mostRows, 1), maxRows, MaxCells/len(schema.Fields))
	}
	for i := range l.columns {
		if l.columns[i].learn {
			schema.Fields[i].Values = slices.Sorted(maps.Keys(c.words[i]))
			schema.Fields[i].Max = int32(max(len(c.words[i])-1, 0)) // 0 if the log has no rows and thus no words
			l.columns[i].learn = false
		}
	}
	l.AutoRows, l.Schema = false, &schema
	s.layout = &l
	return nil
}

// census counts the things of each frame, and collects the words of enums, in one pass over the records.
type census struct {
	*textFrames
	learns   bool              // words are collected
	words    []map[string]bool // by field: its words so far; nil if the field is not learnt
	seen     map[string]int    // by key: number of the newest frame with the thing
	frame    int               // number of the current frame, from 1
	rows     int               // rows of the current frame
	returned int               // things of the current frame that the frame before had too
	before   int               // rows of the frame before
	mostRows int               // maximum number of rows in use
	partial  bool              // the file is longer than maxSurvey
}

// read reads the records.
func (c *census) read() error {
	for {
		switch err := c.nextRow(); {
		case err == io.EOF:
			c.endFrame()
			return nil
		case err != nil:
			return err
		}
		if c.begins || c.frame == 0 {
			c.endFrame()
			if !c.learns && c.keyColumn < 0 && c.frame > 1 {
				return nil
			}
			if err := c.startFrame(); err != nil {
				return err
			}
		}
		if c.cells != nil {
			if err := c.addRow(); err != nil {
				return err
			}
		}
		if _, n := c.position(); n > maxSurvey {
			c.partial = true
			return nil
		}
	}
}

// endFrame ends a frame and begins the next. A new thing does not get the row of a thing that was in the frame before. So
// there must be rows for the things of both frames.
func (c *census) endFrame() {
	if c.keyColumn < 0 && c.frame != 1 {
		c.before, c.rows = 0, 0 // without a key all frames have as many rows as the first one
	}
	c.mostRows = max(c.mostRows, c.rows+c.before-c.returned)
	c.before, c.rows, c.returned = c.rows, 0, 0
	c.frame++
	if len(c.seen) > 2*maxRows {
		maps.DeleteFunc(c.seen, func(_ string, frame int) bool { return frame < c.frame-1 })
	}
}

// addRow adds the newest row.
func (c *census) addRow() error {
	if c.keyColumn >= 0 {
		key := c.cells[c.keyColumn]
		if len(key) > maxKey || len(c.seen) > 4*maxRows {
			c.rows++
			return nil // an error when the frame is read
		}
		last := c.seen[string(key)]
		if last > 0 && last == c.frame-1 {
			c.returned++
		} else if last == c.frame && c.layout.skipStrays {
			c.skip()
			return nil
		}
		c.seen[string(key)] = c.frame
	}
	c.rows++
	for i := range c.layout.columns {
		column := &c.layout.columns[i]
		if !column.learn {
			continue
		}
		word := c.cells[c.columnOf[i]]
		if len(word) == 0 && column.empty != "" {
			word = []byte(column.empty)
		}
		if c.words[i][string(word)] {
			continue
		}
		switch {
		case word == nil:
			return c.fail(c.columnOf[i], ErrRecords, "is missing", "a word")
		case !isPrintableName(string(word)):
			return c.fail(c.columnOf[i], ErrRecords, quoted(string(word))+" is not a word", fmt.Sprintf("printable words of 1 to %d characters", maxText))
		case len(c.words[i]) == maxWords:
			return c.fail(c.columnOf[i], ErrRecords, fmt.Sprintf("%s is word %d", quoted(string(word)), maxWords+1), fmt.Sprintf("at most %d words in an enum", maxWords))
		case c.words[i] == nil:
			c.words[i] = map[string]bool{}
		}
		c.words[i][string(word)] = true
	}
	return nil
}

// checkIdentity remarks on frames in which things seem to have changed rows. It reads some frames from the start of the
// file. Errors are left to the reader that plays them.
//
// If every row r holds the same thing in frames a and b, the sum of the distances |a[r]-b[r]| of a field is nearly the
// smallest one of all assignments of rows, which is the sum with both lists in order of size (optimal transport in one
// dimension). A single thing that jumps leaves both sums equal; two things that change places do not.
func (s *Source) checkIdentity() {
	const (
		maxFrames = 256
		maxCells  = 1 << 16 // values that are sorted, which bounds the time
		minRatio  = 4
	)
	if s.start() != nil {
		return
	}
	schema := s.layout.Schema
	now, was := schema.NewFrame(), schema.NewFrame()
	swapped, firstSwap := 0, 0
	compared := 1
	for ; compared < 3 || compared < maxFrames && compared*schema.Cells() < maxCells; compared++ {
		if s.records.read(now, compared-1) != nil {
			break
		}
		if compared > 1 && changesPlaces(schema, was.Table, now.Table, minRatio) {
			swapped++
			if firstSwap == 0 {
				firstSwap = compared - 1
			}
		}
		was, now = now, was
	}
	s.records = nil
	if swapped > 0 {
		s.Remark("things change rows in %d of the first %d frames, first in frame %d of %s: a row is then not the same %s, and packets are larger; "+
			`the key "key" in the schema names the column that identifies each %[5]s`, swapped, compared-1, firstSwap, s.Path, schema.Item)
	}
}

// changesPlaces reports whether things change rows between two frames: whether in every quantity or float32 that changes,
// of which there must be two, the sum of the changes is over minRatio times the smallest one that an assignment of the
// things to rows has.
func changesPlaces(s *frame.Schema, was, now []int32, minRatio float64) bool {
	fields := 0
	a, b := make([]float64, s.Rows), make([]float64, s.Rows)
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Kind != frame.Quantity && f.Kind != frame.Float32 {
			continue
		}
		distance := func() (sum float64) {
			for r := range a {
				sum += math.Abs(a[r] - b[r])
			}
			return sum
		}
		for r := range a {
			a[r], b[r] = f.InUnits(was[r*len(s.Fields)+i]), f.InUnits(now[r*len(s.Fields)+i])
		}
		moved := distance()
		if moved == 0 {
			continue
		}
		slices.Sort(a)
		slices.Sort(b)
		if !(moved > minRatio*distance()) { // also for NaN
			return false
		}
		fields++
	}
	return fields > 1
}
