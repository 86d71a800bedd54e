package packets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/lossmodel/relay"
)

// export writes the listed packets, in the order of the list, to a new file: as pcapng if the name ends with
// .pcapng, otherwise as CSV. It runs in the background.
func (p *packets) export(path string) (room.Request, error) {
	packets := make([]packetlog.Record, p.length())
	if len(packets) == 0 {
		return room.Request{}, errors.New("no packet is listed")
	}
	for row := range packets {
		packets[row] = *p.record(row)
	}
	return room.Request{Program: func() tea.Msg {
		text, err := writePackets(path, packets)
		if err != nil {
			return room.NoticeMsg{Text: err.Error(), IsError: true}
		}
		return room.NoticeMsg{Text: text}
	}}, nil
}

// writePackets writes packets to a new file, and returns a sentence for the user. It fails if the file exists.
func writePackets(path string, packets []packetlog.Record) (text string, err error) {
	write, content := report.WritePackets, "packets"
	if strings.EqualFold(filepath.Ext(path), ".pcapng") {
		write, content = writeCapture, "packets with headers and outcomes, without payloads,"
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s exists already; choose another name", path)
	}
	var disk atomicfile.Disk
	const mode = 0o644
	err = disk.WriteFile(path, mode, func(f *atomicfile.File) error { return write(f, packets) })
	return fmt.Sprintf("wrote %d %s to %s", len(packets), content, path), err
}

// The interfaces of a capture, and the addresses in its generated headers.
const (
	senderSide = iota
	receiverSide
)

var (
	senderAddress   = netip.MustParseAddrPort("10.0.0.1:9000")
	receiverAddress = netip.MustParseAddrPort("10.0.0.2:9000")
)

// writeCapture writes packets as pcapng: each on the interface "sender" when it was sent, and on "receiver" when it
// arrived, with its outcome as a comment. Times are virtual, since 1970. Payloads are not stored, so every datagram is
// cut off after its headers. The order of packets has no effect.
func writeCapture(w io.Writer, packets []packetlog.Record) error {
	out, err := relay.NewCapture(w, "sender", "receiver")
	if err != nil {
		return err
	}
	var list []relay.Datagram
	for i := range packets {
		r := &packets[i]
		const headers, maxPayload = 28, 65507 // bytes of IPv4 and UDP, and what one UDP datagram can carry at most
		d := relay.Datagram{From: senderAddress, To: receiverAddress, Payload: make([]byte, min(max(r.Wire-headers, 0), maxPayload)),
			HeadersOnly: true, Comment: describePacket(r)}
		if r.Copy == 0 { // the link makes copies after the sender's interface
			d.At, d.Interface = time.Unix(0, int64(r.Sent)), senderSide
			list = append(list, d)
		}
		if r.Arrived > 0 {
			d.At, d.Interface = time.Unix(0, int64(r.Arrived)), receiverSide
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b relay.Datagram) int { return a.At.Compare(b.At) })
	for i := range list {
		if err := out.Write(&list[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// describePacket returns the comment of a packet in a capture.
func describePacket(r *packetlog.Record) string {
	baseline := "the initial state"
	if r.Baseline > 0 {
		baseline = "packet " + strconv.FormatUint(r.Seq-uint64(r.Baseline), 10)
	}
	outcome := look.OutcomeName(r.Outcome)
	if r.Outcome == packetlog.Lost {
		outcome += " by " + r.Cause.String()
	}
	if by := r.RepairedBy(); by != "" {
		outcome += ", repaired from " + by
	}
	return fmt.Sprintf("packet %s: %s; baseline %s; payload %d bytes of %s; %d changed", formatPacketID(r.ID()), outcome, baseline, r.Payload,
		r.Encoder, r.Changed)
}
