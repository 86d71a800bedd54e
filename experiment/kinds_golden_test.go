package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/golden"
	"wirelab/internal/testkit"
)

// badLink has all impairments of a modelled link.
const badLink = `
seed = 77
duration = "6s"
[link]
loss = "6%"
latency = "45ms"
jitter = "25ms"
duplicate = "3%"
reorder = "4%"
[down]
burst = 2
corrupt = "1%"
rate = "1mbit"
queue = "16KB"
`

// TestGoldenRuns compares runs of every kind of data over a bad link with testdata/runs.golden: the
// digest of every datagram and every decoded frame, and the SHA-256 of all totals, budgets and
// shadows as JSON. TestGoldenDigests of the engine has every encoder of cubes.
func TestGoldenRuns(t *testing.T) {
	t.Parallel()
	if labtest.RaceEnabled {
		t.Skip("the race detector takes its time, and has nothing to find here")
	}
	table, files, capture := tableOf(t), labtest.WriteFiles(t, labtest.NewFileSource(20_000, 3)), captureOf(t)
	var got bytes.Buffer
	for _, c := range []struct{ name, data, more string }{
		{"text", "text", "[encoder]\nname = \"receiver-adaptive\"\n[[shadow]]\nname = \"xor-rle\"\n"},
		{"text-batches", "text", "[encoder]\nname = \"receiver-adaptive\"\n[encoder.params]\nbatch = 3\nask = 3\nweight = 16\norder = 2\ntry_all = true\n"},
		{"text-small", "text", "[encoder]\nname = \"receiver-adaptive\"\n[encoder.params]\nmessage = 100\n[[at]]\nt = \"2s\"\nencoder = \"xor-rle\"\n" +
			"[[at]]\nt = \"3s\"\nencoder = \"receiver-adaptive\"\n"},
		{"files", files, "[encoder]\nname = \"patch\"\n[sender]\nblock = 100\nwindow = 16\n"},
		{"files-raw", files, "[encoder]\nname = \"patch\"\n[[shadow]]\nname = \"whole-raw\"\n"},
		{"rpc", "rpc", "[encoder]\nname = \"rpc-adaptive\"\n[[shadow]]\nname = \"rpc-delta\"\n[[shadow]]\nname = \"full\"\n[[shadow]]\nname = \"delta-adaptive\"\n"},
		{"rpc-history", "rpc", "[encoder]\nname = \"rpc-delta\"\n[sender]\nhistory = 4\n[receiver]\nhistory = 8\n"},
		{"table", table, "[encoder]\nname = \"delta-adaptive\"\n[[shadow]]\nname = \"xor-rle\"\n"},
		{"table-swap", table, "[encoder]\nname = \"xor-rle\"\n[[at]]\nt = \"1s\"\nencoder = \"delta-adaptive\"\ndown.loss = \"20%\"\n[[at]]\nt = \"3s\"\nparams.limit = 30\n"},
		{"packets", capture, "[encoder]\nname = \"receiver-adaptive\"\n[[shadow]]\nname = \"xor-rle\"\n"},
		{"world", "world:katamari", "[encoder]\nname = \"adaptive\"\n[[shadow]]\nname = \"rotor\"\n[[at]]\nt = \"1s\"\npress = \"up left\"\n[[at]]\nt = \"2s\"\n" +
			"katamari = false\nhover = true\nevery = 2\n[[at]]\nt = \"3s\"\nreset = true\nplayout_delay = \"150ms\"\ninterpolation = \"hermite\"\n" +
			"[[at]]\nt = \"4s\"\nshadow = \"changed-bits\"\nshadow_off = \"rotor\"\nmark = \"here\"\n"},
		{"demo-damaged", "demo", "[encoder]\nname = \"relative-orientation\"\n[receiver]\ndisplay_hz = 59.9\n" +
			"[[at]]\nt = \"1s\"\ndown.corrupt = \"20%\"\n"},
		{"demo-profile", "demo", "profile = \"unity-5g\"\n[encoder]\nname = \"changed-index\"\n"},
		{"demo-netem", "demo", "[encoder]\nname = \"rotor\"\n[[at]]\nt = \"1s\"\ndown.netem = \"delay 50ms 10ms 25% loss 3% duplicate 2% reorder 10% gap 5 seed 3\"\n"},
	} {
		fmt.Fprintf(&got, "%-14s %s\n", c.name, goldenRun(t, c.name, c.data, c.more))
	}
	golden.Compare(t, "testdata/runs.golden", got.String())
}

// TestGoldenBudgets is like TestGoldenRuns for small budgets, of which a packet has less than a row takes: sessions with each
// policy, and crowds with a budget for each client, for all clients together, or both.
func TestGoldenBudgets(t *testing.T) {
	t.Parallel()
	if labtest.RaceEnabled {
		t.Skip("the race detector takes its time, and has nothing to find here")
	}
	var got bytes.Buffer
	policies := [][]string{{"accumulated"}, {"", "newest-change", "round-robin"}, {"fiedler", "unity"}} // "" means no run
	for i, budget := range []string{"3kbit", "4kbit", "6kbit", "8kbit", "12kbit", "16kbit", "24kbit"} {
		for k, policy := range policies[i%len(policies)] {
			if policy == "" {
				continue
			}
			encoder := []string{"relative-orientation", "adaptive", "delta-adaptive"}[k]
			more := fmt.Sprintf("[encoder]\nname = %q\n[sender]\nbudget = %q\npriority = %q\nbudget_burst = %d\n", encoder, budget, policy, 1+i%3*k)
			fmt.Fprintf(&got, "%-7s%-20s %s\n", budget, policy, goldenRun(t, "budget", "demo", more))
		}
		more := fmt.Sprintf("[encoder]\nname = \"relative-orientation\"\n[sender]\nbudget = %q\n[crowd]\nclients = 3\n", budget)
		fmt.Fprintf(&got, "%-7s%-20s %s\n", budget, "crowd", goldenRun(t, "crowd", "demo", more))
		fmt.Fprintf(&got, "%-7s%-20s %s\n", budget, "crowd, both", goldenRun(t, "crowd", "demo", more+"budget = \"12kbit\"\n"))
		more = strings.Replace(more, "[sender]\nbudget = \""+budget+"\"\n", "", 1)
		fmt.Fprintf(&got, "%-7s%-20s %s\n", budget, "crowd, together", goldenRun(t, "crowd", "demo", more+fmt.Sprintf("budget = %q\n", budget)))
	}
	golden.Compare(t, "testdata/budgets.golden", got.String())
}

// TestGoldenMatches is like TestGoldenRuns for recordings of games. It needs the reference data.
func TestGoldenMatches(t *testing.T) {
	t.Parallel()
	if labtest.RaceEnabled {
		t.Skip("the race detector takes its time, and has nothing to find here")
	}
	quake := testkit.DataFile(t, "games/oa-dm4.dm_71")
	var got bytes.Buffer
	for _, c := range []struct{ name, data, more string }{
		{"quake3", "quake3:" + quake, "[encoder]\nname = \"quake3\"\n[[shadow]]\nname = \"delta-adaptive\"\n"},
	} {
		fmt.Fprintf(&got, "%-14s %s\n", c.name, goldenRun(t, c.name, c.data, strings.Replace(c.more, "[encoder]", "duration = \"3s\"\n[encoder]", 1)))
	}
	golden.Compare(t, "testdata/matches.golden", got.String())
}

// goldenRun runs a configuration and returns its digest and the hash of its figures.
func goldenRun(t *testing.T, name, data, more string) string {
	t.Helper()
	text := badLink
	if top, rest, ok := strings.Cut(more, "[encoder]"); ok && top != "" { // top-level keys must precede tables
		if strings.HasPrefix(top, "duration") {
			text = strings.Replace(text, "duration = \"6s\"\n", "", 1)
		}
		text, more = top+text, "[encoder]"+rest
	}
	c := must(config.Parse(name+".toml", []byte(text+more)))
	c.Data.Source = data
	var sum, digests bytes.Buffer
	for _, r := range mustRun(t, c, RunOptions{}).Runs {
		fmt.Fprintf(&digests, "%.16s ", r.Digest)
		for i := range r.Shadows {
			fmt.Fprintf(&digests, "%.8s ", r.Shadows[i].Digest)
		}
		noError(t, json.NewEncoder(&sum).Encode([]any{r.Totals, r.Budget, r.Shadows, r.Changes, r.Comparison}))
	}
	return fmt.Sprintf("%sfigures %.8x", digests.String(), sha256.Sum256(sum.Bytes()))
}

// captureOf writes a capture of a small game: a client and a server, 30 datagrams a second each way.
func captureOf(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	noError(t, w.WriteFileHeader(65535, layers.LinkTypeRaw))
	for n := range 400 {
		payload := binary.BigEndian.AppendUint32([]byte{0xff, byte(n % 5)}, uint32(n/2))
		for i := range 4 + n%7 {
			payload = binary.LittleEndian.AppendUint16(payload, uint16(i*1000+n*(i+1)))
		}
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(10, 0, 0, byte(1+n%2)), DstIP: net.IPv4(10, 0, 0, byte(2-n%2))}
		udp := &layers.UDP{SrcPort: 27960, DstPort: 40001}
		if n%2 == 1 {
			udp.SrcPort, udp.DstPort = udp.DstPort, udp.SrcPort
		}
		packet := gopacket.NewSerializeBuffer()
		noError(t, gopacket.SerializeLayers(packet, gopacket.SerializeOptions{FixLengths: true}, ip, udp, gopacket.Payload(payload)))
		size := len(packet.Bytes())
		info := gopacket.CaptureInfo{Timestamp: time.UnixMicro(int64(n) * 16_700), CaptureLength: size, Length: size}
		noError(t, w.WritePacket(info, packet.Bytes()))
	}
	return "packets:" + writeFile(t, "game.pcap", file.String()) + ",port=27960"
}
