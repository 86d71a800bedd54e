package crowd

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// Clients join and leave at the times that are set, and the number of clients changes during the run.
// Links are those of the clients' numbers, whenever a client comes.
func TestPresence(t *testing.T) {
	settings := []string{"duration", "3s", "crowd.clients", "600", "crowd.rtt", "lognormal median=60ms", "crowd.loss", "uniform max=5%",
		"client[0].turn", "2", "client[0].join", "1s", "client[0].leave", "2500ms",
		"client[1].turn", "3", "client[1].leave", "500ms", "client[2].turn", "700", "client[2].join", "2s",
		"at[0].t", "1s", "at[0].clients", "1100", "at[1].t", "2s", "at[1].clients", "650"}
	want := map[int]int64{0: 180, 1: 90, 2: 30, 599: 180, 600: 120, 649: 120, 650: 60, 699: 0, 1099: 60}
	x, err := newSession(t.Context(), configure(t, settings...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = x.Step()
	}
	if err := x.finish(); err != nil {
		t.Fatal(err)
	}
	for i, packets := range want {
		if got := x.shards[i/shardClients].counts[i%shardClients].n[sent]; got != packets {
			t.Errorf("client %d was sent %d packets, want %d", i+1, got, packets)
		}
	}
	r := x.Result()
	if key, value, impossible := figures.FindImpossible(&r.Totals); impossible || r.Totals.Wrong != 0 {
		t.Errorf("%s is %s; %d wrong", key, value, r.Totals.Wrong)
	}
	all := runCrowd(t, configure(t, append(settings[:2:2], "crowd.clients", "1100", "crowd.rtt", "lognormal median=60ms")...))
	const never = 699 // joins when the crowd has become smaller
	if r.Totals.Crowd.Clients != 1099 || r.Clients[never] != (figures.CrowdClient{}) {
		t.Errorf("%d clients were in the game, want 1099; client %d has %+v", r.Totals.Crowd.Clients, never+1, r.Clients[never])
	}
	for i, c := range r.Clients {
		if i != never && c.RoundTripMS != all.Clients[i].RoundTripMS {
			t.Errorf("client %d has other links if it comes later", i+1)
		}
	}
	if kbps, all := r.Clients[600].WireKbps.Or(0), r.Totals.WireKbps/float64(len(r.Clients)); kbps < all || kbps > 2*all {
		t.Errorf("a client of 2 s has %.1f kbps; the mean over all clients and 3 s is %.1f", kbps, all)
	}
}

// The links of a client are those of its profile, then the distributions, then its own table.
func TestClientLinks(t *testing.T) {
	c := configure(t, "crowd.clients", "2000", "crowd.profiles", "unity-4g 30%, unity-cable 70%", "crowd.loss", "2%", "client[0].turn", "5", "client[0].down.loss",
		"gilbert mean=5% burst=3", "client[0].up.latency", "9ms")
	mobile, _ := lossmodel.ProfileByName("unity-4g")
	count := 0
	for n := 1; n <= 2000; n++ {
		down, up, _, err := clientLinks(c, n)
		if err != nil {
			t.Fatal(err)
		}
		if down.Delay == mobile.Down.Delay {
			count++
		}
		if own := n == 5; own != (up.Delay.Latency == 9*time.Millisecond) || own != (lossmodel.CheckLight(down) != nil) || !own && down.Loss.LossRate() != .02 {
			t.Errorf("client %d has %+v and %+v", n, down, up)
		}
	}
	if got, want := LinkText(c, 5), "loss 5.0 %, latency "; !strings.HasPrefix(got, "unity-") || !strings.Contains(got, want) {
		t.Errorf("client 5 has %q, want its profile and %q", got, want)
	}
	if count < 540 || count > 660 { // 600 with a standard deviation of 20
		t.Errorf("%d of 2000 clients have the profile of 30%%", count)
	}
}

// The uplink sends packets one after the other, and drops those that do not fit into its queue. The
// clients that lose are others in each tick.
func TestUplink(t *testing.T) {
	settings := []string{"crowd.clients", "40", "duration", "2s", "encoder.name", "raw", "crowd.uplink_rate", "1gbit", "crowd.uplink_queue"}
	r := runCrowd(t, configure(t, append(settings, "10MB")...))
	wire := int64(r.Totals.WireKbps * 1000 / 8 / 40 / 60) // bytes of a packet
	// All packets of a tick are sent at once: the last one waits for all.
	if peak, want := r.Totals.Crowd.UplinkPeakMS.Or(0), float64(40*wire*8)/1e6; peak < want*.999 || peak > want*1.001 || r.Totals.Lost != 0 {
		t.Errorf("the longest wait is %.3f ms, want %.3f; %d lost", peak, want, r.Totals.Lost)
	}
	r = runCrowd(t, configure(t, append(settings, "500KB")...))
	lost := 40 - 500_000/wire // of each tick; the line is idle before the next
	if want := 120 * lost; r.Totals.LostBy[lossmodel.Queue] != want || r.Totals.Lost != want {
		t.Errorf("%d packets lost, want %d", r.Totals.Lost, want)
	}
	mean := float64(lost) / 40
	if worst := r.Totals.Crowd.Worst.LossRatio.Or(0); worst > 1.1*mean {
		t.Errorf("one client loses %.3f of its packets, the mean is %.3f", worst, mean)
	}
	r = runCrowd(t, configure(t, append(settings, "100KB", "crowd.uplink_pace", "true")...))
	if peak := r.Totals.Crowd.UplinkPeakMS.Or(0); peak > float64(wire*8)/1e6*1.001 || r.Totals.Lost != 0 {
		t.Errorf("paced, the longest wait is %.3f ms; %d lost", peak, r.Totals.Lost)
	}
}

// failingDecoder refuses all frames after tick 30, with an error that depends on the baseline.
type failingDecoder struct{ encoders.Decoder }

func (d failingDecoder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if dst.Tick > 30 {
		return nil, fmt.Errorf("frame %d from %d", dst.Tick, refs[0].Frame.Tick)
	}
	return d.Decoder.Decode(dst, src, refs, spare)
}

// The error of a decoder in a report does not depend on the number of cores.
func TestCodecError(t *testing.T) {
	c := configure(t, append(slices.Clone(mixed), "crowd.clients", "200", "duration", "1s")...)
	c.Codecs = table.All()
	for i := range c.Codecs {
		open := c.Codecs[i].New
		c.Codecs[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			e, d, err := open(s, params)
			return e, failingDecoder{d}, err
		}
	}
	want := ""
	for _, cores := range []int{1, 2, 3} {
		before := runtime.GOMAXPROCS(cores)
		r := runCrowd(t, c)
		runtime.GOMAXPROCS(before)
		if want == "" {
			want = r.CodecError
		}
		if r.CodecError != want || want == "" || r.Totals.DecodeRefused == 0 || r.Totals.Wrong != 0 {
			t.Errorf("%d cores: error %q, want %q; %d refused, %d wrong", cores, r.CodecError, want, r.Totals.DecodeRefused, r.Totals.Wrong)
		}
	}
}

// Durations are per packet of the server, also if only every second slot has one, and those of headers
// belong to the server. The clock advances by one microsecond with each reading.
func TestTiming(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	now := time.Duration(0)
	clock := func() time.Duration { now += time.Microsecond; return now }
	r, err := Run(t.Context(), configure(t, append(slices.Clone(mixed), "crowd.clients", "20", "sender.every", "2")...), Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	encodings, tick := r.Totals.Crowd.EncodingsPerTick.Or(0), r.Timing.TickUS
	const acks, choice, counts = 2 * 1, 1, 1 // acks are read in every slot
	if got := tick.EncodeUS.Or(0); math.Abs(got-encodings) > 1e-9 {
		t.Errorf("%v µs of encoding a tick, want %v", got, encodings)
	}
	if got, want := tick.ServerUS.Or(0), encodings+acks+choice+counts; math.Abs(got-want) > 0.05 { // the end reads acks once more
		t.Errorf("%v µs of the server a tick, want %v", got, want)
	}
	if tick.ElapsedUS.N != int64(r.Frames) {
		t.Errorf("%d ticks are timed, want %d", tick.ElapsedUS.N, r.Frames)
	}
}
