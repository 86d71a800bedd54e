package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"wirelab/lossmodel"
)

func TestPassesDatagrams(t *testing.T) {
	server := echo(t)
	r, stop := start(t, Options{Server: local(server)})
	client := socket(t)
	for _, size := range []int{5, 0, 1, 1200, 9000, lossmodel.MaxDatagram} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 7)
		}
		send(t, client, r.Addr(), data)
		if got, from := receive(t, client); got != string(data) || from != r.Addr() {
			t.Errorf("%d bytes came back as %d from %v", size, len(got), from)
		}
	}
	now := stop()
	for way, f := range now.Flows {
		if f.In != 6 || f.Out != 6 || !f.Balanced() || f.Late.N != 6 {
			t.Errorf("%v: %d in, %d out, %d queued", Way(way), f.In, f.Out, f.Queued)
		}
	}
}

// What the seed did to each datagram is told again from its stamp and size alone.
func TestFatesCanBeToldAgain(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%t", shared), func(t *testing.T) { toldAgain(t, shared) })
	}
}

func toldAgain(t *testing.T, shared bool) {
	up := spec(t, "loss", "20%", "burst", "3", "latency", "4ms±3ms", "duplicate", "20%", "reorder", "10%", "corrupt", "10%")
	down := spec(t, "rate", "2mbit", "queue", "8KB", "loss", "5%", "corrupt", "10%", "checksum", "off", "latency", "1ms")
	server := echo(t)
	var book notebook
	r, stop := start(t, Options{Server: local(server), Seed: 42, Shared: shared, Conditions: both(up, down)}, book.tap)
	rng := rand.New(rand.NewPCG(1, 2))
	clients := []*net.UDPConn{socket(t), socket(t), socket(t)}
	for i := range 600 {
		data := make([]byte, 8+rng.IntN(1000))
		binary.LittleEndian.PutUint64(data, uint64(i))
		send(t, clients[i%3], r.Addr(), data)
		if i%7 == 0 {
			paced(t, r, i+1)
		}
	}
	until(t, r, "an empty network", func(now *Totals) bool {
		return now.Flows[Up].In == 600 && now.Flows[Up].Queued+now.Flows[Down].Queued == 0 && now.Flows[Down].In == now.Flows[Up].Out
	})
	stop()

	type name struct {
		way  Way
		turn int
	}
	type outcome struct {
		seq  uint64
		copy int
	}
	links := map[name]*lossmodel.Link{}
	left := map[Way]map[outcome]note{Up: {}, Down: {}}
	entered := 0
	for _, n := range book.notes {
		if n.Kind != Entered {
			left[n.Way][outcome{n.Seq, n.Copy}] = n
		}
	}
	told := 0
	take := func(way Way, l *lossmodel.Link, until time.Duration) {
		for d, ok := l.Receive(until); ok; d, ok = l.Receive(until) {
			was := left[way][outcome{d.Tag, d.Copy}]
			told++
			if was.Due != d.Due || was.data != string(d.Data) || was.Flipped != d.Flipped || (was.Kind == ended) != d.Damaged {
				t.Errorf("%v %d: left as %v due %v, told again as %v", way, d.Tag, was.Kind, was.Due, d.Due)
			}
		}
	}
	for _, n := range book.notes {
		if n.Kind != Entered {
			continue
		}
		entered++
		at := name{n.Way, n.Client.Turn}
		if shared {
			at.turn = 0
		}
		if links[at] == nil {
			s := up
			if n.Way == Down {
				s = down
			}
			l, err := lossmodel.NewLink(s, 42, LinkName(n.Way, at.turn))
			if err != nil {
				t.Fatal(err)
			}
			links[at] = l
		}
		if v := links[at].Send(n.At, []byte(n.data), n.Seq); v != n.Verdict {
			t.Fatalf("%v %d: %+v, told again %+v", n.Way, n.Seq, n.Verdict, v)
		}
	}
	for at, l := range links {
		take(at.way, l, never)
	}
	if entered < 900 || told != len(left[Up])+len(left[Down]) {
		t.Errorf("%d entered, %d told again of %d", entered, told, len(left[Up])+len(left[Down]))
	}
}

// The books agree at every moment, whatever is changed meanwhile.
func TestBooksAgreeWhileSettingsChange(t *testing.T) {
	server := echo(t)
	r, stop := start(t, Options{Server: local(server), Seed: 3, MaxQueued: 200_000, MaxClients: 3})
	specs := []lossmodel.Spec{
		lossmodel.DefaultSpec(),
		spec(t, "loss", "30%", "latency", "3ms±2ms", "duplicate", "50%", "duplicate_copies", "3"),
		spec(t, "rate", "1mbit", "queue", "4KB", "corrupt", "20%"),
		spec(t, "netem", "delay 2ms 1ms loss 10% duplicate 10%"),
		spec(t, "latency", "1s"), // the memory's bound bites
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			if _, err := r.Reshape(both(specs[i%len(specs)], specs[i/2%len(specs)])); err != nil {
				t.Error(err)
			}
			now := r.Totals()
			for way := range now.Flows {
				if f := &now.Flows[way]; !f.Balanced() {
					t.Errorf("%v: %d in + %d copies, but %d out, %d lost, %d unsent, %d queued", Way(way), f.In, f.Copies, f.Out, f.Lost(),
						f.Unsent, f.Queued)
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for i := range 4 { // one more than there is room for
		client := socket(t)
		for n := range 300 {
			send(t, client, r.Addr(), make([]byte, 10+n))
			if n%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if i == 2 {
			until(t, r, "three clients", func(now *Totals) bool { return now.Joined == 3 })
		}
	}
	until(t, r, "a refusal", func(now *Totals) bool { return now.Refused > 0 })
	close(quit)
	<-done
	now := stop()
	if f := now.Flows[Up]; !f.Balanced() || f.Overrun == 0 || f.Copies == 0 || f.LostBy[lossmodel.Corrupt] == 0 {
		t.Errorf("%+v does not try everything", f.LostBy)
	}
	if r.held < 0 || r.held > 200_000+8*(slotBytes+400) {
		t.Errorf("%d bytes under way, of 200000", r.held)
	}
}

func TestRefusesClientsWithoutRoom(t *testing.T) {
	server := echo(t)
	r, stop := start(t, Options{Server: local(server), MaxClients: 2})
	for range 2 {
		c := socket(t)
		send(t, c, r.Addr(), []byte("in"))
		receive(t, c)
	}
	for range 50 {
		send(t, socket(t), r.Addr(), []byte("out"))
	}
	now := until(t, r, "50 refusals", func(now *Totals) bool { return now.Refused == 50 })
	if now.Clients != 2 || now.Joined != 2 || len(r.slots) != 2 || now.Flows[Up].In != 2 {
		t.Errorf("%d clients, %d in", now.Clients, now.Flows[Up].In)
	}
	stop()
}

func TestForgetsTheSilent(t *testing.T) {
	server := echo(t)
	r, _ := start(t, Options{Server: local(server), MaxClients: 1, Idle: 20 * time.Millisecond,
		Conditions: both(lossmodel.DefaultSpec(), spec(t, "latency", "60ms"))})
	for turn := range 3 {
		c := socket(t)
		joined := r.Totals().Joined // on a busy machine, some join again before they are seen to have
		for end := time.Now().Add(patience); time.Now().Before(end) && r.Totals().Joined == joined; time.Sleep(5 * time.Millisecond) {
			send(t, c, r.Addr(), []byte("hello"))
		}
		if got, _ := receive(t, c); got != "hello" { // though by now it is forgotten
			t.Errorf("turn %d got %q", turn, got)
		}
	}
	until(t, r, "an empty house", func(now *Totals) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return now.Clients == 0 && now.Forgotten == now.Joined && len(r.leaving) == 0 && len(r.lanes) == 0 &&
			!slices.ContainsFunc(r.slots, func(c *client) bool { return c != nil })
	})
}

// A server that is gone, then is back: ICMP errors end nothing, and add nothing.
func TestServerGoneAndBack(t *testing.T) {
	server := socket(t)
	at := local(server)
	server.Close()
	r, stop := start(t, Options{Server: at})
	client := socket(t)
	for range 200 {
		send(t, client, r.Addr(), []byte("anyone?"))
	}
	until(t, r, "200 datagrams to nobody", func(now *Totals) bool {
		f := &now.Flows[Up]
		return f.Out+f.Unsent == 200 && f.Gone > 0
	})
	server, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Skip("the port was taken meanwhile:", err)
	}
	defer server.Close()
	for got := ""; got != "back"; {
		send(t, client, r.Addr(), []byte("back"))
		got, _ = receive(t, server)
	}
	if now := stop(); now.Clients != 1 || !now.Flows[Up].Balanced() {
		t.Errorf("%+v", now)
	}
}

// A stranger who finds the socket that the server sees reaches nobody, and nobody who has
// not sent is ever sent anything.
func TestStrangersReachNobody(t *testing.T) {
	server := socket(t)
	r, stop := start(t, Options{Server: local(server)})
	client, stranger := socket(t), socket(t)
	send(t, client, r.Addr(), []byte("hello"))
	_, via := receive(t, server)
	for range 20 {
		send(t, stranger, via, []byte("forged"))
	}
	send(t, server, via, []byte("true"))
	if got, _ := receive(t, client); got != "true" {
		t.Errorf("the client got %q", got)
	}
	if now := stop(); now.Flows[Down].In != 1 || now.Joined != 1 {
		t.Errorf("%d came from the server, %d clients", now.Flows[Down].In, now.Joined)
	}
}

func TestClientsHaveConditionsOfTheirOwn(t *testing.T) {
	server := echo(t)
	deaf := spec(t, "loss", "100%")
	r, stop := start(t, Options{Server: local(server), Conditions: func(c Client) (up, down lossmodel.Spec) {
		if c.Turn == 2 {
			return deaf, lossmodel.DefaultSpec()
		}
		return lossmodel.DefaultSpec(), lossmodel.DefaultSpec()
	}})
	first, second := socket(t), socket(t)
	for _, c := range []*net.UDPConn{first, second, first} {
		send(t, c, r.Addr(), []byte("x"))
		if c == first {
			receive(t, first)
		}
	}
	now := until(t, r, "three", func(now *Totals) bool { return now.Flows[Up].In == 3 })
	if f := now.Flows[Up]; f.Out != 2 || f.LostBy[lossmodel.Loss] != 1 {
		t.Errorf("%d out, %d lost", f.Out, f.Lost())
	}
	stop()
}

func TestPortTaken(t *testing.T) {
	taken := socket(t)
	if _, err := Open(Options{Listen: local(taken), Server: local(taken)}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("opened a port that is taken: %v", err)
	}
}

func TestBadLinkIsRefusedAtOpen(t *testing.T) {
	missing := spec(t, "trace", "/nowhere/at/all.csv")
	if _, err := Open(Options{Listen: loopback(), Server: loopback(), Conditions: both(missing, missing)}); err == nil {
		t.Error("opened links without their files")
	}
}

// A steady stream allocates nothing, in either direction.
func TestAllocatesNothing(t *testing.T) {
	sink := socket(t)
	lossy := spec(t, "loss", "5%", "latency", "100us", "rate", "1gbit", "duplicate", "5%")
	r, err := Open(Options{Listen: loopback(), Server: local(sink)})
	if err != nil {
		t.Fatal(err)
	}
	client := socket(t)
	buf := make([]byte, 1<<16)
	send(t, client, r.Addr(), []byte("join"))
	r.readClient(buf)
	receive(t, sink)
	if _, err := r.Reshape(both(lossy, lossy)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1000)
	once := func() {
		_, _ = client.WriteToUDPAddrPort(data, r.Addr())
		r.readClient(buf)
		r.mu.Lock()
		r.enter(r.slots[0], Down, data, r.clock())
		r.mu.Unlock()
	}
	for range 2000 {
		once()
	}
	if n := testing.AllocsPerRun(1000, once); n >= 0.5 {
		t.Errorf("%v allocations for two datagrams", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	rng := rand.New(rand.NewPCG(5, 6))
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(rng.Int64N(1 << rng.Int64N(38)))
		all = append(all, d)
		h.Add(d)
		if b := bucket(d); ceiling(b) < d || float64(ceiling(b)) > 1.01*float64(d)+1 {
			t.Fatalf("%d is in a bucket up to %d", d, ceiling(b))
		}
	}
	for _, q := range []float64{0.25, 0.5, 0.9, 0.99} {
		got, n := h.Quantile(q), 0
		for _, d := range all {
			if d <= got {
				n++
			}
		}
		if share := float64(n) / float64(len(all)); share < q || share > q+0.05 {
			t.Errorf("quantile %v is %v, which %v do not exceed", q, got, share)
		}
	}
	was := h
	h.Add(time.Millisecond)
	if d := h.Since(&was); d.N != 1 || d.Quantile(0.5) < time.Millisecond || d.Quantile(0.5) > 1010*time.Microsecond {
		t.Errorf("since: %d, %v", d.N, d.Quantile(0.5))
	}
}
