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

// Errors of Read wrap one of these.
var (
	// errEmpty means that the file has no packets.
	errEmpty = errors.New("no packets")
	// ErrColumns means that the header lacks required columns.
	ErrColumns = errors.New("missing columns")
	// errRow means that a row is invalid.
	errRow = errors.New("invalid row")
)

// RowError is an invalid row.
type RowError struct {
	Line int // line of the file, from 1
	Err  error
}

func (e *RowError) Error() string { return fmt.Sprintf("%v: line %d: %v", errRow, e.Line, e.Err) }

// Unwrap returns errRow and e.Err.
func (e *RowError) Unwrap() []error { return []error{errRow, e.Err} }

// Limits of a capture, which bound the memory for reading a malicious file.
const (
	MaxRows = 1 << 23
	maxCopy = 1 << 16
	// maxTime is the largest absolute value of times. It permits microseconds since 1970, and the
	// difference of two times does not overflow.
	maxTime = 140 * 365 * 24 * time.Hour
)

// Read reads a capture; the package comment describes the format. An error about a row is a
// *RowError, or wraps a *csv.ParseError if the text is not valid CSV. Both contain the line.
func Read(r io.Reader) (*Capture, error) {
	in := csv.NewReader(bufio.NewReader(r))
	in.ReuseRecord, in.FieldsPerRecord, in.Comment = true, -1, '#'
	head, err := in.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%w: the file is empty, expected a header such as seq,send_us,recv_us,copy", errEmpty)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRow, err)
	}
	cols, err := findColumns(head)
	if err != nil {
		return nil, err
	}
	c := &Capture{HasSent: cols.send >= 0, HasDelay: cols.receive >= 0 || cols.delay >= 0}
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRow, err)
		}
		if err := c.addRow(&cols, row); err != nil {
			line, _ := in.FieldPos(0)
			return nil, &RowError{Line: line, Err: err}
		}
	}
	if len(c.Packets) == 0 {
		return nil, fmt.Errorf("%w: no row has an outcome, expected at least one packet that arrived or was lost", errEmpty)
	}
	return c, nil
}

// columns has the index of each column, -1 if it is missing.
type columns struct{ seq, send, receive, delay, lost, copy int }

// findColumns returns the indices of the known columns in the header, -1 for those that are missing. It returns
// an error if the columns do not determine the outcome of a packet.
func findColumns(header []string) (columns, error) {
	index := func(name string) int {
		return slices.IndexFunc(header, func(s string) bool {
			// U+FEFF is the byte order mark that some programs write at the start of a file.
			return strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(s, "\ufeff")), name)
		})
	}
	c := columns{index("seq"), index("send_us"), index("recv_us"), index("delay_us"), index("lost"), index("copy")}
	switch {
	case c.receive < 0 && c.delay < 0 && c.lost < 0:
		return c, fmt.Errorf("%w: expected recv_us, delay_us or lost among %s", ErrColumns, quoteShort(header))
	case c.receive >= 0 && c.send < 0 && c.delay < 0:
		return c, fmt.Errorf("%w: recv_us requires send_us, found %s", ErrColumns, quoteShort(header))
	}
	return c, nil
}

// quoteShort quotes a list of cells, shortened to 80 bytes, for an error.
func quoteShort(cells []string) string {
	text := strings.Join(cells, ",")
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "..."
	}
	return strconv.Quote(text)
}

// addRow parses a row and adds its packet to c, or counts it as unfinished. Without a column seq,
// rows are numbered from 0. Missing cells count as empty.
func (c *Capture) addRow(cols *columns, row []string) error {
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
			return fmt.Errorf("seq is %q, expected a non-negative integer", cell(cols.seq))
		}
	}
	if text := cell(cols.copy); text != "" {
		if p.Copy, err = strconv.Atoi(text); err != nil || p.Copy < 0 || p.Copy > maxCopy {
			return fmt.Errorf("copy is %q, expected an integer from 0 to %d", text, maxCopy)
		}
	}
	if cols.send >= 0 {
		if p.Sent, err = parseMicros("send_us", cell(cols.send)); err != nil {
			return err
		}
	}
	inFlight, err := p.setOutcome(cell(cols.lost), cell(cols.receive), cell(cols.delay), cols)
	switch {
	case err != nil:
		return err
	case p.Arrived() > maxTime || p.Arrived() < -maxTime:
		return fmt.Errorf("arrival time is %v, expected %v to %v", p.Arrived(), -maxTime, maxTime)
	case inFlight:
		c.Unfinished++
	default:
		c.Packets = append(c.Packets, p)
	}
	return nil
}

// setOutcome sets Lost and Took from the cells lost, recv_us and delay_us, which are "" if empty or
// missing; delay_us takes precedence over recv_us. inFlight is true if no cell has an outcome,
// because the packet was in flight when the capture ended. cols are the columns of the file.
func (p *Packet) setOutcome(lost, recv, delay string, cols *columns) (inFlight bool, err error) {
	switch strings.ToLower(lost) {
	case "1", "true", "yes", "lost":
		p.Lost = true
		return false, nil
	case "", "0", "false", "no": // the columns recv_us and delay_us decide
	default:
		return false, fmt.Errorf("lost is %q, expected 1 or 0", lost)
	}
	switch {
	case recv == "lost" || delay == "lost":
		p.Lost = true
	case delay != "":
		p.Took, err = parseMicros("delay_us", delay)
	case recv != "":
		if p.Took, err = parseMicros("recv_us", recv); err == nil {
			p.Took -= p.Sent
		}
	default:
		// In a capture with only the column lost, a 0 means that the packet arrived.
		return cols.receive >= 0 || cols.delay >= 0 || lost == "", nil
	}
	return false, err
}

// parseMicros parses a decimal number of microseconds. Digits below the nanosecond are dropped.
func parseMicros(column, text string) (time.Duration, error) {
	invalid := func() (time.Duration, error) {
		return 0, fmt.Errorf(`%s is %s, expected microseconds or "lost"`, column, quoteShort([]string{text}))
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 16 || len(fraction) > 30 { // longer numbers cannot be valid times
		return invalid()
	}
	fraction = (fraction + "000")[:max(3, len(fraction))] // padded to at least three digits, the nanoseconds
	us, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || us > uint64(maxTime/time.Microsecond) || strings.Trim(fraction, "0123456789") != "" {
		return invalid()
	}
	ns, _ := strconv.ParseUint(fraction[:3], 10, 16)
	d := time.Duration(us)*time.Microsecond + time.Duration(ns)
	if negative {
		d = -d
	}
	return d, nil
}
