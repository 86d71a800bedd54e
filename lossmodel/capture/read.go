package capture

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sentinels that errors of Read wrap one of.
var (
	// errEmpty: no packets at all.
	errEmpty = errors.New("no packets")
	// ErrColumns: the first row does not name the columns that are needed.
	ErrColumns = errors.New("missing columns")
	// errRow: a row makes no sense.
	errRow = errors.New("bad row")
)

// RowError is an errRow with the line at fault.
type RowError struct {
	Line int // of the file, from 1
	Err  error
}

// Error implements error.
func (e *RowError) Error() string { return fmt.Sprintf("%v: line %d: %v", errRow, e.Line, e.Err) }

// Unwrap returns errRow and what is wrong with the row.
func (e *RowError) Unwrap() []error { return []error{errRow, e.Err} }

// Limits, so that a hostile file costs no more than memory for this.
const (
	MaxRows = 1 << 23
	maxCopy = 1 << 16
	// maxTime bounds all times either way: a century and more, so that microseconds
	// since 1970 will do, and the difference of two still fits.
	maxTime = 140 * 365 * 24 * time.Hour
)

// Read reads a capture; see the package's comment for the format. An error about a row
// is a *RowError or, where the text is no CSV, wraps a *csv.ParseError: both name the
// line.
func Read(r io.Reader) (*Capture, error) {
	in := csv.NewReader(bufio.NewReader(r))
	in.ReuseRecord, in.FieldsPerRecord, in.Comment = true, -1, '#'
	head, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%w: the file is empty; expected a row that names columns, such as seq,send_us,recv_us,copy", errEmpty)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRow, err)
	}
	cols, err := findColumns(head)
	if err != nil {
		return nil, err
	}
	c := &Capture{HasSent: cols.send >= 0, HasDelay: cols.recv >= 0 || cols.delay >= 0}
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRow, err)
		}
		if err := c.add(&cols, row); err != nil {
			line, _ := in.FieldPos(0)
			return nil, &RowError{Line: line, Err: err}
		}
	}
	if len(c.Packets) == 0 {
		return nil, fmt.Errorf("%w: expected at least one that arrived or was lost", errEmpty)
	}
	return c, nil
}

// columns is the index of each column, -1 if it is missing.
type columns struct{ seq, send, recv, delay, lost, copy int }

func findColumns(head []string) (columns, error) {
	at := func(name string) int {
		return slices.IndexFunc(head, func(s string) bool {
			return strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(s, "\ufeff")), name)
		})
	}
	c := columns{at("seq"), at("send_us"), at("recv_us"), at("delay_us"), at("lost"), at("copy")}
	switch {
	case c.recv < 0 && c.delay < 0 && c.lost < 0:
		return c, fmt.Errorf("%w: expected recv_us, delay_us or lost among %s", ErrColumns, shown(head))
	case c.recv >= 0 && c.send < 0 && c.delay < 0:
		return c, fmt.Errorf("%w: recv_us needs send_us beside it; there are %s", ErrColumns, shown(head))
	}
	return c, nil
}

func shown(head []string) string {
	text := strings.Join(head, ",")
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "..."
	}
	return strconv.Quote(text)
}

func (c *Capture) add(cols *columns, row []string) error {
	if len(c.Packets)+c.Unfinished >= MaxRows {
		return fmt.Errorf("more than %d rows", MaxRows)
	}
	cell := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	p := Packet{Seq: uint64(len(c.Packets) + c.Unfinished)}
	var err error
	if cols.seq >= 0 {
		if p.Seq, err = strconv.ParseUint(cell(cols.seq), 10, 63); err != nil {
			return fmt.Errorf("seq is %q, expected a whole number", cell(cols.seq))
		}
	}
	if text := cell(cols.copy); text != "" {
		if p.Copy, err = strconv.Atoi(text); err != nil || p.Copy < 0 || p.Copy > maxCopy {
			return fmt.Errorf("copy is %q, expected a whole number from 0", text)
		}
	}
	if cols.send >= 0 {
		if p.Sent, err = micros("send_us", cell(cols.send)); err != nil {
			return err
		}
	}
	under, err := p.end(cell(cols.lost), cell(cols.recv), cell(cols.delay), cols)
	switch {
	case err != nil:
		return err
	case p.Arrived() > maxTime || p.Arrived() < -maxTime:
		return fmt.Errorf("arrives more than %v from 0", maxTime)
	case under:
		c.Unfinished++
	default:
		c.Packets = append(c.Packets, p)
	}
	return nil
}

// end reads the outcome of the packet; under means that the capture ended before it was known.
func (p *Packet) end(lost, recv, delay string, cols *columns) (under bool, err error) {
	switch strings.ToLower(lost) {
	case "1", "true", "yes", "lost":
		p.Lost = true
		return false, nil
	case "", "0", "false", "no":
	default:
		return false, fmt.Errorf("lost is %q, expected 1 or 0", lost)
	}
	switch {
	case recv == "lost" || delay == "lost":
		p.Lost = true
	case delay != "":
		p.Took, err = micros("delay_us", delay)
	case recv != "":
		if p.Took, err = micros("recv_us", recv); err == nil {
			p.Took -= p.Sent
		}
	default:
		// Nothing but the column lost: a 0 there says that it arrived.
		return cols.recv >= 0 || cols.delay >= 0 || lost == "", nil
	}
	return false, err
}

// micros reads a decimal number of microseconds; digits beyond the nanosecond
// are dropped.
func micros(column, text string) (time.Duration, error) {
	bad := func() (time.Duration, error) {
		return 0, fmt.Errorf(`%s is %s, expected microseconds or "lost"`, column, shown([]string{text}))
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, part, _ := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 16 || len(part) > 30 {
		return bad()
	}
	part = (part + "000")[:max(3, len(part))]
	us, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || us > uint64(maxTime/time.Microsecond) || strings.Trim(part, "0123456789") != "" {
		return bad()
	}
	ns, _ := strconv.ParseUint(part[:3], 10, 16)
	d := time.Duration(us)*time.Microsecond + time.Duration(ns)
	if negative {
		d = -d
	}
	return d, nil
}
