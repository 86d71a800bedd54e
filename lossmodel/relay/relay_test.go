package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// Datagrams of all sizes are forwarded in both directions.
func TestForwards(t *testing.T) {
	server := newEchoServer(t)
	r, stop := startRelay(t, Options{Server: localAddr(server)})
	client := newSocket(t)
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
		if f.In != 6 || f.Out != 6 || !f.Balanced() || f.Lateness.N != 6 {
			t.Errorf("%v: %d in, %d out, %d queued", Direction(way), f.In, f.Out, f.Queued)
		}
	}
}

// A datagram that the link damages is forwarded with the flipped bits, and counted.
func TestDamagedDatagrams(t *testing.T) {
	server := newEchoServer(t)
	up := newSpec(t, "corrupt", "50%", "corrupt_bits", "3")
	r, stop := startRelay(t, Options{Server: localAddr(server), Seed: 1, Conditions: constantConditions(up, newSpec(t))})
	client := newSocket(t)
	data, changed := strings.Repeat("x", 100), uint64(0)
	for range 40 {
		send(t, client, r.Addr(), []byte(data))
		got, _ := receive(t, client)
		if len(got) != len(data) {
			t.Fatalf("%d bytes came back as %d", len(data), len(got))
		}
		if got != data {
			changed++
		}
	}
	now := stop()
	if changed == 0 || changed == 40 || now.Flows[Up].Damaged != changed || now.Flows[Up].Out != 40 || now.Flows[Down].Damaged != 0 {
		t.Errorf("%d of 40 datagrams came back changed, but %d up and %d down of %d are counted as damaged", changed,
			now.Flows[Up].Damaged, now.Flows[Down].Damaged, now.Flows[Up].Out)
	}
	if d := now.Flows[Up].Since(&now.Flows[Up]); d.Damaged != 0 {
		t.Errorf("%d damaged since the end", d.Damaged)
	}
	if document := now.Figures(Up, up, 0); document.Damaged != changed {
		t.Errorf("%d damaged in the document, expected %d", document.Damaged, changed)
	}
	if line := FormatSecond(0, &now, [2]bool{}, nil); strings.Count(line, fmt.Sprintf("  %d damaged", changed)) != 1 {
		t.Errorf("%q, expected %d damaged", line, changed)
	}
}

// A run is reproducible: links with the same seed, given the stamps and sizes, make the same
// decisions.
func TestReproducible(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared=%t", shared), func(t *testing.T) { checkReproducible(t, shared) })
	}
}

// checkReproducible sends datagrams of three clients through a relay, repeats the recorded events
// with links of the same seed and compares verdicts and deliveries.
func checkReproducible(t *testing.T, shared bool) {
	up := newSpec(t, "loss", "20%", "burst", "3", "latency", "4ms±3ms", "duplicate", "20%", "reorder", "10%", "corrupt", "10%")
	down := newSpec(t, "rate", "2mbit", "queue", "8KB", "loss", "5%", "corrupt", "10%", "latency", "1ms")
	server := newEchoServer(t)
	var log eventLog
	r, stop := startRelay(t, Options{Server: localAddr(server), Seed: 42, Shared: shared, Conditions: constantConditions(up, down)}, log.add)
	rng := rand.New(rand.NewPCG(1, 2))
	clients := []*net.UDPConn{newSocket(t), newSocket(t), newSocket(t)}
	for i := range 600 {
		data := make([]byte, 8+rng.IntN(1000))
		binary.LittleEndian.PutUint64(data, uint64(i))
		send(t, clients[i%3], r.Addr(), data)
		if i%7 == 0 {
			waitForRoom(t, r, i+1)
		}
	}
	waitFor(t, r, "an empty network", func(now *Totals) bool {
		return now.Flows[Up].In == 600 && now.Flows[Up].Queued+now.Flows[Down].Queued == 0 && now.Flows[Down].In == now.Flows[Up].Out
	})
	stop()

	type name struct {
		way  Direction
		turn int
	}
	type outcome struct {
		seq  uint64
		copy int
	}
	links := map[name]*lossmodel.Link{}
	left := map[Direction]map[outcome]eventCopy{Up: {}, Down: {}}
	entered := 0
	for _, n := range log.events {
		if n.Kind != Entered {
			left[n.Way][outcome{n.Seq, n.Copy}] = n
		}
	}
	reproduced := 0
	take := func(way Direction, l *lossmodel.Link, until time.Duration) {
		for d, ok := l.Receive(until); ok; d, ok = l.Receive(until) {
			was := left[way][outcome{d.Tag, d.Copy}]
			reproduced++
			if was.Due != d.Due || was.data != string(d.Data) || was.Flipped != d.Flipped {
				t.Errorf("%v %d: event %v due %v, reproduced %v", way, d.Tag, was.Kind, was.Due, d.Due)
			}
		}
	}
	for _, n := range log.events {
		if n.Kind != Entered {
			continue
		}
		entered++
		at := name{n.Way, n.Client.Number}
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
			t.Fatalf("%v %d: %+v, reproduced %+v", n.Way, n.Seq, n.Verdict, v)
		}
	}
	for at, l := range links {
		take(at.way, l, noDeadline)
	}
	if entered < 900 || reproduced != len(left[Up])+len(left[Down]) {
		t.Errorf("%d entered, %d reproduced of %d", entered, reproduced, len(left[Up])+len(left[Down]))
	}
}

// The counters of both directions are balanced at any time, also while settings change.
func TestCountersBalancedDuringReshape(t *testing.T) {
	server := newEchoServer(t)
	r, stop := startRelay(t, Options{Server: localAddr(server), Seed: 3, MaxQueued: 200_000, MaxClients: 3})
	specs := []lossmodel.Spec{
		lossmodel.DefaultSpec(),
		newSpec(t, "loss", "30%", "latency", "3ms±2ms", "duplicate", "50%", "duplicate_copies", "3"),
		newSpec(t, "rate", "1mbit", "queue", "4KB", "corrupt", "20%"),
		newSpec(t, "netem", "delay 2ms 1ms loss 10% duplicate 10%"),
		newSpec(t, "rate", "300kbit", "queue_discipline", "codel target=1ms interval=5ms", "duplicate", "20%"),
		newSpec(t, "rate", "2mbit", "queue", "4KB", "queue_discipline", "fq_codel"),
		newSpec(t, "latency", "1h"), // datagrams stay in flight until MaxQueued is reached
	}
	clients := []*net.UDPConn{newSocket(t), newSocket(t), newSocket(t), newSocket(t)} // one more than MaxClients
	sent := 0
	for i := 0; i < 2*len(specs) || r.Totals().Flows[Up].OverLimit == 0; i++ {
		if _, err := r.Reshape(constantConditions(specs[i%len(specs)], specs[i/2%len(specs)])); err != nil {
			t.Fatal(err)
		}
		for n := range 40 {
			send(t, clients[n%len(clients)], r.Addr(), make([]byte, 10+7*n))
			sent++
		}
		waitFor(t, r, "all datagrams of these settings", func(now *Totals) bool {
			for way := range now.Flows {
				if f := &now.Flows[way]; !f.Balanced() {
					t.Fatalf("%v: %d in + %d copies, but %d out, %d lost, %d unsent, %d queued", Direction(way), f.In, f.Copies,
						f.Out, f.Lost(), f.Unsent, f.Queued)
				}
			}
			return int(now.Flows[Up].In)+int(now.Refused) == sent
		})
	}
	now := stop()
	if f := now.Flows[Up]; !f.Balanced() || f.Copies == 0 {
		t.Errorf("%+v: not every outcome occurred", f.LostBy)
	}
	if now.Joined != 3 || int(now.Refused) != sent/len(clients) {
		t.Errorf("%d clients joined, %d datagrams refused, expected 3 and %d", now.Joined, now.Refused, sent/len(clients))
	}
	if r.bytesInFlight < 0 || r.bytesInFlight > 200_000+8*(datagramOverhead+400) {
		t.Errorf("%d bytes in flight, expected at most about 200000", r.bytesInFlight)
	}
}

// Clients beyond MaxClients are refused.
func TestMaxClients(t *testing.T) {
	server := newEchoServer(t)
	r, stop := startRelay(t, Options{Server: localAddr(server), MaxClients: 2})
	for range 2 {
		c := newSocket(t)
		send(t, c, r.Addr(), []byte("in"))
		receive(t, c)
	}
	for range 50 {
		send(t, newSocket(t), r.Addr(), []byte("out"))
	}
	now := waitFor(t, r, "50 refusals", func(now *Totals) bool { return now.Refused == 50 })
	if now.Clients != 2 || now.Joined != 2 || len(r.slots) != 2 || now.Flows[Up].In != 2 {
		t.Errorf("%d clients, %d in", now.Clients, now.Flows[Up].In)
	}
	stop()
}

// Idle clients are removed; their datagrams in flight are still delivered.
func TestIdleClients(t *testing.T) {
	server := newEchoServer(t)
	r, _ := startRelay(t, Options{Server: localAddr(server), MaxClients: 1, Idle: 20 * time.Millisecond,
		Conditions: constantConditions(lossmodel.DefaultSpec(), newSpec(t, "latency", "60ms"))})
	for turn := range 3 {
		c := newSocket(t)
		joined := r.Totals().Joined // on a busy machine a client may join twice
		for end := time.Now().Add(testTimeout); time.Now().Before(end) && r.Totals().Joined == joined; time.Sleep(5 * time.Millisecond) {
			send(t, c, r.Addr(), []byte("hello"))
		}
		if got, _ := receive(t, c); got != "hello" { // the client was removed before
			t.Errorf("turn %d got %q", turn, got)
		}
	}
	waitFor(t, r, "the removal of all clients", func(now *Totals) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return now.Clients == 0 && now.Forgotten == now.Joined && len(r.forgotten) == 0 && len(r.lanes) == 0 &&
			!slices.ContainsFunc(r.slots, func(c *client) bool { return c != nil })
	})
	in := uint64(0) // the removed clients remain in the totals per client
	departed := r.Departed()
	for _, c := range departed {
		in += c.Ways[Up].In
	}
	if totals := r.Totals(); uint64(len(departed)) != uint64(totals.Joined) || in != totals.Flows[Up].In {
		t.Errorf("%d clients with %d datagrams departed, the totals are %+v", len(departed), in, totals.Flows[Up])
	}
}

// ICMP errors while the server is down do not end the relay and are counted.
func TestServerRestart(t *testing.T) {
	server := newSocket(t)
	at := localAddr(server)
	server.Close()
	r, stop := startRelay(t, Options{Server: at})
	client := newSocket(t)
	for range 200 {
		send(t, client, r.Addr(), []byte("anyone?"))
	}
	waitFor(t, r, "200 datagrams and an ICMP error", func(now *Totals) bool {
		f := &now.Flows[Up]
		return f.Out+f.Unsent == 200 && f.Unreachable > 0
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

// Datagrams from a third address to a client's socket for the server are dropped.
func TestForeignDatagramsDropped(t *testing.T) {
	server := newSocket(t)
	r, stop := startRelay(t, Options{Server: localAddr(server)})
	client, stranger := newSocket(t), newSocket(t)
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

// Conditions may differ between clients.
func TestConditionsPerClient(t *testing.T) {
	server := newEchoServer(t)
	lossy := newSpec(t, "loss", "100%")
	r, stop := startRelay(t, Options{Server: localAddr(server), Conditions: func(c Client) (up, down lossmodel.Spec) {
		if c.Number == 2 {
			return lossy, lossmodel.DefaultSpec()
		}
		return lossmodel.DefaultSpec(), lossmodel.DefaultSpec()
	}})
	first, second := newSocket(t), newSocket(t)
	for _, c := range []*net.UDPConn{first, second, first} {
		send(t, c, r.Addr(), []byte("x"))
		if c == first {
			receive(t, first)
		}
	}
	now := waitFor(t, r, "three", func(now *Totals) bool { return now.Flows[Up].In == 3 })
	if f := now.Flows[Up]; f.Out != 2 || f.LostBy[lossmodel.Loss] != 1 {
		t.Errorf("%d out, %d lost", f.Out, f.Lost())
	}
	stop()
}

// Open fails if the port is in use.
func TestPortTaken(t *testing.T) {
	taken := newSocket(t)
	if _, err := Open(Options{Listen: localAddr(taken), Server: localAddr(taken)}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("Open on a port in use: %v", err)
	}
}

// Open fails if a link names a missing file.
func TestOpenMissingFile(t *testing.T) {
	missing := newSpec(t, "trace", "/nowhere/at/all.csv")
	if _, err := Open(Options{Listen: loopback(), Server: loopback(), Conditions: constantConditions(missing, missing)}); err == nil {
		t.Error("Open returned no error for a missing trace file")
	}
}

// A steady stream does not allocate.
func TestNoAllocations(t *testing.T) {
	sink := newSocket(t)
	lossy := newSpec(t, "loss", "5%", "latency", "100us", "rate", "1gbit", "duplicate", "5%")
	r, err := Open(Options{Listen: loopback(), Server: localAddr(sink)})
	if err != nil {
		t.Fatal(err)
	}
	client := newSocket(t)
	buf := make([]byte, 1<<16)
	send(t, client, r.Addr(), []byte("join"))
	r.readClient(buf)
	receive(t, sink)
	if _, err := r.Reshape(constantConditions(lossy, lossy)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1000)
	once := func() {
		_, _ = client.WriteToUDPAddrPort(data, r.Addr())
		r.readClient(buf)
		r.mu.Lock()
		r.sendToLink(r.slots[0], Down, data, r.now())
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

// Quantiles of a Histogram are at most 1 % too high.
func TestHistogram(t *testing.T) {
	var h Histogram
	rng := rand.New(rand.NewPCG(5, 6))
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(rng.Int64N(1 << rng.Int64N(38)))
		all = append(all, d)
		h.Add(d)
		if b := bucket(d); bucketMax(b) < d || float64(bucketMax(b)) > 1.01*float64(d)+1 {
			t.Fatalf("duration %d is in the bucket with maximum %d", d, bucketMax(b))
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
			t.Errorf("quantile %v is %v, the fraction at or below it %v", q, got, share)
		}
	}
	earlier := h
	h.Add(time.Millisecond)
	if d := h.Since(&earlier); d.N != 1 || d.Quantile(0.5) < time.Millisecond || d.Quantile(0.5) > 1010*time.Microsecond {
		t.Errorf("since: %d, %v", d.N, d.Quantile(0.5))
	}
}
