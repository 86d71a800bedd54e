//go:build unix

package main

import (
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// soakRate is the number of datagrams per second that TestSoakProxy sends.
const soakRate = 5000

// sendAll sends soakRate datagrams per second from several clients until quit, and returns how
// many the system accepted.
func sendAll(t *testing.T, to string, quit <-chan struct{}) (sent func() int64) {
	t.Helper()
	const clients = 4
	var n atomic.Int64
	var all sync.WaitGroup
	for i := range clients {
		c, err := net.Dial("udp4", to)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.UDPConn).SetReadBuffer(4 << 20)
		go func() {
			buf := make([]byte, 1<<16)
			for err := error(nil); err == nil || !strings.Contains(err.Error(), "closed"); {
				_, err = c.Read(buf)
			}
		}()
		all.Go(func() {
			defer c.Close()
			rng, data := rand.New(rand.NewPCG(uint64(i), 7)), make([]byte, 1400)
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			begin, mine := time.Now(), int64(0)
			for {
				select {
				case <-quit:
					return
				case <-tick.C:
				}
				for want := int64(time.Since(begin).Seconds() * soakRate / clients); mine < want; mine++ {
					if _, err := c.Write(data[:20+rng.IntN(1200)]); err == nil {
						n.Add(1)
					}
				}
			}
		})
	}
	return func() int64 { all.Wait(); return n.Load() }
}

// soakSettings are typed commands and keys to send during the traffic. None contains q: on a busy
// machine an escape may swallow the slash that follows, and the rest is then read as keys.
var soakSettings = []string{"/loss 5%", "/loss 0%", "/down loss gemodel 2% 30%", "/up netem delay 10ms 3ms loss 1% duplicate 1%", "/up netem off",
	"/rate 20mbit", "/down rate 3mbit", "/rate off", "/latency 80ms", "/latency 2ms", "/jitter 10ms", "/duplicate 3%", "/corrupt 1%",
	"/reorder 2%", "/profile lte", "/profile very-bad", "/profile perfect", "/client 2", "/latency 300ms", "/client all", "/undo", "/redo", "/burst 4",
	"/mark here", " ", " ", "x", "?", "1", "2", "3", "4", "5", "6", "z", "Z", "u", "d", "c", "\x1b[B", "\x1b[C", "\x1b[D"}

// TestSoakProxy sends 5,000 datagrams per second through a proxy with its dashboard while the
// links change. With -soak 10m it runs for ten minutes, and memory, goroutines and open files
// must not grow; without the flag for two seconds. At the end the counters must agree exactly: in
// + copies = out + lost + unsent + queued, and the datagrams sent are those read plus those that
// the system dropped.
func TestSoakProxy(t *testing.T) {
	t.Parallel()
	whole := max(*soak, 2*time.Second)
	server := echoServer(t)
	_ = server.SetReadBuffer(4 << 20)
	x := soakOf(t, 1, "proxy", "--listen", "127.0.0.1:0", "--to", server.LocalAddr().String(), "--seed", "3")
	x.see("no datagrams yet")
	quit := make(chan struct{})
	sent := sendAll(t, x.proxyAddress(), quit)
	var series []soakSample
	for next := time.Now(); time.Since(x.begun) < whole; time.Sleep(200 * time.Millisecond) {
		if k := soakSettings[x.rng.IntN(len(soakSettings))]; strings.HasPrefix(k, "/") {
			x.press("\x1b")
			time.Sleep(60 * time.Millisecond) // otherwise the escape would be read as part of the next key
			x.say(k[1:])
			x.press("\x1b") // close the line, which stays open after an error
		} else {
			x.press(k)
		}
		if time.Now().After(next) {
			next = time.Now().Add(max(whole/60, time.Second))
			s := x.sample()
			t.Log(s)
			series = append(series, s)
		}
	}
	close(quit)
	all := sent()
	time.Sleep(2500 * time.Millisecond) // datagrams in flight arrive, or are reported as queued
	for range 3 {
		x.press("\x1b")
		time.Sleep(60 * time.Millisecond)
	}
	x.press("q")
	time.Sleep(300 * time.Millisecond) // the question about clients appears
	x.press("y")
	x.ends(exitDone)
	text := x.screen.String()
	text = text[max(strings.LastIndex(text, leaveAltScreen), 0):]
	t.Log(text)
	checkTotals(t, text, all)
	if *soak > 0 {
		flat(t, series)
	}
}

// checkTotals compares the totals with each other and with what was sent.
func checkTotals(t *testing.T, text string, sent int64) {
	t.Helper()
	first := regexp.MustCompile(`\d+`)
	numbers := func(name string) (v [2]int64) { // the first number of each column
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), name+"  "); ok {
				for i, cell := range regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(rest), 2) {
					v[i], _ = strconv.ParseInt(first.FindString(cell), 10, 64)
				}
				return v
			}
		}
		t.Errorf("the totals have no %q:\n%s", name, text)
		return v
	}
	var lost, missed [2]int64
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "lost  "); ok {
			for i, cell := range regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(rest), 2) {
				for _, m := range regexp.MustCompile(`(\d+) by `).FindAllStringSubmatch(cell, -1) {
					n, _ := strconv.ParseInt(m[1], 10, 64)
					lost[i] += n
				}
			}
		}
		for i, way := range []string{"up", "down"} {
			if m := regexp.MustCompile(way + `: the system dropped (\d+) datagrams before`).FindStringSubmatch(line); m != nil {
				missed[i], _ = strconv.ParseInt(m[1], 10, 64)
			}
		}
	}
	in, out, copies, unsent, queued := numbers("in"), numbers("out"), numbers("copies made"), numbers("send failed"), numbers("in flight")
	for i, way := range []string{"up", "down"} {
		if in[i] == 0 || in[i]+copies[i] != out[i]+lost[i]+unsent[i]+queued[i] {
			t.Errorf("%s: %d in + %d copies, but %d out + %d lost + %d unsent + %d queued", way, in[i], copies[i], out[i], lost[i], unsent[i], queued[i])
		}
	}
	if in[0]+missed[0] != sent {
		t.Errorf("%d were sent, but %d read and %d dropped by the system", sent, in[0], missed[0])
	}
	t.Logf("sent %d; up in %d, missed %d; down in %d, missed %d", sent, in[0], missed[0], in[1], missed[1])
}
