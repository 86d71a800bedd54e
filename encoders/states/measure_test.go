package states

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"syscall"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

const gamesDir = "/work/shared/data/games/"

func cells(path string, do func([]string)) {
	name, args := "cat", []string{path}
	if strings.HasSuffix(path, ".zst") {
		name, args = "zstd", []string{"-dcq", path}
	}
	cmd := exec.Command(name, args...)
	out, _ := cmd.StdoutPipe()
	cmd.Start()
	b := bufio.NewReaderSize(out, 1<<20)
	for n := 0; ; n++ {
		line, err := b.ReadString('\n')
		if err == io.EOF {
			break
		}
		if n > 0 {
			do(strings.Split(strings.TrimRight(line, "\r\n"), ","))
		}
	}
	cmd.Wait()
}

type snap struct {
	changed frame.Rows
	own     float64
	fair    bool
	diff    []byte // row*fields cell, value
	tick    uint32
}

type match struct {
	s     *frame.Schema
	snaps []snap
}

func quakeSchema(rows int, hints bool) *frame.Schema {
	s := &frame.Schema{Name: "quake3", Item: "entity", Rows: rows + 1, TickHz: 20}
	s.Fields = append(s.Fields, frame.Field{Name: "present", Kind: frame.Flag, Max: 1})
	s.Fields[0].Hint.Role = frame.Present
	add := func(c []string, player bool) {
		n := c[2]
		bits, _ := strconv.Atoi(c[3])
		f := frame.Field{Name: n, Kind: frame.Float32}
		h := &f.Hint
		if player {
			f.Name = "player." + n
		}
		axis := func() uint8 { return n[len(n)-2] - '0' }
		switch {
		case n == "pos.trTime" || n == "time" || n == "time2" || n == "apos.trTime" || n == "commandTime":
			h.Role = frame.Clock
			f.Kind, f.Min, f.Max = frame.Quantity, math.MinInt32, math.MaxInt32
			if n == "commandTime" {
				h.Group = 2
			}
		case bits == 0:
			if strings.Contains(n, "ngles") || strings.HasPrefix(n, "apos.trBase") {
				h.Turn = 360
				if player {
					h.Step = 360.0 / 65536
				}
			}
			if n == "angles2[1]" {
				h.Turn = 0
			}
			if strings.HasPrefix(n, "pos.trBase") || player && strings.HasPrefix(n, "origin") {
				h.Role, h.Group, h.Axis = frame.Place, 1, axis()
			}
			if strings.HasPrefix(n, "pos.trDelta") || player && strings.HasPrefix(n, "velocity") {
				h.Role, h.Group, h.Axis = frame.Velocity, 1, axis()
				h.Rate, h.Drag, h.StopSpeed = 0.001, 0.006, 100
			}
			if player && h.Group == 1 {
				h.Group = 2
			}
		case n == "eFlags" || n == "powerups" || n == "pm_flags":
			f.Kind = frame.Bits
		case !player && bits <= 24 && bits > 0, n == "torsoAnim", n == "legsAnim", n == "events[0]", n == "events[1]", n == "groundEntityNum",
			n == "externalEvent", n == "weapon", n == "weaponstate", n == "pm_type", n == "clientNum", n == "movementDir":
			f.Kind, f.Max = frame.Enum, 1<<bits-1
			if n == "eType" {
				h.Role = frame.Type
			}
		default:
			f.Kind, f.Min, f.Max = frame.Quantity, math.MinInt32, math.MaxInt32
			if strings.HasPrefix(n, "delta_angles") {
				f.Kind, f.Min, f.Max = frame.Angle, -32768, 32767
				f.Kind, f.Min, f.Max = frame.Quantity, math.MinInt32, math.MaxInt32
			}
			if n == "bobCycle" {
				f.Kind, f.Min, f.Max = frame.Angle, 0, 255
			}
		}
		s.Fields = append(s.Fields, f)
	}
	cells(gamesDir+"q3-netfields.csv", func(c []string) {
		if c[0] == "player" && len(s.Fields) == 52 {
			s.Fields = append(s.Fields, frame.Field{Name: "server_time", Kind: frame.Quantity, Min: 0, Max: math.MaxInt32, Hint: frame.Hint{Role: frame.Now}})
		}
		add(c, c[0] == "player")
	})
	for _, a := range []string{"stats", "persistant", "ammo", "powerups"} {
		for i := range 16 {
			s.Fields = append(s.Fields, frame.Field{Name: fmt.Sprintf("player.%s[%d]", a, i), Kind: frame.Quantity, Min: math.MinInt32, Max: math.MaxInt32})
		}
	}
	if !hints {
		for i := range s.Fields {
			s.Fields[i].Hint = frame.Hint{}
		}
	}
	s.Parts = []frame.Part{{Name: "entity", Row: 0, Rows: rows, Field: 0, Size: 52}, {Name: "player", Row: rows, Rows: 1, Field: 52, Size: len(s.Fields) - 52}}
	return s
}

func loadQuake(name string, hints bool) *match {
	rows := 0
	cells(gamesDir+name+".entities.csv.zst", func(c []string) {
		n, _ := strconv.Atoi(c[2])
		rows = max(rows, n+1)
	})
	s := quakeSchema(rows, hints)
	m := &match{s: s}
	n := len(s.Fields)
	value := func(c string, k int) int32 {
		if c[0] == 'x' {
			x, _ := strconv.ParseUint(c[1:], 16, 32)
			return int32(uint32(x))
		}
		x, _ := strconv.ParseInt(c, 10, 64)
		if s.Fields[k].Kind == frame.Float32 {
			return int32(math.Float32bits(float32(x)))
		}
		return int32(x)
	}
	type src struct {
		ch  chan []string
		nxt []string
	}
	open := func(path string) *src {
		q := &src{ch: make(chan []string, 4096)}
		go func() { cells(path, func(c []string) { q.ch <- c }); close(q.ch) }()
		q.nxt = <-q.ch
		return q
	}
	ents, pl := open(gamesDir+name+".entities.csv.zst"), open(gamesDir+name+".player.csv.zst")
	prev := make([]int32, s.Cells())
	before := "x"
	cells(gamesDir+name+".snapshots.csv.zst", func(c []string) {
		cur := make([]int32, s.Cells())
		a, _ := strconv.Atoi(c[8])
		b, _ := strconv.Atoi(c[9])
		sn := snap{own: float64(a + b), fair: c[2] == before, changed: frame.NewRows(s.Rows)}
		before = c[0]
		for ents.nxt != nil && ents.nxt[0] == c[0] {
			e := ents.nxt
			id, _ := strconv.Atoi(e[2])
			cur[id*n] = 1
			for k, v := range e[3:] {
				cur[id*n+1+k] = value(v, 1+k)
			}
			ents.nxt = <-ents.ch
		}
		t, _ := strconv.Atoi(c[1])
		cur[rows*n+52] = int32(t)
		if pl.nxt != nil && pl.nxt[0] == c[0] {
			for k, v := range pl.nxt[2:] {
				cur[rows*n+53+k] = value(v, 53+k)
			}
			pl.nxt = <-pl.ch
		}
		sn.changed.Compare(cur, prev, n)
		for i, v := range cur {
			if v != prev[i] {
				sn.diff = binary.LittleEndian.AppendUint32(sn.diff, uint32(i))
				sn.diff = binary.LittleEndian.AppendUint32(sn.diff, uint32(v))
			}
		}
		sn.tick = uint32(len(m.snaps) + 1)
		prev = cur
		m.snaps = append(m.snaps, sn)
	})
	return m
}

func user() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

func measure(t *testing.T, name string, m *match, back int, verify bool, fields bool) {
	enc, dec := New(m.s, Params{Limit: env("LIMIT", 250), Rate: env("RATE", 164)})
	type end struct {
		f    *frame.Frame
		memo encoders.Memo
	}
	sent, got := make([]end, back+1), make([]end, back+1)
	for i := range sent {
		sent[i].f, got[i].f = m.s.NewFrame(), m.s.NewFrame()
	}
	cur := m.s.NewFrame()
	size, own, n := 0.0, 0.0, 0
	var budget encoders.Budget
	var spent, dspent time.Duration
	hist := make([]frame.Rows, 0, back)
	for i, sn := range m.snaps {
		for at := 0; at < len(sn.diff); at += 8 {
			cur.Table[binary.LittleEndian.Uint32(sn.diff[at:])] = int32(binary.LittleEndian.Uint32(sn.diff[at+4:]))
		}
		cur.Tick = sn.tick
		hist = append(hist, sn.changed)
		if len(hist) > back {
			hist = hist[1:]
		}
		u := frame.NewRows(m.s.Rows)
		for _, h := range hist {
			u.Union(h)
		}
		at, base := i%(back+1), (i+1)%(back+1)
		var b *encoders.Budget
		if fields && sn.fair && i >= back {
			b = &budget
		}
		t0 := user()
		out, memo, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: sent[base].f, Memo: sent[base].memo, Changed: u}}, sent[at].memo, b)
		spent += user() - t0
		if err != nil {
			t.Fatal(err)
		}
		sent[at].f.CopyFrom(cur)
		sent[at].memo = memo
		if verify {
			got[at].f.Tick = sn.tick
			t0 := user()
			memo, err := dec.Decode(got[at].f, out, []encoders.Ref{{Frame: got[base].f, Memo: got[base].memo}}, got[at].memo)
			dspent += user() - t0
			if err != nil {
				t.Fatalf("snapshot %d: %v", i, err)
			}
			if !got[at].f.Equal(cur) {
				t.Fatalf("snapshot %d differs", i)
			}
			got[at].memo = memo
		}
		if sn.fair && i >= back {
			size += float64(len(out))
			own += sn.own
			n++
		}
	}
	fmt.Printf("%-8s back %d: %d frames, game %.1f bits, ours %.1f, ratio %.4f; %.0f us, decode %.0f us\n", name, back, n, own/float64(n), size*8/float64(n),
		size*8/own, float64(spent.Microseconds())/float64(len(m.snaps)), float64(dspent.Microseconds())/float64(len(m.snaps)))
	if fields {
		for k, u := range budget.Units {
			if x := float64(u) / 65536 / float64(n); x > 0.5 {
				fmt.Printf("   %-24s %.1f\n", encoders.Slot(k).Name(m.s), x)
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	names := os.Getenv("MATCH")
	debugFresh = os.Getenv("FRESH") != ""
	if names == "" {
		t.Skip()
	}
	for _, name := range strings.Split(names, ",") {
		m := loadQuake(name, os.Getenv("NOHINTS") == "")
		if l := os.Getenv("MOST"); l != "" {
			k, _ := strconv.Atoi(l)
			m.snaps = m.snaps[:k]
		}
		back := 1
		if b := os.Getenv("BACK"); b != "" {
			back, _ = strconv.Atoi(b)
		}
		measure(t, name, m, back, os.Getenv("VERIFY") != "", os.Getenv("FIELDS") != "")
	}
}
