//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/lossmodel"

	"github.com/creack/pty"
)

var (
	soak        = flag.Duration("soak", 0, "how long TestSoak has the dashboard on a terminal, in real time")
	soakVirtual = flag.Duration("soakvirtual", 0, "how much virtual time TestSoakVirtual runs through, at the highest speed")
)

// soakSample is the resource usage of the program at one moment.
type soakSample struct {
	wall, virtual    time.Duration // since the start; repeated virtual time is not counted
	live, rss        int64         // bytes; rss is 0 on systems without /proc
	goroutines, open int
	keys             int
	drawn            int64 // bytes for the screen
}

func (x soakSample) String() string {
	return fmt.Sprintf("%8v  virtual %10v  live %6.1f MB  RSS %6.1f MB  goroutines %3d  open files %3d  keys %7d  drawn %8.1f MB",
		x.wall.Round(time.Second), x.virtual.Round(time.Second), float64(x.live)/1e6, float64(x.rss)/1e6, x.goroutines, x.open, x.keys,
		float64(x.drawn)/1e6)
}

// soakRun is a dashboard on a terminal with random input.
type soakRun struct {
	*session
	rng        *rand.Rand
	reports    string
	ask        io.Writer
	answers    *bufio.Scanner
	begun      time.Time
	played     time.Duration // total virtual time
	clock      time.Duration // last virtual time on the screen
	keys       int
	jumps      bool // whether typed lines may restart the run, seek and set the speed
	rows, cols int
}

// soakShadows are the encoders that run as shadows.
var soakShadows = []string{"changed-index", "relative-position", "relative-orientation", "rotor"}

func startSoak(t *testing.T, seed uint64, args ...string) *soakRun {
	t.Helper()
	reports := t.TempDir()
	x := soakOf(t, seed, append(args, "--reports", reports)...)
	x.reports = reports
	for _, name := range soakShadows {
		x.say("shadow " + name)
	}
	return x
}

// soakOf runs a command on a terminal and requests its resource usage through pipes.
func soakOf(t *testing.T, seed uint64, args ...string) *soakRun {
	t.Helper()
	askedR, askedW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answerR, answerW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := &soakRun{session: newSession(t, args...), rng: rand.New(rand.NewPCG(seed, 4)), ask: askedW, answers: bufio.NewScanner(answerR),
		begun: time.Now(), rows: 48, cols: 160}
	x.cmd.Env = append(x.cmd.Env, gaugesEnv+"=1")
	x.cmd.ExtraFiles = []*os.File{askedR, answerW}
	x.start(uint16(x.rows), uint16(x.cols))
	_, _ = askedR.Close(), answerW.Close()
	t.Cleanup(func() { _, _ = askedW.Close(), answerR.Close() })
	x.see("LIVE")
	return x
}

// say types a command.
func (x *soakRun) say(line string) { x.press("/\x15" + line + "\r") }

func (x *soakRun) press(keys string) {
	x.t.Helper()
	x.keys++
	x.session.press(keys)
}

func (x *soakRun) resize(rows, cols int) {
	x.t.Helper()
	x.rows, x.cols = rows, cols
	x.screen.resize(rows, cols)
	if err := pty.Setsize(x.tty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		x.t.Fatal(err)
	}
}

// soakKeys are the keys of the dashboard except those that quit, suspend, or open the command
// line, where random keys could type quit.
var soakKeys = slices.Concat(
	strings.Split("\t|\x1b[Z|\x1b[A|\x1b[B|\x1b[C|\x1b[D|\x1b[5~|\x1b[6~|\x1b[H|\x1b[F|\r|\x1b|\x7f| ", "|"),
	strings.Split("1234561234561234561234[]eevpduu.,<>bBz+-sxmt? hjklacvfwgGnor\x12", ""))

// someLine returns a random command line, mostly a valid one.
func (x *soakRun) someLine() string {
	pick := func(list ...string) string { return list[x.rng.IntN(len(list))] }
	some := func(n int) string { return strconv.Itoa(x.rng.IntN(n)) }
	all := table.All()
	codec := all[x.rng.IntN(len(all))].Name
	keys := lossmodel.Keys()
	k := keys[x.rng.IntN(len(keys))]
	rung := "3%"
	if words := append(append([]string{}, k.Ladder...), k.Choices...); len(words) > 0 {
		rung = pick(words...)
	}
	profiles := lossmodel.Profiles()
	switch x.rng.IntN(16) {
	case 0, 1:
		return "encoder " + codec
	case 2, 3, 4:
		return pick("", "up ", "down ") + k.Key + " " + rung
	case 5:
		return "profile " + profiles[x.rng.IntN(len(profiles))].Name
	case 6:
		return pick("shadow ", "shadow off ") + codec
	case 7:
		return "param " + pick("xy_small", "orientation_small", "rate", "level") + " " + some(12)
	case 8:
		return "every " + some(8)
	case 9:
		return "playout " + some(300) + "ms"
	case 10:
		return pick("theme ", "theme ", "filter ") + pick(append(look.SchemeNames(), "all", "trouble", "lost")...)
	case 11:
		return pick("pause", "resume", "undo", "help", "tour", "step "+some(100), "mark it", "budget 256", "budget off")
	case 12:
		return pick("enc\t\t", "lo\t ", "shadow \t\t\t", "sp\t\t\t", "\x1b[A\x1b[A", "theme \t\t", "b\t\t\x1b[B")
	case 13:
		return pick("loss gemodel 2% 30%", "netem off", "netem loss 5%", "interpolation hermite",
			"interpolation linear", "zzz", "loss 1e99%", "every -1", "latency \u00b5\u00b5")
	case 14:
		if x.jumps && x.rng.IntN(80) == 0 { // about every ten minutes, so that sessions can become long
			return pick("seed "+some(9), "seek "+some(60)+"s", "seek 00:0"+some(9), "speed "+pick("0.1", "1", "4", "16", "64", "max"))
		}
	}
	return pick("loss 1%", "latency 50ms", "jitter 10ms", "encoder relative-index")
}

// act sends one random input: a key, a typed command, a mouse event or a new size.
func (x *soakRun) act() {
	x.t.Helper()
	switch n := x.rng.IntN(100); {
	case n < 70:
		k := soakKeys[x.rng.IntN(len(soakKeys))]
		if (k == "s" || k == "+" || k == "-") && x.rng.IntN(8) > 0 { // each save writes megabytes
			return
		}
		x.press(k)
	case n < 82:
		x.say(x.someLine())
		time.Sleep(20 * time.Millisecond)
		x.press("\x1b") // close the line, which stays open after an error
	case n < 90:
		x.press(fmt.Sprintf("\x1b[<%d;%d;%d%s", []int{0, 2, 32, 64, 65}[x.rng.IntN(5)], 1+x.rng.IntN(x.cols), 1+x.rng.IntN(x.rows),
			[]string{"M", "m"}[x.rng.IntN(2)]))
	case n < 96:
		x.resize(1+x.rng.IntN(80), 1+x.rng.IntN(250))
	case n < 98:
		sizes := [][2]int{{1, 1}, {24, 80}, {48, 160}, {80, 250}, {1, 250}, {80, 1}, {5, 20}}
		size := sizes[x.rng.IntN(len(sizes))]
		x.resize(size[0], size[1])
	default:
		x.press("\x1b\x1b")
	}
}

var clockShown = regexp.MustCompile(`(?:(\d+):)?(\d\d):(\d\d)\.(\d)`)

// settle puts the dashboard into a defined state: a visible clock, four shadows and a running
// clock at the given speed.
func (x *soakRun) settle(speed string) {
	x.t.Helper()
	if x.cols != 250 { // a resize to the same size is not drawn
		x.resize(60, 250)
	} else {
		x.resize(60, 249)
	}
	x.press("\x1b")
	time.Sleep(50 * time.Millisecond) // otherwise the escape would be read as part of the next key
	x.press("\x1b")
	time.Sleep(50 * time.Millisecond)
	x.press("\x1b")
	time.Sleep(50 * time.Millisecond)
	x.press("\x1b[F")
	for _, c := range table.All() { // always the same encoders, because each needs memory
		if c.Suits(frame.Cubes(1)) && !slices.Contains(soakShadows, c.Name) {
			x.say("shadow off " + c.Name)
		}
	}
	for _, name := range soakShadows {
		x.say("shadow " + name)
	}
	x.say("encoder relative-index")
	x.say("resume")
	x.say("speed " + speed)
	x.press("\x1b")
	for _, page := range "234561" { // a hidden page holds its last view: five minutes of every encoder
		time.Sleep(300 * time.Millisecond)
		x.press(string(page))
	}
	time.Sleep(300 * time.Millisecond)
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(50 * time.Millisecond) {
		header, _, _ := strings.Cut(x.screen.shown(), "\n")
		if strings.Contains(header, "WRONG") {
			x.t.Fatal(header)
		}
		if m := clockShown.FindStringSubmatch(header); m != nil {
			x.watch(m)
			return
		}
		if time.Now().After(deadline) {
			_ = x.cmd.Process.Signal(syscall.SIGQUIT) // stores the stacks; stderr names the file
			time.Sleep(2 * time.Second)
			x.t.Fatalf("no clock for %v; the screen is\n%s\n%s", 2*patience, x.screen.shown(), x.stderr.String())
		}
	}
}

// watch counts virtual time as shown by the clock.
func (x *soakRun) watch(shown []string) {
	var n [5]int
	for i := 1; i < 5; i++ {
		n[i], _ = strconv.Atoi(shown[i])
	}
	at := time.Duration(n[1])*time.Hour + time.Duration(n[2])*time.Minute + time.Duration(n[3])*time.Second +
		time.Duration(n[4])*100*time.Millisecond
	if at > x.clock {
		x.played += at - x.clock
	}
	x.clock = at
}

// sample requests the resource usage from the program and the system.
func (x *soakRun) sample() soakSample {
	x.t.Helper()
	s := soakSample{wall: time.Since(x.begun), virtual: x.played, keys: x.keys, drawn: x.screen.written()}
	if _, err := fmt.Fprintln(x.ask); err != nil || !x.answers.Scan() {
		x.t.Fatalf("the program is gone: %v; %s", err, x.stderr.String())
	}
	if _, err := fmt.Sscan(x.answers.Text(), &s.live, &s.goroutines); err != nil {
		x.t.Fatal(err)
	}
	proc := fmt.Sprintf("/proc/%d/", x.cmd.Process.Pid)
	if list, err := os.ReadDir(proc + "fd"); err == nil {
		s.open = len(list)
	}
	if status, err := os.ReadFile(proc + "status"); err == nil {
		if _, after, ok := bytes.Cut(status, []byte("VmRSS:")); ok {
			_, _ = fmt.Sscan(string(after), &s.rss)
			s.rss *= 1024
		}
	}
	return s
}

// tidy removes all but the newest reports.
func (x *soakRun) tidy() {
	all, _ := filepath.Glob(filepath.Join(x.reports, "*"))
	slices.Sort(all)
	for _, dir := range all[:max(0, len(all)-4)] {
		_ = os.RemoveAll(dir)
	}
}

// leave quits, and checks the exit code and the state of the terminal.
func (x *soakRun) leave() {
	x.t.Helper()
	x.settle("1")
	x.press("q")
	time.Sleep(time.Second)
	_, _ = x.tty.WriteString("d") // answers "quit without saving"
	x.ends(exitDone)
	if !strings.Contains(x.screen.String(), leaveAltScreen) {
		x.t.Errorf("the terminal was not restored: %q", x.screen.String())
	}
}

// run sends random input until done, and returns a sample per period.
func (x *soakRun) run(speed string, pause, period time.Duration, done func() bool) (series []soakSample) {
	x.t.Helper()
	next := time.Now()
	for !done() {
		if time.Now().After(next) {
			next = time.Now().Add(period)
			x.settle(speed)
			x.tidy()
			s := x.sample()
			x.t.Log(s)
			series = append(series, s)
		}
		if x.act(); x.rng.IntN(8) == 0 { // time may be paused or slow
			x.press("\x1b[F")
			x.say("resume")
			x.say("speed " + speed)
		}
		time.Sleep(time.Duration(x.rng.Int64N(int64(2 * pause))))
	}
	return series
}

// flat checks that the last quarter of the samples uses no more resources than the second: at
// most 25 % more memory, because of the garbage collector and of buffers that double, and three
// more goroutines or files. In the first quarter the dashboard fills its history of five minutes.
func flat(t *testing.T, series []soakSample) {
	t.Helper()
	if len(series) < 8 {
		t.Logf("%d samples: too few to tell what grows", len(series))
		return
	}
	n := len(series) / 4
	early, late := series[n:2*n], series[len(series)-n:]
	for _, x := range []struct {
		name  string
		of    func(soakSample) int64
		share int64 // allowed growth, as a divisor
		more  int64
	}{
		{"live bytes", func(s soakSample) int64 { return s.live }, 4, 0},
		{"RSS", func(s soakSample) int64 { return s.rss }, 4, 0},
		{"goroutines", func(s soakSample) int64 { return int64(s.goroutines) }, 10, 3},
		{"open files", func(s soakSample) int64 { return int64(s.open) }, 10, 3},
	} {
		median := func(list []soakSample) int64 {
			all := make([]int64, len(list))
			for i, s := range list {
				all[i] = x.of(s)
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		was, is := median(early), median(late)
		t.Logf("%s: %d in the second quarter, %d in the last (medians)", x.name, was, is)
		if most := was + was/x.share + x.more; is > most {
			t.Errorf("%s grew from %d to %d, more than %d", x.name, was, is, most)
		}
	}
}

// TestSoak runs the dashboard on a terminal with four shadows and random input. With -soak 1h it
// runs for an hour, and memory, goroutines and open files must not grow. Without the flag it runs
// for a few seconds as a smoke test.
func TestSoak(t *testing.T) {
	t.Parallel()
	x := startSoak(t, 1)
	x.jumps = true
	whole := *soak
	if whole == 0 {
		whole = 2 * time.Second
	}
	series := x.run("1", 60*time.Millisecond, max(whole/60, time.Second), func() bool { return time.Since(x.begun) > whole })
	x.leave()
	if *soak > 0 {
		flat(t, series)
	}
}

// fewCubes records the first cubes of the demo, which can be run several times as fast as all
// cubes.
func fewCubes(t *testing.T, cubes int) (args []string) {
	t.Helper()
	demo, err := dataset.Open(t.Context(), "demo", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "few.bin")
	w, err := dataset.Create(nil, path, cubes)
	if err != nil {
		t.Fatal(err)
	}
	all, few := demo.Schema().NewFrame(), frame.Cubes(cubes).NewFrame()
	cut := func() *frame.Frame {
		few.Tick = all.Tick
		copy(few.Table, all.Table)
		return few
	}
	demo.Initial(all)
	err = w.Initial(cut())
	for err == nil {
		if err = demo.Next(all); err == nil {
			err = w.Write(cut())
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(path)) // a short path in the header leaves room for the clock
	return []string{"--data", "few.bin", "--set", "data.cubes=" + strconv.Itoa(cubes)}
}

// TestSoakVirtual is TestSoak at the highest speed, for a given virtual time.
func TestSoakVirtual(t *testing.T) {
	if *soakVirtual == 0 {
		t.Skip("takes an hour; -soakvirtual 8h runs the dashboard through eight hours of virtual time")
	}
	x := startSoak(t, 2, fewCubes(t, 60)...)
	series := x.run("max", 300*time.Millisecond, 20*time.Second, func() bool { return x.played > *soakVirtual })
	x.leave()
	flat(t, series)
}
