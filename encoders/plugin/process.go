package plugin

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/encoders/rangecoder"
	"wirelab/internal/panics"
)

// An encoder can be a process of its own, one for each end, that answers messages on its
// standard input with messages on its standard output; PROCESS.md has the format.

// The messages.
const (
	askDescribe, askCreate, askEncode, askDecode = 1, 2, 3, 4
	headerSize                                   = 12
	maxDescription                               = 1 << 20
)

// Limits of what is there at once, and for how long.
const (
	maxProcesses = 64               // of a plugin; the one that was used least recently ends for a further one
	startTime    = 10               // timeouts that a process has for its first answer
	leaveTime    = time.Second / 4  // for it to end by itself after its last call
	keptStderr   = 4 << 10          // bytes
	saidStderr   = 300              // bytes of it in an error
	maxStray     = 60               // bytes of a text that stands in place of an answer
	maxHashed    = int64(256 << 20) // bytes of a file that a command names
)

// prepareProcess takes a command apart and notes what it would run.
func (p *Plugin) prepareProcess(command string) error {
	var err error
	if p.command, err = split(command); err != nil {
		return err
	}
	if p.command[0], err = exec.LookPath(p.command[0]); err != nil {
		return err
	}
	h := sha256.New()
	for _, arg := range p.command {
		if info, err := os.Stat(arg); err != nil || !info.Mode().IsRegular() || info.Size() > maxHashed {
			fmt.Fprintf(h, "%d %s", len(arg), arg)
			continue
		}
		f, err := os.Open(arg)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, f)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	p.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

// split cuts a command into words at spaces, but for those in quotes.
func split(command string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range command {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	if quote != 0 {
		return nil, fmt.Errorf("%q is no command: a %c is not closed", command, quote)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("%q is no command; expected a program and its arguments, as in exec:./my-encoder --flag", command)
	}
	return words, nil
}

// process is one end's.
type process struct {
	plugin  *Plugin
	cmd     *exec.Cmd
	in      *os.File
	out     *os.File
	errors  *os.File // its standard error
	read    *bufio.Reader
	stderr  tail
	number  uint32 // of the last message
	kill    sync.Once
	drained chan struct{} // closed after the end of its standard error
	reaped  chan struct{}
	answer  []byte
	stray   string // what stood in place of an answer, if it is a text

	busy bool   // under processes.mu, as are these
	gone bool   // it was ended; its end needs another
	used uint64 // the time of release, by processes.clock
}

// processes are those of a plugin that are alive.
type processes struct {
	mu    sync.Mutex
	list  []*process
	clock uint64
}

// start starts a process, claimed for the caller.
func (p *Plugin) start() (*process, error) {
	if p.ctx.Err() != nil {
		return nil, p.ctx.Err()
	}
	var pipes [3]struct{ read, write *os.File } // standard input, output and error
	var err error
	for i := 0; i < len(pipes) && err == nil; i++ {
		pipes[i].read, pipes[i].write, err = os.Pipe()
	}
	x := &process{plugin: p, cmd: exec.Command(p.command[0], p.command[1:]...),
		in: pipes[0].write, out: pipes[1].read, errors: pipes[2].read, read: bufio.NewReaderSize(pipes[1].read, 64<<10),
		drained: make(chan struct{}), reaped: make(chan struct{}), busy: true}
	if err == nil {
		x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = pipes[0].read, pipes[1].write, pipes[2].write
		ownGroup(x.cmd)
		err = x.cmd.Start()
	}
	_, _, _ = pipes[0].read.Close(), pipes[1].write.Close(), pipes[2].write.Close() // nil is refused
	if err != nil {
		_, _, _ = x.in.Close(), x.out.Close(), x.errors.Close()
		return nil, p.broken("it does not start", "%w", err)
	}
	go func() {
		defer close(x.drained)
		panics.Guard(x.fail, func() { _, _ = io.Copy(&x.stderr, x.errors) })()
	}()
	stop := context.AfterFunc(p.ctx, panics.Guard(x.fail, x.end))
	go func() {
		defer close(x.reaped)
		panics.Guard(x.fail, func() {
			_ = x.cmd.Wait()
			stop()
			killGroup(x.cmd) // those that it left behind
		})()
	}()
	p.alive.add(x)
	return x, nil
}

// add takes a process in, and ends another if that is one too many.
func (l *processes) add(x *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, x)
	staying := 0
	var oldest *process
	for _, y := range l.list {
		if y.gone {
			continue
		}
		staying++
		if !y.busy && (oldest == nil || y.used < oldest.used) {
			oldest = y
		}
	}
	if staying > maxProcesses && oldest != nil {
		oldest.gone = true
		go panics.Guard(oldest.fail, oldest.leave)()
	}
}

// claim claims a process for a call; it returns false if the process was ended.
func (x *process) claim() bool {
	x.plugin.alive.mu.Lock()
	defer x.plugin.alive.mu.Unlock()
	x.busy = !x.gone
	return x.busy
}

// release ends the claim.
func (x *process) release() {
	l := &x.plugin.alive
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	x.busy, x.used = false, l.clock
}

// end kills a process with all that it started, and waits for that.
func (x *process) end() {
	x.kill.Do(func() {
		select {
		case <-x.reaped:
		default:
			killGroup(x.cmd)
		}
		_, _ = x.in.Close(), x.out.Close()
	})
	<-x.reaped
	select { // what it said last
	case <-x.drained:
	case <-time.After(leaveTime): // what it started has left its group, and holds on
	}
	_ = x.errors.Close()
	l := &x.plugin.alive
	l.mu.Lock()
	defer l.mu.Unlock()
	x.gone = true
	l.list = slices.DeleteFunc(l.list, func(y *process) bool { return y == x })
}

// fail makes the call of a process fail because of a panic in a goroutine beside it.
func (x *process) fail(bug error) {
	x.plugin.recordPanic(bug)
	_, _ = x.in.Close(), x.out.Close()
}

// leave lets a process end by itself, if it does so soon.
func (x *process) leave() {
	_ = x.in.Close()
	select {
	case <-x.reaped:
	case <-time.After(leaveTime):
	}
	x.end()
}

// end ends all processes.
func (l *processes) end() {
	l.mu.Lock()
	list := slices.Clone(l.list)
	l.mu.Unlock()
	var all sync.WaitGroup
	for _, x := range list {
		all.Go(panics.Guard(x.fail, x.leave))
	}
	all.Wait()
}

// ask sends a message and returns the answer, of at most limit bytes, which is good until the
// next one. Whatever breaks the
// process is an ErrBroken: it has to be ended then.
func (x *process) ask(name string, kind uint32, message []byte, limit int) (code int32, answer []byte, err error) {
	timeout := x.plugin.opt.Timeout
	if x.number == 0 {
		timeout *= startTime
	}
	var late atomic.Bool
	if timeout > 0 {
		defer time.AfterFunc(timeout, panics.Guard(x.fail, func() { late.Store(true); x.end() })).Stop()
	}
	x.number++
	code, answer, err = x.exchange(kind, message, limit)
	switch {
	case err == nil:
		return code, answer, nil
	case x.plugin.ctx.Err() != nil:
		return 0, nil, x.plugin.ctx.Err()
	case x.plugin.bug.Load() != nil:
		err = x.plugin.bug.Load()
	case late.Load() && x.number == 1:
		err = fmt.Errorf("%w %v, %d times --plugin-timeout, to begin", errLate, timeout, startTime)
	case late.Load():
		err = fmt.Errorf("%w %v", errLate, timeout)
	case !errors.Is(err, errNonsense):
		err = x.exitReason()
	}
	if x.stray != "" {
		err = fmt.Errorf("%w; %q stands where an answer is expected: only answers belong to standard output", err, x.stray)
	}
	if said := x.stderr.line(); said != "" {
		err = fmt.Errorf("%w; it said: %s", err, said)
	}
	return 0, nil, x.plugin.broken(name, "%w", err)
}

// exitReason returns why a process stopped answering.
func (x *process) exitReason() error {
	select {
	case <-x.reaped:
		x.end()
		return fmt.Errorf("it ended: %v", x.cmd.ProcessState)
	case <-time.After(leaveTime):
		return errors.New("it closed its input or its output")
	}
}

var errNonsense = errors.New("it answers nonsense")

// exchange writes a message, whose header is still to be filled in, and reads the answer.
func (x *process) exchange(kind uint32, message []byte, limit int) (int32, []byte, error) {
	binary.LittleEndian.PutUint32(message, uint32(len(message)-4))
	binary.LittleEndian.PutUint32(message[4:], x.number)
	binary.LittleEndian.PutUint32(message[8:], kind)
	if _, err := x.in.Write(message); err != nil {
		return 0, nil, err
	}
	var head [headerSize]byte
	if n, err := io.ReadFull(x.read, head[:]); err != nil {
		x.stray = strayText(head[:n])
		return 0, nil, err
	}
	size, number := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	code := int32(binary.LittleEndian.Uint32(head[8:]))
	switch {
	case size < headerSize-4 || size > uint32(limit+headerSize-4):
		more, _ := x.read.Peek(min(x.read.Buffered(), maxStray-headerSize))
		x.stray = strayText(append(head[:], more...))
		return 0, nil, fmt.Errorf("%w: a message of %d bytes, expected %d to %d", errNonsense, size, headerSize-4, limit+headerSize-4)
	case number != x.number:
		return 0, nil, fmt.Errorf("%w: to message %d, expected %d", errNonsense, number, x.number)
	}
	x.answer = slices.Grow(x.answer[:0], int(size)-(headerSize-4))[:size-(headerSize-4)]
	_, err := io.ReadFull(x.read, x.answer)
	return code, x.answer, err
}

// strayText returns the first line of what a program printed where an answer was expected;
// empty if it is no text.
func strayText(b []byte) string {
	line, _, _ := strings.Cut(strings.Trim(string(b), "\r\n"), "\n")
	text := printable(strings.ToValidUTF8(line, ""))
	if 4*len(text) < 3*len(line) {
		return ""
	}
	return text
}

// tail keeps the end of what was written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-keptStderr):]...)
	if n := len(t.text) - keptStderr; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(b), nil
}

// line returns the text as one line that a terminal can show.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Join(strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' }), " / ")
	return printable(strings.ToValidUTF8(text[max(0, len(text)-saidStderr):], ""))
}

// writer appends the parts of messages.
type writer []byte

func message() writer          { return make(writer, headerSize) } // the header is written when it is sent
func (w *writer) u32(v uint32) { *w = binary.LittleEndian.AppendUint32(*w, v) }
func (w *writer) f64(v float64) {
	*w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(v))
}
func (w *writer) bytes(b []byte) {
	w.u32(uint32(len(b)))
	*w = append(*w, b...)
}
func (w *writer) table(t []int32) {
	n := len(*w)
	*w = append(*w, make([]byte, 4*len(t))...)
	toBytes((*w)[n:], t)
}

// reader reads the parts of messages. Once one is missing, all are zero.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.left) {
		r.bad, r.left = true, nil
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) f64() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// bytes reads at most limit bytes with their number before them.
func (r *reader) bytes(limit int) []byte {
	n := r.u32()
	if uint64(n) > uint64(limit) {
		r.bad, r.left = true, nil
		return nil
	}
	return r.take(int(n))
}

func (r *reader) text() string { return string(r.bytes(maxText)) }

// end returns an error unless exactly the whole message was read.
func (r *reader) end() error {
	if r.bad || len(r.left) > 0 {
		return fmt.Errorf("%w: what it says is too short or too long, or has a part that is too long", errNonsense)
	}
	return nil
}

// describeProcess requests the descriptions of a process's encoders.
func (p *Plugin) describeProcess() (list []description, err error) {
	x, err := p.start()
	if err != nil {
		return nil, err
	}
	defer x.leave()
	m := message()
	m.u32(ABI)
	code, answer, err := x.ask("describe", askDescribe, m, maxDescription)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, fmt.Errorf("%w: describe: it answers %s%s", ErrContract, answerName(code), because(printable(string(answer))))
	}
	r := &reader{left: answer}
	if abi := r.u32(); abi != ABI {
		return nil, fmt.Errorf("%w: it is for version %d of it, expected %d", ErrContract, abi, ABI)
	}
	n := r.u32()
	if n > maxCodecs {
		return nil, fmt.Errorf("%w: it has %d encoders, expected at most %d", ErrContract, n, maxCodecs)
	}
	for i := range int(n) {
		d := description{index: i, name: r.text(), summary: r.text(), source: r.text(), refs: r.u32(), suits: r.u32(), flags: r.u32(), memoRoom: r.u32()}
		params := r.u32()
		if params > maxParams {
			return nil, fmt.Errorf("%w: encoder %d: %w", ErrContract, i, tooManyParams(params))
		}
		for range int(params) {
			d.params = append(d.params, param{name: r.text(), help: r.text(), unit: r.text(), kind: int(int32(r.u32())), initial: r.f64(), min: r.f64(), max: r.f64()})
		}
		list = append(list, d)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: describe: %w", ErrContract, err)
	}
	return list, nil
}

// processHost is a host in a process of its own.
type processHost struct {
	*process
	of     *session
	buf    writer
	result answer
}

func newProcessHost(s *session) (host, error) {
	x, err := s.plugin.start()
	if err != nil {
		return nil, err
	}
	return &processHost{process: x, of: s}, nil
}

func (h *processHost) close()   { h.end() }
func (h *processHost) abandon() { go panics.Guard(h.fail, h.leave)() }

func (h *processHost) create() error {
	s := &h.of.schema
	m := message()
	m.u32(uint32(h.of.codec.index))
	m.bytes([]byte(s.Name))
	m.u32(uint32(s.Rows))
	m.u32(uint32(s.TickHz))
	m.u32(uint32(len(s.Fields)))
	for i := range s.Fields {
		f := &s.Fields[i]
		m.bytes([]byte(f.Name))
		m.u32(uint32(f.Kind))
		m.u32(uint32(f.Min))
		m.u32(uint32(f.Max))
		m.u32(math.Float32bits(float32(f.Step())))
	}
	m.u32(uint32(len(h.of.params)))
	for _, v := range h.of.params {
		m.f64(v)
	}
	code, answer, err := h.ask("create", askCreate, m, maxText)
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %s does not take %s%s", h.plugin.Name(), h.of.codec.name, s.Name, because(printable(string(answer))))
	}
	return err
}

// perform implements host. References that the process has are named by their slots; others
// follow with table, body and memo.
func (h *processHost) perform(c *call) (*answer, error) {
	h.buf = append(h.buf[:0], make([]byte, headerSize)...)
	w := &h.buf
	w.u32(uint32(c.into))
	w.u32(uint32(len(c.refs)))
	for i := range c.refs {
		w.u32(uint32(c.slots[i]))
		w.u32(c.refs[i].Frame.Tick)
		w.u32(uint32(rangecoder.Flag(c.send[i])))
		if c.send[i] {
			w.table(c.refs[i].Frame.Table)
			w.bytes(c.refs[i].Frame.Body)
			var data []byte
			if m, _ := c.refs[i].Memo.(*memo); m != nil {
				data = m.data
			}
			w.bytes(data)
		}
	}
	w.u32(c.cur.Tick)
	kind, name := uint32(askDecode), "decode"
	if c.kind == encodeCall {
		kind, name = askEncode, "encode"
		w.table(c.cur.Table)
		w.bytes(c.cur.Body)
		w.u32(uint32(rangecoder.Flag(c.account)))
	} else {
		w.bytes(c.packet)
	}
	s := h.of
	limit := max(4*(s.schema.Cells()+len(s.schema.Fields)+8)+packetRoom+s.bodyRoom()+int(s.codec.memoRoom), maxText)
	code, message, err := h.ask(name, kind, *w, limit)
	if err != nil {
		return nil, err
	}
	a := &h.result
	*a = answer{call: name, code: code}
	if code != 0 {
		a.why = printable(string(message))
		return a, nil
	}
	r := &reader{left: message}
	if c.kind == encodeCall {
		a.packet, a.memo = r.bytes(packetRoom), r.bytes(int(h.of.codec.memoRoom))
		a.bits = r.take(4 * int(min(r.u32(), uint32(len(h.of.schema.Fields)+1))))
	}
	if c.kind == decodeCall || h.of.codec.quantises() {
		a.table, a.body = r.take(4*h.of.schema.Cells()), r.bytes(h.of.bodyRoom())
		if r.bad {
			return nil, h.plugin.broken("the frame", "%w", errNonsense)
		}
	}
	if c.kind == decodeCall {
		a.memo = r.bytes(int(h.of.codec.memoRoom))
	}
	if err := r.end(); err != nil {
		return nil, h.plugin.broken(name, "%w", err)
	}
	return a, nil
}
