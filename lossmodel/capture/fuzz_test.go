package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/internal/testkit"
)

// captureBuilder writes a capture from the choices of a fuzzer.
type captureBuilder struct {
	*testkit.Choices
	columns []string // such as "seq" and "send_us"; each at most once, and other names
	want    []Packet // the packets of the rows, unless a cell was damaged
	damaged bool
}

// addColumns chooses columns that give every row an outcome, and their order.
func (b *captureBuilder) addColumns() {
	b.columns = append(b.columns, testkit.Pick(b.Choices, []string{"lost"}, []string{"delay_us"}, []string{"send_us", "recv_us"},
		[]string{"send_us", "recv_us", "delay_us"}, []string{"lost", "send_us", "recv_us"})...)
	for _, name := range []string{"seq", "copy", "remark", "send_us"} {
		if b.IntN(2) == 1 && !slices.Contains(b.columns, name) {
			b.columns = slices.Insert(b.columns, b.IntN(len(b.columns)+1), name)
		}
	}
	if b.Rare() {
		b.damaged = true
		b.columns[b.IntN(len(b.columns))] = testkit.Pick(b.Choices, "x", "seq", "lost", " SEND_US", "")
	}
}

// micros returns a time in microseconds and its text.
func (b *captureBuilder) micros() (time.Duration, string) {
	size, negative := testkit.Pick(b.Choices, 1, 3, 4, 7), b.IntN(4) == 3
	ns := int64(b.Uint64(size))
	sign := ""
	if negative {
		sign = "-"
	}
	text := fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000)
	switch b.IntN(3) {
	case 1:
		ns, text = ns/1000*1000, fmt.Sprintf("%s%d", sign, ns/1000)
	case 2:
		text += string(testkit.Pick(b.Choices, "0", "999")) // below a nanosecond
	}
	if negative {
		ns = -ns
	}
	return time.Duration(ns), text
}

// row returns the cells of the next row, and adds its packet to b.want.
func (b *captureBuilder) row() []string {
	has := func(name string) bool { return slices.Contains(b.columns, name) }
	p := Packet{Seq: uint64(len(b.want))}
	cells := map[string]string{"remark": testkit.Pick(b.Choices, "", "a b", "lost", "1")}
	if has("seq") {
		p.Seq = b.Uint64(testkit.Pick(b.Choices, 1, 2, 7))
		cells["seq"] = fmt.Sprint(p.Seq)
	}
	if n := b.IntN(maxCopy); n%4 > 0 && has("copy") {
		p.Copy = n
		cells["copy"] = fmt.Sprint(n)
	}
	if has("send_us") {
		p.Sent, cells["send_us"] = b.micros()
	}
	p.Lost = b.IntN(4) == 3
	took, tookText := b.micros()
	arrived, arrivedText := b.micros()
	switch {
	case p.Lost && has("lost"):
		cells["lost"] = testkit.Pick(b.Choices, "1", "true", "YES", "lost")
		cells["recv_us"] = testkit.Pick(b.Choices, "", "lost", "7")
	case p.Lost:
		cells["delay_us"], cells["recv_us"] = "lost", "lost"
	case has("delay_us"):
		p.Took, cells["delay_us"] = took, tookText
		cells["recv_us"] = testkit.Pick(b.Choices, "", "5") // delay_us takes precedence
	case has("recv_us"):
		p.Took, cells["recv_us"] = arrived-p.Sent, arrivedText
	}
	if !p.Lost {
		cells["lost"] = testkit.Pick(b.Choices, "0", "false", "No")
	}
	b.want = append(b.want, p)
	line := make([]string, len(b.columns))
	for i, name := range b.columns {
		line[i] = cells[name]
		if b.Rare() {
			b.damaged = true
			line[i] = testkit.Pick(b.Choices, "-1", "", "1e5", "NaN", "99999999999999999999", "9223372036854775807", "-9223372036854775808",
				"4415040000000000.001", "\xff", "\u0661", "+1", "0x1", "1.", ".5", "-", "lost ", "65537", string(b.Bytes(b.IntN(30))))
		}
		if b.IntN(8) == 7 || strings.ContainsAny(line[i], "\"\n\r,") {
			line[i] = `"` + strings.ReplaceAll(line[i], `"`, `""`) + `"`
		}
	}
	return line
}

// FuzzCapture builds captures with any columns and rows, and damages some cells or the text. A capture without damage
// must be read as the packets that its rows describe. Packets that were read are equal after Write
// and Read, and their sequence has every datagram once.
func FuzzCapture(f *testing.F) {
	for columns := range byte(5) {
		f.Add([]byte{columns, 1, 0, 1, 1, 1, 2, 1, 1, 0, 0, 1, 0, 7, 3, 0, 200, 0, 1, 0, 1, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 3, 2})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &captureBuilder{Choices: testkit.NewChoices(data)}
		b.addColumns()
		end := testkit.Pick(b.Choices, "\n", "\r\n", "\n\n")
		text := testkit.Pick(b.Choices, "", "\ufeff") + strings.Join(b.columns, ",") + end
		for first := true; first || !b.Empty() && len(b.want) < 200; first = false {
			if b.IntN(8) == 7 {
				text += "# a remark" + end
			}
			line := strings.Join(b.row(), ",")
			if line == "" { // encoding/csv ignores empty lines
				line = `""`
			}
			text += line + end
		}
		if b.Rare() {
			b.damaged, text = true, b.DamageText(text)
		}
		c, err := Read(strings.NewReader(text))
		if !b.damaged && (err != nil || !slices.Equal(c.Packets, b.want)) {
			t.Fatalf("%q: %+v, %v, expected %+v", text, c, err, b.want)
		}
		if err != nil {
			return
		}
		checkSequence(t, c)
		var out bytes.Buffer
		if err := Write(&out, slices.Values(c.Packets)); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&out)
		if err != nil || !slices.Equal(back.Packets, c.Packets) {
			t.Fatalf("%+v read back as %+v, %v", c.Packets, back, err)
		}
	})
}

// checkSequence checks that the sequence of a capture, if it has one, has all numbers from the lowest to
// the highest, and an arrival if and only if the rows of its number have one.
func checkSequence(t *testing.T, c *Capture) {
	s, err := c.Sequence()
	if err != nil {
		return
	}
	arrivals := map[uint64]int{}
	rows := map[uint64]bool{}
	for _, p := range c.Packets {
		rows[p.Seq] = true
		if !p.Lost {
			arrivals[p.Seq]++
		}
	}
	missing := 0
	for i, d := range s.Datagrams {
		if d.Seq != s.Datagrams[0].Seq+uint64(i) || d.Missing == rows[d.Seq] || arrivals[d.Seq] == 0 && (!d.Lost || len(d.Copies) > 0) {
			t.Fatalf("datagram %d: %+v, %d arrivals", i, d, arrivals[d.Seq])
		}
		if d.Missing {
			missing++
		}
		delete(rows, d.Seq)
	}
	if len(rows) > 0 || missing != s.Missing {
		t.Fatalf("%d numbers are not in the sequence; %d missing, expected %d", len(rows), s.Missing, missing)
	}
}
