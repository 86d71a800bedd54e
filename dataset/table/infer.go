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
	for _, pass := range []func() error{g.findColumns, g.findRanges, g.findKey, g.findChanges} {
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
	ctx     context.Context // ends the passes
	comma   byte            // separator of CSV; 0 for JSON Lines
	list    string          // JSON Lines: path of the list of rows; "" if a line is a row
	columns []profile
	leftOut []string  // remarks on columns that the schema does not describe
	remarks []string  // for the user, beside the schema
	frame   int       // column that identifies frames, -1 if none does
	time    int       // column with the time, -1 if none
	key     int       // column that identifies things, -1 if none does
	later   int       // number of rows after the first frame among those read for findKey
	first   int       // number of rows of the first frame
	rows    int       // number of rows read
	frames  int       // number of frames among those read for findKey
	steps   []float64 // differences of time between frames
	most    int       // largest number of rows of a frame
	varying bool      // frames differ in their number of rows
	partial bool      // only the first part of the log was read
}

// reader returns a reader of the rows, and the names of the columns: in CSV those of the first line.
func (g *guess) reader() (rowReader, []string, error) {
	if g.comma == 0 {
		var names []string
		for i := range g.columns {
			names = append(names, g.columns[i].name)
		}
		r := &jsonReader{path: g.Path, list: g.list}
		_, err := r.start(g.In, names)
		return r, names, err
	}
	r := &csvReader{path: g.Path, comma: g.comma, header: true}
	_, err := r.start(g.In, nil)
	return r, r.names, err
}

// findColumns determines the format and the columns.
func (g *guess) findColumns() error {
	g.frame, g.time, g.key = -1, -1, -1
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
	if bytes.IndexByte(head, 0) >= 0 {
		return &source.Error{File: g.Path, Problem: "is not a text", Expected: "a log in CSV or JSON Lines", Kind: ErrRecords}
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	g.comma = separators[0]
	for _, c := range []byte(separators) {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{g.comma}) {
			g.comma = c
		}
	}
	r, names, err := g.reader()
	if err == io.EOF {
		return &source.Error{File: g.Path, Problem: "has no lines", Expected: "a log in CSV or JSON Lines", Kind: ErrRecords}
	} else if err != nil {
		return err
	}
	if c := r.(*csvReader); c.lacksHeader(nil) {
		return c.fail(-1, ErrRecords, "the first line has values", "the names of the columns in the first line")
	}
	for _, name := range names[:min(len(names), MaxFields)] {
		g.columns = append(g.columns, profile{name: name})
	}
	if len(names) > MaxFields {
		g.leave("further columns", fmt.Sprintf("the log has %d, and a schema at most %d", len(names), MaxFields))
	}
	return nil
}

// each reads up to limit rows, and calls visit for each. cells is nil for a frame without rows. begins means that the row is the
// first of a frame, as far as g.frame is known.
func (g *guess) each(limit int, visit func(cells [][]byte, begins bool) error) error {
	r, _, err := g.reader()
	if err != nil {
		return err
	}
	frameLine, label := 0, ""
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
		begins := n == 0
		switch {
		case g.list != "":
			begins = line != frameLine
		case g.frame >= 0:
			begins = begins || string(cells[g.frame]) != label
			label = string(cells[g.frame])
		}
		frameLine = line
		if err := visit(cells, begins); err != nil {
			return err
		}
	}
	return nil
}

// findRanges determines the kinds and ranges of all values, and the columns of the frame and the time: those with numbers
// that never fall and the best names. If no name fits, the frame is the first column of whole numbers with equal neighbours.
func (g *guess) findRanges() error {
	err := g.each(math.MaxInt, func(cells [][]byte, _ bool) error {
		if cells == nil {
			return nil
		}
		g.rows++
		for i, cell := range cells[:len(g.columns)] {
			g.columns[i].add(cell)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if g.rows == 0 {
		return &source.Error{File: g.Path, Problem: "has no rows", Expected: "a log with at least one row", Kind: ErrRecords}
	}
	for i := range g.columns {
		p := &g.columns[i]
		if p.numbers != g.rows || p.falls || p.runs < 2 || g.list != "" && !p.around || !g.isNamed(i) {
			continue
		}
		g.frame, g.time = g.preferred(g.frame, i, frameNames), g.preferred(g.time, i, timeNames)
	}
	if g.frame < 0 {
		g.frame = g.time
	}
	for i := 0; i < len(g.columns) && g.frame < 0 && g.list == ""; i++ {
		if p := &g.columns[i]; p.numbers == g.rows && !p.falls && p.whole && p.runs > 1 && p.runs < g.rows && g.isNamed(i) {
			g.frame = i
		}
	}
	return nil
}

// Names of columns, the most probable first.
var (
	frameNames = []string{"tick", "frame", "step", "snapshot", "turn", "seq"}
	timeNames  = []string{"time", "timestamp", "seconds", "sec", "ms", "t", "ts", "clock"}
	keyNames   = []string{"id", "key", "guid", "uuid", "uid", "eid", "netid", "entity", "handle", "name", "player", "unit", "actor", "object", "slot", "index"}
)

// isNamed reports whether a schema can name column i.
func (g *guess) isNamed(i int) bool {
	same := func(p profile) bool { return p.name == g.columns[i].name }
	return isPrintableName(g.columns[i].name) && slices.IndexFunc(g.columns, same) == i && !slices.ContainsFunc(g.columns[i+1:], same)
}

// preferred returns the column, i or best, whose name is earlier in names. best is -1 if no column was found yet.
func (g *guess) preferred(best, i int, names []string) int {
	rank := nameRank(g.columns[i].name, names)
	if rank > 0 && (best < 0 || rank > nameRank(g.columns[best].name, names)) {
		return i
	}
	return best
}

// keyCandidates returns the columns that may identify things, the most probable first.
func (g *guess) keyCandidates() (list []int) {
	const maxCandidates = 8 // bounds the memory
	for i := range g.columns {
		p := &g.columns[i]
		exact := p.numbers == 0 || p.whole
		if i != g.frame && i != g.time && exact && p.empty == 0 && p.bools == 0 && !p.around && g.isNamed(i) && nameRank(p.name, keyNames) > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int {
		return nameRank(g.columns[j].name, keyNames) - nameRank(g.columns[i].name, keyNames)
	})
	return list[:min(len(list), maxCandidates)]
}

// findKey determines the column that identifies things, and how many rows frames have.
func (g *guess) findKey() error {
	candidates := g.keyCandidates()
	rows, read, least := 0, 0, math.MaxInt
	lastTime := math.NaN()
	endFrame := func() {
		if g.frames > 0 {
			g.most, least = max(g.most, rows), min(least, rows)
			if g.frames == 1 {
				g.first = rows
			}
		}
		rows = 0
	}
	err := g.each(maxDetailed, func(cells [][]byte, begins bool) error {
		if begins {
			endFrame()
			g.frames++
			for _, i := range candidates {
				g.columns[i].forget(g.frames)
			}
		}
		if cells == nil {
			return nil
		}
		if v, err := g.timeOf(cells); begins && err == nil {
			if !math.IsNaN(lastTime) {
				g.steps = append(g.steps, v-lastTime)
			}
			lastTime = v
		}
		rows, read = rows+1, read+1
		for _, i := range candidates {
			g.columns[i].see(cells[i], g.frames)
		}
		return nil
	})
	if read < maxDetailed || g.frames == 1 {
		endFrame() // otherwise the last frame is cut
	}
	g.varying = least != g.most
	g.later = read - g.first
	for _, i := range candidates {
		p := &g.columns[i]
		p.seen = nil
		if g.key < 0 && !p.repeats && g.most > 1 && (g.varying || 2*p.returns > g.later) {
			g.key = i
		}
	}
	return err
}

// timeOf returns the time of a row, or an error.
func (g *guess) timeOf(cells [][]byte) (float64, error) {
	if g.time < 0 {
		return 0, errors.New("no column is a time")
	}
	return parseDecimal(cells[g.time])
}

// findChanges follows things from frame to frame, to find angles.
func (g *guess) findChanges() error {
	last := map[string][]float64{} // by thing: its numbers
	row := 0
	return g.each(maxDetailed, func(cells [][]byte, begins bool) error {
		if begins {
			row = 0
		}
		if cells == nil {
			return nil
		}
		thing := strconv.Itoa(row)
		row++
		if g.key >= 0 {
			thing = string(cells[g.key])
		}
		before, known := last[thing]
		if !known {
			if len(last)*len(g.columns) > maxTracked*16 {
				return nil
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
		return nil
	})
}
