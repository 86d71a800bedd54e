package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/atomicfile"
	"wirelab/internal/escape"
	"wirelab/internal/units"
)

// csvLog is a CSV file to which rows are appended while a session runs.
type csvLog struct {
	name string
	log  *atomicfile.Log
	out  *csv.Writer // writes to log, whose errors are sticky
}

// newCSVLog returns a file called name in folder that begins with the row head.
func newCSVLog(folder *atomicfile.Folder, name string, head []string) *csvLog {
	log := folder.Log(name)
	r := &csvLog{name, log, csv.NewWriter(log)}
	r.addRow(head)
	return r
}

// addRow adds a row. It ignores a write error, because log keeps the error and returns it when the folder is
// written.
func (r *csvLog) addRow(row []string) { _ = r.out.Write(row) }

// logEntry returns the folder entry of the file: the rows added so far, followed by the rows more. Those are
// not added to the file, so the next entry may end with other rows.
func (r *csvLog) logEntry(more ...[]string) atomicfile.Entry {
	r.out.Flush()
	return atomicfile.Entry{Name: r.name, Log: r.log, Write: func(w io.Writer) error { return csv.NewWriter(w).WriteAll(more) }}
}

// packetHead returns the column names of packets.csv, which has a row for each packet, each copy and
// each datagram without a packet, in the order of sequence numbers.
func packetHead() []string {
	return []string{"seq", "copy", "send_us", "recv_us", "outcome", "cause", "encoder", "epoch", "baseline", "payload_bytes", "wire_bytes",
		"changed", "seam", "reason", "why"}
}

// newPacketRow returns a row of packets.csv with the names of its columns.
var newPacketRow = NewRows(packetHead())

// WritePackets writes packets as CSV, with the columns of packets.csv up to "seam"; without the reasons of
// problems.
func WritePackets(w io.Writer, packets []packetlog.Record) error {
	columns := slices.Index(packetHead(), "reason")
	out := csv.NewWriter(w)
	rows := [][]string{packetHead()[:columns]}
	for i := range packets {
		rows = append(rows, packetRow(&packetEntry{Record: packets[i]})[:columns])
	}
	return out.WriteAll(rows)
}

// packetRow returns the row of a packet in packets.csv, with the columns of packetHead. The time of
// arrival is "lost" for a lost packet, and empty for one in flight and for a datagram without a packet.
// The cause of a packet that redundancy delivered is "repaired".
func packetRow(p *packetEntry) []string {
	micros := func(d time.Duration) string { return units.Fixed(float64(d)/1000, 3) }
	recv, cause := "", ""
	switch {
	case p.Outcome == packetlog.Lost:
		recv, cause = "lost", p.Cause.String()
	case p.Outcome != packetlog.InFlight && p.Outcome < packetlog.NumOutcomes:
		recv = micros(p.Arrived)
	}
	if p.RepairedBy() != "" {
		cause = "repaired"
	}
	return []string{
		strconv.FormatUint(p.Seq, 10), strconv.Itoa(p.Copy), micros(p.Sent), recv, p.Outcome.String(), cause, escape.CSV(p.Encoder),
		strconv.FormatUint(p.Epoch, 10), strconv.Itoa(p.Baseline), strconv.Itoa(p.Payload), strconv.Itoa(p.Wire), strconv.Itoa(p.Changed),
		strconv.FormatBool(p.Seam), escape.CSV(p.problem.Reason), escape.CSV(p.problem.Why),
	}
}

// writeClients writes clients.csv, which has a row for each client of a crowd, in the order of their
// numbers. Unknown figures are empty.
func writeClients(w io.Writer, clients []figures.CrowdClient) error {
	head, fields := []string{"client"}, figures.ClientFieldsOf(clients)
	for _, field := range fields {
		head = append(head, field.Key)
	}
	rows := [][]string{head}
	for i := range clients {
		row := []string{strconv.Itoa(i + 1)}
		for _, field := range fields {
			row = append(row, field.Of(&clients[i]).FormatWith(func(v float64) string { return units.Fixed(v, 6) }, ""))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
