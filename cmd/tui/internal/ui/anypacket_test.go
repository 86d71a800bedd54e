package ui

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
	"wirelab/internal/testkit"
)

// TestAnyPacketOfARun checks, in a run of four minutes, that the list scrolls, filters and searches over all packets,
// and that any of them shows its bits: all as in a session of the same configuration that was run headless.
func TestAnyPacketOfARun(t *testing.T) { synctest.Test(t, anyPacketOfARun) }

func anyPacketOfARun(t *testing.T) {
	const length = 4 * time.Minute
	cfg := config.Default()
	if err := cfg.Apply(config.NewChange("encoder.name", "relative-orientation", "profile", "unity-broadband", "down.loss", "1%")); err != nil {
		t.Fatal(err)
	}
	cfg.Data.Loop = true
	reference, err := engine.NewSession(t.Context(), cfg.Clone(), engine.Options{Endless: true, KeepSent: true, KeepPackets: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	datagrams := map[uint64][]byte{} // of some packets
	for _, seq := range []uint64{0, 1000, 1001, 7777, 14_000} {
		if err := reference.RunUntil(reference.TimeOf(seq + 1)); err != nil {
			t.Fatal(err)
		}
		datagrams[seq] = reference.Trace(seq).Packet.Datagram
	}
	if err := reference.RunUntil(length); err != nil {
		t.Fatal(err)
	}
	all := reference.View(20_000).Lanes[0].Packets

	start := time.Now()
	runner, err := live.New(t.Context(), cfg, live.Options{Clock: func() time.Duration { return time.Since(start) }})
	if err != nil {
		t.Fatal(err)
	}
	runner.Start(context.Background())
	defer runner.Stop()
	runner.Do(live.Command{Pause: new(true)})
	runner.Do(live.Command{Seek: new(length)})
	testkit.WaitFor(t, "the end", func() bool { s := runner.Snapshot(); return s.State == engine.Paused && s.Now >= length })
	m := large(runner)
	await := func(what string, done func() bool) {
		t.Helper()
		testkit.WaitFor(t, what+" in\n"+m.View(), func() bool { tick(m, 1); return done() })
	}
	shows := func(text string) {
		t.Helper()
		await(text, func() bool { return strings.Contains(m.View(), text) })
	}
	press(m, "3")
	shows(fmt.Sprintf("%d of %d", len(all), len(all)))

	// Any packet by its number, bit by bit, with its neighbours and its baseline.
	for seq, datagram := range datagrams {
		press(m, fmt.Sprintf("/goto %d", seq))
		shows(fmt.Sprintf("Packet %d ", seq))
		for _, neighbour := range []uint64{seq + 10, seq - min(seq, 10)} {
			if !slices.Contains(listedPackets(m), neighbour) {
				t.Errorf("packet %d is not listed beside %d:\n%s", neighbour, seq, m.View())
			}
		}
		press(m, "enter")
		shows(fmt.Sprintf("Bits of packet %d ", seq))
		await("the bits", func() bool {
			traced := m.lab.Shown().Traced
			return traced != nil && traced.Seq == seq && traced.Packet != nil && bytes.Equal(traced.Packet.Datagram, datagram)
		})
		press(m, "J J K")
		shows(fmt.Sprintf("Bits of packet %d ", seq+1))
		press(m, "esc esc")
	}

	// From the newest packet back over those that a snapshot has, without a gap, and to the newest again.
	newest := all[len(all)-1].Seq
	press(m, "end")
	for range 125 {
		press(m, "pgup")
	}
	back := listedPackets(m)
	if back[0] > newest-1200 {
		t.Errorf("1250 packets up the list begins with packet %d of %d", back[0], newest)
	}
	for i, seq := range back {
		if i > 0 && seq != back[i-1]+1 {
			t.Errorf("packet %d follows packet %d in the list", seq, back[i-1])
		}
	}
	press(m, "home")
	shows("Packet 0 ")
	await("the past", func() bool { return m.lab.Past.Active && m.lab.Repeated() != nil })
	press(m, "end")
	shows(fmt.Sprintf("Packet %d ", newest))
	await("the present", func() bool { return !m.lab.Past.Active })

	// Filters and matches of the whole run.
	lost := slices.DeleteFunc(slices.Clone(all), func(r packetlog.Record) bool { return r.Outcome != packetlog.Lost })
	press(m, "/filter lost")
	shows(fmt.Sprintf("%d of %d", len(lost), len(all)))
	press(m, "esc esc")
	failures := slices.DeleteFunc(slices.Clone(all), func(r packetlog.Record) bool { return !packetfilter.InTrouble(&r) })
	press(m, "N") // the newest failure
	shows(fmt.Sprintf("Packet %d ", failures[len(failures)-1].Seq))
	press(m, "/goto 1200")
	for _, r := range slices.Backward(failures) {
		if r.Seq >= 1200 {
			continue
		}
		press(m, "N")
		if !slices.Contains(listedPackets(m), r.Seq) || !strings.Contains(m.View(), fmt.Sprintf("Packet %d ", r.Seq)) {
			t.Fatalf("N does not go to packet %d\n%s", r.Seq, m.View())
		}
	}
	press(m, "N")
	checkShown(t, m, "no packet before this one matches trouble")
	second := slices.IndexFunc(all, func(r packetlog.Record) bool { return r.Sent >= 3*time.Second })
	press(m, "/goto 00:03")
	shows(fmt.Sprintf("Packet %d ", all[second].Seq))
	press(m, "/goto 99999999")
	if want := fmt.Sprintf("the newest is %d", newest); !strings.Contains(m.View(), want) {
		t.Errorf("%q is not shown:\n%s", want, m.View())
	}
}

var listedPacket = regexp.MustCompile(`(?m)^│[ ▸] +(\d+) `)

// listedPackets returns the numbers of the listed packets.
func listedPackets(m *dashboard) (list []uint64) {
	for _, row := range listedPacket.FindAllStringSubmatch(m.View(), -1) {
		seq, _ := strconv.ParseUint(row[1], 10, 64)
		list = append(list, seq)
	}
	return list
}
