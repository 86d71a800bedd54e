package plugin

import (
	"bufio"
	"cmp"
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

// A plugin can be a command. Each encoder or decoder is then a process that reads messages from its standard
// input and writes an answer to each to its standard output. PROCESS.md describes the messages.

const (
	msgDescribe, msgCreate, msgEncode, msgDecode = 1, 2, 3, 4 // kinds of messages

	headerSize     = 12      // size of the header of messages and answers, in bytes
	maxDescription = 1 << 20 // maximum size of the answer to msgDescribe, in bytes
)

// Limits of processes.
const (
	firstAnswerFactor = 10               // the first answer may take this many timeouts
	exitGrace         = time.Second / 4  // time to exit after the end of the input
	maxStderr         = 4 << 10          // number of the last bytes of standard error that are stored
	maxStderrInError  = 300              // last bytes of standard error in an error
	maxStrayText      = 60               // bytes of other text on standard output in an error
	maxHashed         = int64(256 << 20) // size in bytes up to which a file named in the command line is hashed
)

// prepareProcess sets p.command and p.SHA256 from a command line. The program is searched in PATH. The hash
// covers the words of the command line, where a word that is the path of a file is replaced by the contents of
// the file. Words of files larger than maxHashed are hashed themselves.
func (p *Plugin) prepareProcess(command string) error {
	var err error
	if p.command, err = splitCommand(command); err != nil {
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

// splitCommand splits a command into words at spaces. Single or double quotes enclose words with spaces;
// there are no escapes. The first word must not be empty.
func splitCommand(command string) (words []string, err error) {
	var word strings.Builder
	var quote rune // the open quotation mark, 0 if none
	begun := false // a word has begun; it may be empty, as in ""
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
		return nil, fmt.Errorf("%q is not a command: missing closing %c", command, quote)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("%q is not a command; expected a program and its arguments, as in exec:./my-encoder --flag", command)
	}
	return words, nil
}

// A process is a running process of a plugin.
type process struct {
	plugin       *Plugin
	cmd          *exec.Cmd
	tree         *processTree // the process with its descendants
	stdin        *os.File     // write end
	stdout       *os.File     // read end
	stderr       *os.File     // read end
	answers      *bufio.Reader
	stderrTail   tail   // the end of what the process wrote to standard error
	lastMessage  uint32 // number of the last message, counted from 1; 0 before the first
	killOnce     sync.Once
	stderrClosed chan struct{} // closed when standard error has been read to its end
	exited       chan struct{} // closed when the process has exited
	answerBuf    []byte        // contents of the last answer
	stray        string        // text that was read instead of an answer; empty if none
}

// A processList holds the running processes of a plugin: one for each encoder and each decoder.
type processList struct {
	mu   sync.Mutex
	list []*process
}

// startProcess starts a process and the goroutines that watch it.
func (p *Plugin) startProcess() (*process, error) {
	if p.ctx.Err() != nil {
		return nil, p.ctx.Err()
	}
	var pipes [3]struct{ read, write *os.File } // standard input, output and error
	var err error
	for i := 0; i < len(pipes) && err == nil; i++ { // after an error the others stay nil; it is returned below
		pipes[i].read, pipes[i].write, err = os.Pipe()
	}
	x := &process{plugin: p, cmd: exec.Command(p.command[0], p.command[1:]...),
		stdin: pipes[0].write, stdout: pipes[1].read, stderr: pipes[2].read,
		answers:      bufio.NewReaderSize(pipes[1].read, 64<<10),
		stderrClosed: make(chan struct{}), exited: make(chan struct{})}
	if err == nil {
		x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = pipes[0].read, pipes[1].write, pipes[2].write
		x.tree, err = startTree(x.cmd)
	}
	// The process has its own copies of these ends. Closing a nil file only returns an error.
	_, _, _ = pipes[0].read.Close(), pipes[1].write.Close(), pipes[2].write.Close()
	if err != nil {
		_, _, _ = x.stdin.Close(), x.stdout.Close(), x.stderr.Close()
		return nil, p.callError("start", "%w", err)
	}
	go func() {
		defer close(x.stderrClosed)
		panics.Guard(x.fail, func() { _, _ = io.Copy(&x.stderrTail, x.stderr) })()
	}()
	stop := context.AfterFunc(p.ctx, panics.Guard(x.fail, x.kill))
	go func() {
		defer close(x.exited)
		panics.Guard(x.fail, func() {
			_ = x.cmd.Wait()
			stop()
			x.tree.end()
		})()
	}()
	p.processes.add(x)
	return x, nil
}

func (l *processList) add(x *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, x)
}

// remove removes a process that has exited. It does nothing if the process is not in the list.
func (l *processList) remove(x *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(y *process) bool { return y == x })
}

// kill kills a process with its descendants, waits for its exit and removes it from the list of processes. It
// may be called several times.
func (x *process) kill() {
	x.killOnce.Do(func() {
		select {
		case <-x.exited:
		default: // still running
			x.tree.kill()
		}
		_, _ = x.stdin.Close(), x.stdout.Close()
	})
	<-x.exited
	select { // read the rest of standard error
	case <-x.stderrClosed:
	case <-time.After(x.plugin.opt.exitGrace): // a descendant that is still running keeps it open
	}
	_ = x.stderr.Close()
	x.plugin.processes.remove(x)
}

// fail records a panic in one of the goroutines of a process, and closes its pipes so that the current call
// fails.
func (x *process) fail(bug error) {
	x.plugin.recordPanic(bug)
	_, _ = x.stdin.Close(), x.stdout.Close()
}

// shutdown closes the input of a process, waits exitGrace for its exit and then kills it.
func (x *process) shutdown() {
	_ = x.stdin.Close()
	select {
	case <-x.exited:
	case <-time.After(x.plugin.opt.exitGrace):
	}
	x.kill()
}

// shutdownAll shuts down all processes and waits for that.
func (l *processList) shutdownAll() {
	l.mu.Lock()
	list := slices.Clone(l.list)
	l.mu.Unlock()
	var all sync.WaitGroup
	for _, x := range list {
		all.Go(panics.Guard(x.fail, x.shutdown))
	}
	all.Wait()
}

// request sends a message, made by newMessage, of the given kind and returns the code and the contents of
// the answer, of at most limit bytes. The contents are valid until the next request. name is the name of
// the call for errors. After an error, which wraps encoders.ErrBroken unless the plugin's context is
// done, the process has to be killed.
func (x *process) request(name string, kind uint32, message []byte, limit int) (code int32, answer []byte, err error) {
	timeout := cmp.Or(x.plugin.opt.timeouts[name], x.plugin.opt.Timeout)
	if x.lastMessage == 0 {
		timeout *= firstAnswerFactor
	}
	var timedOut atomic.Bool
	if timeout > 0 {
		defer time.AfterFunc(timeout, panics.Guard(x.fail, func() { timedOut.Store(true); x.kill() })).Stop()
	}
	x.lastMessage++
	code, answer, err = x.exchange(kind, message, limit)
	switch {
	case err == nil:
		return code, answer, nil
	case x.plugin.ctx.Err() != nil:
		return 0, nil, x.plugin.ctx.Err()
	case x.plugin.firstPanic.Load() != nil:
		err = x.plugin.firstPanic.Load()
	case timedOut.Load() && x.lastMessage == 1:
		err = fmt.Errorf("%w %v, %d times --plugin-timeout, for the first answer", errLate, timeout, firstAnswerFactor)
	case timedOut.Load():
		err = fmt.Errorf("%w %v", errLate, timeout)
	case !errors.Is(err, errMalformed):
		err = x.exitReason()
	}
	if x.stray != "" {
		err = fmt.Errorf("%w; standard output has %q, expected only answers", err, x.stray)
	}
	if stderrText := x.stderrTail.summary(); stderrText != "" {
		err = fmt.Errorf("%w; standard error: %s", err, stderrText)
	}
	return 0, nil, x.plugin.callError(name, "%w", err)
}

// exitReason returns an error that describes why a process stopped answering.
func (x *process) exitReason() error {
	select {
	case <-x.exited: // may come shortly after the end of the output
		x.kill() // the process has exited already: this only reads the rest of standard error
		return fmt.Errorf("the process ended: %v", x.cmd.ProcessState)
	case <-time.After(x.plugin.opt.exitGrace):
		return errors.New("the process closed its input or output")
	}
}

// errMalformed means that an answer does not have the format of PROCESS.md.
var errMalformed = errors.New("malformed answer")

// exchange fills in the header of a message, writes the message and reads the answer. It returns the answer's
// code and contents, which have at most limit bytes. If the program has printed text instead of an answer, it
// sets x.stray. A header is three 32-bit numbers: the size of what follows the size, the number of the message,
// and the kind of the message or the code of the answer.
func (x *process) exchange(kind uint32, message []byte, limit int) (int32, []byte, error) {
	binary.LittleEndian.PutUint32(message, uint32(len(message)-4))
	binary.LittleEndian.PutUint32(message[4:], x.lastMessage)
	binary.LittleEndian.PutUint32(message[8:], kind)
	if _, err := x.stdin.Write(message); err != nil {
		return 0, nil, err
	}
	var head [headerSize]byte
	if n, err := io.ReadFull(x.answers, head[:]); err != nil {
		x.stray = strayText(head[:n])
		return 0, nil, err
	}
	size, number := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	code := int32(binary.LittleEndian.Uint32(head[8:]))
	switch {
	// size does not count itself: the rest of the header and the contents. Another size is probably text that
	// the program has printed.
	case size < headerSize-4 || size > uint32(limit+headerSize-4):
		more, _ := x.answers.Peek(min(x.answers.Buffered(), maxStrayText-headerSize))
		x.stray = strayText(append(head[:], more...))
		return 0, nil, fmt.Errorf("%w: size of %d bytes, expected %d to %d", errMalformed, size, headerSize-4, limit+headerSize-4)
	case number != x.lastMessage:
		return 0, nil, fmt.Errorf("%w: answers message %d, expected %d", errMalformed, number, x.lastMessage)
	}
	x.answerBuf = slices.Grow(x.answerBuf[:0], int(size)-(headerSize-4))[:size-(headerSize-4)]
	_, err := io.ReadFull(x.answers, x.answerBuf)
	return code, x.answerBuf, err
}

// strayText returns the first line of b, which was read instead of an answer, for an error. It returns "" if
// less than 3/4 of the line is printable: it is then no text.
func strayText(b []byte) string {
	line, _, _ := strings.Cut(strings.Trim(string(b), "\r\n"), "\n")
	text := printable(strings.ToValidUTF8(line, ""))
	if 4*len(text) < 3*len(line) {
		return ""
	}
	return text
}

// A tail is a writer that stores the last maxStderr bytes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer. It stores only the last maxStderr bytes of all that was written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-maxStderr):]...)
	if n := len(t.text) - maxStderr; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(b), nil
}

// summary returns the end of the stored text as one printable line.
func (t *tail) summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Join(strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' }), " / ")
	return printable(strings.ToValidUTF8(text[max(0, len(text)-maxStderrInError):], ""))
}

// A messageWriter appends the parts of a message: see PROCESS.md for their formats.
type messageWriter []byte

// newMessage returns a message with room for the header, which exchange fills in.
func newMessage() messageWriter { return make(messageWriter, headerSize) }

// u32 appends a 32-bit number, little-endian.
func (w *messageWriter) u32(v uint32) { *w = binary.LittleEndian.AppendUint32(*w, v) }

// f64 appends a 64-bit float, little-endian.
func (w *messageWriter) f64(v float64) {
	*w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(v))
}

// bytes appends the length of b and b.
func (w *messageWriter) bytes(b []byte) {
	w.u32(uint32(len(b)))
	*w = append(*w, b...)
}

// table appends the values of a table, 4 bytes each, without their number, which the schema determines.
func (w *messageWriter) table(t []int32) {
	start := len(*w)
	*w = append(*w, make([]byte, 4*len(t))...)
	putInt32s((*w)[start:], t)
}

// A messageReader reads the parts of an answer. Once a part is missing or too long, failed is set and all
// further parts are zero.
type messageReader struct {
	rest   []byte
	failed bool
}

// next returns the next n bytes. If there are fewer, it returns nil and sets r.failed, and all later reads fail too.
func (r *messageReader) next(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// u32 reads a number, 0 after a failure.
func (r *messageReader) u32() uint32 {
	if b := r.next(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// f64 reads a number, 0 after a failure.
func (r *messageReader) f64() float64 {
	if b := r.next(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// bytes reads a length and as many bytes, at most limit.
func (r *messageReader) bytes(limit int) []byte {
	n := r.u32()
	if uint64(n) > uint64(limit) {
		r.failed, r.rest = true, nil
		return nil
	}
	return r.next(int(n))
}

// text reads a text of at most maxText bytes.
func (r *messageReader) text() string { return string(r.bytes(maxText)) }

// finish returns an error unless all parts were valid and nothing is left.
func (r *messageReader) finish() error {
	if r.failed || len(r.rest) > 0 {
		return fmt.Errorf("%w: it is too short or too long, or a part of it is too long", errMalformed)
	}
	return nil
}

// describeProcess starts a process and requests the descriptions of its encoders. The answer holds the version of
// the contract, the number of encoders, and for each of them its name, summary, source, maximum number of
// references, suits, flags, maximum size of a memo, number of parameters, and these.
func (p *Plugin) describeProcess() (list []description, err error) {
	x, err := p.startProcess()
	if err != nil {
		return nil, err
	}
	defer x.shutdown()
	m := newMessage()
	m.u32(abiVersion)
	code, answer, err := x.request("describe", msgDescribe, m, maxDescription)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, fmt.Errorf("%w: describe: returned %s%s", errContract, codeName(code), withReason(printable(string(answer))))
	}
	r := &messageReader{rest: answer}
	if abi := r.u32(); abi != abiVersion {
		return nil, fmt.Errorf("%w: version %d of the contract, expected %d", errContract, abi, abiVersion)
	}
	n := r.u32()
	if n > maxCodecs {
		return nil, fmt.Errorf("%w: has %d encoders, expected at most %d", errContract, n, maxCodecs)
	}
	for i := range int(n) {
		d := description{index: i, name: r.text(), summary: r.text(), source: r.text(), refs: r.u32(), suits: r.u32(),
			flags: r.u32(), memoRoom: r.u32()}
		params := r.u32()
		if params > maxParams {
			return nil, fmt.Errorf("%w: encoder %d: %w", errContract, i, tooManyParams(params))
		}
		for range int(params) {
			d.params = append(d.params, param{name: r.text(), help: r.text(), unit: r.text(), kind: int(int32(r.u32())),
				initial: r.f64(), min: r.f64(), max: r.f64()})
		}
		list = append(list, d)
	}
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("%w: describe: %w", errContract, err)
	}
	return list, nil
}

// A processHost is a host in a process of its own.
type processHost struct {
	*process
	session *session
	buf     messageWriter
	result  answer
}

func newProcessHost(s *session) (host, error) {
	x, err := s.plugin.startProcess()
	if err != nil {
		return nil, err
	}
	return &processHost{process: x, session: s}, nil
}

func (h *processHost) close() { h.kill() }

// abandon implements host: it shuts the process down in the background.
func (h *processHost) abandon() { go panics.Guard(h.fail, h.shutdown)() }

// create implements host: it sends the encoder's index, the schema and the parameters, in the order of PROCESS.md.
// The answer has a code other than 0, and a reason, if the encoder does not accept them.
func (h *processHost) create() error {
	s := &h.session.schema
	m := newMessage()
	m.u32(uint32(h.session.desc.index))
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
	m.u32(uint32(len(h.session.params)))
	for _, v := range h.session.params {
		m.f64(v)
	}
	if h.session.desc.hints() {
		for i := range s.Fields {
			for _, w := range appendHint(nil, &s.Fields[i].Hint) {
				m.u32(w)
			}
		}
	}
	code, answer, err := h.request("create", msgCreate, m, maxText)
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %s does not accept %s%s", h.plugin.Name(), h.session.desc.name, s.Name,
			withReason(printable(string(answer))))
	}
	return err
}

// perform implements host. Messages and answers have the order of PROCESS.md. A reference that is already in a
// slot of the process is sent as the number of the slot; others are sent with table, body and memo.
func (h *processHost) perform(c *call) (*answer, error) {
	h.buf = append(h.buf[:0], make([]byte, headerSize)...)
	w := &h.buf
	w.u32(uint32(c.curSlot))
	w.u32(uint32(len(c.refs)))
	for i := range c.refs {
		w.u32(uint32(c.refSlots[i]))
		w.u32(c.refs[i].Frame.Tick)
		w.u32(uint32(rangecoder.Flag(c.sendRef[i])))
		if c.sendRef[i] {
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
	kind, name := uint32(msgDecode), "decode"
	if c.kind == encodeCall {
		kind, name = msgEncode, "encode"
		w.table(c.cur.Table)
		w.bytes(c.cur.Body)
		w.u32(uint32(rangecoder.Flag(c.wantBits)))
	} else {
		w.bytes(c.packet)
	}
	s := h.session
	// The largest valid answer: a table, a number for each field, a packet, a body and a memo; 8 more numbers
	// suffice for the lengths of these.
	limit := max(4*(s.schema.Cells()+len(s.schema.Fields)+8)+maxPacket+s.maxBody()+int(s.desc.memoRoom), maxText)
	code, message, err := h.request(name, kind, *w, limit)
	if err != nil {
		return nil, err
	}
	a := &h.result
	*a = answer{callName: name, code: code}
	if code != 0 {
		a.reason = printable(string(message))
		return a, nil
	}
	return a, h.readAnswer(c.kind, message)
}

// readAnswer reads the message that answers a call of the given kind into h.result.
func (h *processHost) readAnswer(kind callKind, message []byte) error {
	a, r := &h.result, &messageReader{rest: message}
	if kind == encodeCall {
		a.packet, a.memo = r.bytes(maxPacket), r.bytes(int(h.session.desc.memoRoom))
		a.bits = r.next(4 * int(min(r.u32(), uint32(len(h.session.schema.Fields)+1))))
	}
	if kind == decodeCall || h.session.desc.quantises() {
		a.table, a.body = r.next(4*h.session.schema.Cells()), r.bytes(h.session.maxBody())
		if r.failed {
			return h.plugin.callError("the frame", "%w", errMalformed)
		}
	}
	if kind == decodeCall {
		a.memo = r.bytes(int(h.session.desc.memoRoom))
	}
	if err := r.finish(); err != nil {
		return h.plugin.callError(a.callName, "%w", err)
	}
	return nil
}
