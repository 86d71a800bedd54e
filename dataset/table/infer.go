package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

// Limits of Infer. They bound its memory.
const (
	maxTracked   = 4096    // things whose changes are followed
	maxDetailed  = 200_000 // rows from which keys and changes are guessed; ranges need all rows
	maxEnumWords = 64      // words of an enum that the schema lists; more are values = "auto"
)

// errUnreadable means that a log is empty or compressed in a way that cannot be read.
var errUnreadable = errors.New("the log cannot be read")

// Infer guesses the schema of a log in CSV or JSON Lines. The schema is TOML with a comment on each guess, and with
// questions where the log does not show what a field means. Its ranges contain all values of the first 256 MB of the log.
// The remarks are the frames that were found, the questions, and what the schema leaves out.
func Infer(ctx context.Context, path string) (schema []byte, remarks []string, err error) {
	g := &guess{Playback: source.Playback{Path: path}, ctx: ctx}
	defer g.Close()
	info, err := g.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &source.Error{File: path, Problem: "is " + source.DescribeMode(info.Mode()), Expected: "a file, which is read several times", Kind: ErrRecords}
	}
	if err := g.Unpack(nil, unpack.Errors{Format: errUnreadable, Truncated: ErrTruncated}); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, pass := range []func() error{g.findColumns, g.findRanges, g.findFrames, g.findChanges} {
		if err := pass(); err != nil {
			return nil, nil, err
		}
		if err := g.In.Rewind(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	fields := g.fields()
	if len(fields) == 0 {
		return nil, nil, &source.Error{File: path, Problem: "has no column that a field can hold (" + strings.Join(g.leftOut, "; ") + ")",
			Expected: "numbers, true and false, or words", Kind: ErrRecords}
	}
	schema = g.write(fields)
	return schema, g.remarks, nil
}

// guess is what Infer has found in a log.
type guess struct {
	source.Playback
	*division                 // the frames
	ctx       context.Context // ends the passes
	comma     byte            // separator of CSV; 0 for JSON Lines
	csv       csvReader
	where     condition // the lines that are read
	columns   []profile
	leftOut   []string        // remarks on columns that the schema does not describe
	schema    strings.Builder // the written schema
	remarks   []string        // for the user, in addition to the schema
	time      int             // column with the time, -1 if none
	rows      int             // number of rows read
	steps     []float64       // differences of time between frames
	partial   bool            // only the first part of the log was read
}

// reader returns a reader of the rows, and the names of the columns: in CSV those of the first line.
func (g *guess) reader() (rowReader, []string, error) {
	if g.comma == 0 {
		var names []string
		for i := range g.columns {
			names = append(names, g.columns[i].name)
		}
		r := &jsonReader{path: g.Path, list: g.list, where: g.where}
		_, err := r.start(g.In, names)
		return r, names, err
	}
	_, err := g.csv.start(g.In, nil)
	return &g.csv, g.csv.names, err
}

// findColumns determines the format and the columns.
func (g *guess) findColumns() error {
	g.division = &division{frame: -1, round: -1, key: -1}
	g.time = -1
	head := make([]byte, maxLine)
	n, err := g.In.Fill(head)
	if err != nil && err != io.EOF {
		return err
	}
	head = bytes.TrimPrefix(head[:n], []byte(byteOrderMark))
	if err := g.In.Rewind(); err != nil {
		return fmt.Errorf("%s: %w", g.Path, err)
	}
	if text := bytes.TrimSpace(head); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return g.findPaths()
	}
	isUTF16 := bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) // an error of the reader
	if bytes.IndexByte(head, 0) >= 0 && !isUTF16 {
		return &source.Error{File: g.Path, Problem: "is not a text", Expected: "a log in CSV or JSON Lines", Kind: ErrRecords}
	}
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	isNote := func() bool { return bytes.HasPrefix(line, []byte("#")) && !startsNumber(rest) }
	for len(rest) > 0 && (isNote() || bytes.HasPrefix(line, []byte("sep="))) {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	g.comma = separators[0]
	for _, c := range []byte(separators) {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{g.comma}) {
			g.comma = c
		}
	}
	g.csv = csvReader{path: g.Path, comma: g.comma, header: true, decimalComma: g.comma != ',', converted: map[int]bool{}}
	_, names, err := g.reader()
	if err == io.EOF {
		return &source.Error{File: g.Path, Problem: "has no lines", Expected: "a log in CSV or JSON Lines", Kind: ErrRecords}
	} else if err != nil {
		return err
	}
	if g.csv.lacksHeader(nil) {
		return g.csv.fail(-1, ErrRecords, "the first line has values", "the names of the columns in the first line")
	}
	for _, name := range names[:min(len(names), MaxFields)] {
		g.columns = append(g.columns, profile{name: name})
	}
	if len(names) > MaxFields {
		g.leave("further columns", fmt.Sprintf("the log has %d, and a schema at most %d", len(names), MaxFields))
	}
	return nil
}

// each reads up to limit rows, and calls visit for each with the number of its line. cells is nil for a frame without rows.
func (g *guess) each(limit int, visit func(cells [][]byte, line int)) error {
	r, _, err := g.reader()
	if err != nil {
		return err
	}
	for n := range limit {
		if n%1024 == 0 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		cells, err := r.next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		line, size := r.position()
		if size > maxSurvey {
			g.partial = true
			return nil
		}
		visit(cells, line)
	}
	return nil
}

// findRanges determines the kinds and ranges of all values.
func (g *guess) findRanges() error {
	units := 0 // the first line of values, if it has texts only
	err := g.each(math.MaxInt, func(cells [][]byte, line int) {
		if cells == nil {
			return
		}
		g.rows++
		for i, cell := range cells[:len(g.columns)] {
			g.columns[i].add(cell, line)
		}
		if g.rows == 1 && !slices.ContainsFunc(g.columns, func(p profile) bool { return p.texts+p.empty+p.missing == 0 || p.times > 0 }) {
			units = line
		}
	})
	if units > 0 && slices.ContainsFunc(g.columns, func(p profile) bool { return p.texts == 1 && p.numbers > 0 }) {
		return &source.Error{File: g.Path, Line: units, Problem: "has texts in columns of numbers, such as units",
			Expected: "values after one line of names; remove this line", Kind: ErrRecords}
	}
	for i := range g.columns {
		p := &g.columns[i]
		if g.csv.decimalComma && !g.csv.converted[i] && p.grouped > 0 && p.grouped == p.pointed {
			p.thousands = len(g.csv.converted) > 0 || p.pointed < p.numbers && p.unpointed < 1000
			p.ambiguous = !p.thousands && p.pointed == p.numbers
		}
		if p.thousands {
			p.texts, p.numbers, p.falls = p.texts+p.numbers, 0, 0
		}
	}
	if err == nil && g.rows == 0 {
		return &source.Error{File: g.Path, Problem: "has no rows", Expected: "a log with at least one row", Kind: ErrRecords}
	}
	return err
}

// isNamed reports whether a schema can name column i.
func (g *guess) isNamed(i int) bool {
	same := func(p profile) bool { return p.name == g.columns[i].name }
	return isPrintableName(g.columns[i].name) && slices.IndexFunc(g.columns, same) == i && !slices.ContainsFunc(g.columns[i+1:], same)
}

// findChanges follows things from frame to frame, to find angles, and compares the times of frames.
func (g *guess) findChanges() error {
	last := map[string][]float64{} // by thing: its numbers
	row := 0
	lastTime := math.NaN()
	for i := range len(g.columns) - 3 {
		g.columns[i].quaternion = isQuaternion(g.columns[i : i+4])
	}
	return g.each(maxDetailed, func(cells [][]byte, line int) {
		begins := g.begins(cells, line)
		if cells == nil {
			return
		}
		if begins {
			row = 0
		}
		if begins && g.time >= 0 {
			v, _ := parseOrder(cells[g.time])
			if !math.IsNaN(lastTime) {
				g.steps = append(g.steps, v-lastTime)
			}
			lastTime = v
		}
		thing := strconv.Itoa(row)
		row++
		if g.key >= 0 {
			thing = string(cells[g.key])
		}
		before, known := last[thing]
		if !known {
			if len(last)*len(g.columns) > maxTracked*16 {
				return
			}
			before = make([]float64, len(g.columns))
			last[thing] = before
		}
		for i := range g.columns {
			p := &g.columns[i]
			if p.numbers == 0 {
				continue
			}
			v, err := parseDecimal(cells[i])
			if err != nil {
				v = math.NaN() // no change, now and in the next frame
			}
			if known {
				p.addChange(math.Abs(v - before[i]))
			}
			before[i] = v
		}
		for i := range g.columns {
			if p := &g.columns[i]; p.quaternion {
				q := before[i : i+4]
				norm := q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]
				p.quaternion = !(math.Abs(norm-1) > 0.02) // also without numbers
			}
		}
	})
}
