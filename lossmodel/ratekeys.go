package lossmodel

import "strconv"

func rateSettings() []setting {
	return []setting{
		newSetting(rateUnit, func(s *Spec) *int64 { return &s.Rate.BitsPerSecond }, KeyInfo{
			Key: "rate", Stage: "rate", Ladder: []string{
				"64kbit", "128kbit", "256kbit", "384kbit", "512kbit", "768kbit", "1mbit", "1.5mbit", "2mbit", "3mbit",
				"5mbit", "10mbit", "20mbit", "50mbit", "100mbit", "1gbit", "off"},
			Help: "what the line carries, IPv4 and UDP headers included; kbps, kbit and kbit/s are 1000 bits a second, KB/s 1000 bytes",
		}),
		newSetting(sizeUnit, func(s *Spec) *int64 { return &s.Rate.Queue }, KeyInfo{
			Key: "queue", Stage: "rate", Ladder: []string{
				"4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1MB", "off"},
			Help: "bytes waiting or being sent that the drop-tail queue before the line holds; off: no limit. Nothing happens here while rate is off",
		}),
		newSetting(orOff(countUnit("packets", 1, 1_000_000)), func(s *Spec) *int { return &s.Rate.QueuePackets }, KeyInfo{
			Key: "queue_packets", Stage: "rate", Ladder: []string{"1", "2", "5", "10", "20", "50", "100", "200", "500", "1000", "off"},
			Help: "datagrams waiting or being sent that the queue holds, beside its limit in bytes; off: no such limit",
		}),
		newSetting(countUnit("bytes", -28, 1500), func(s *Spec) *int { return &s.Rate.Overhead }, KeyInfo{
			Key: "rate_overhead", Stage: "rate", Ladder: []string{"0", "4", "8", "14", "18", "38"},
			Help:   "bytes that the line adds to each IP packet: 14 for Ethernet, 38 with preamble, checksum and gap; below 0 takes headers away",
			Source: "tc-netem(8), rate PACKETOVERHEAD",
		}),
		newSetting(orOff(countUnit("bytes", 1, 65535)), func(s *Spec) *int { return &s.Rate.Cell }, KeyInfo{
			Key: "rate_cell", Stage: "rate", Ladder: []string{"off", "48"},
			Help:   "bytes of a cell's payload: packets are cut into cells, the last one padded; 48 is ATM's",
			Source: "tc-netem(8), rate CELLSIZE",
		}),
		newSetting(countUnit("bytes", 0, 1500), func(s *Spec) *int { return &s.Rate.CellOverhead }, KeyInfo{
			Key: "rate_cell_overhead", Stage: "rate", Ladder: []string{"0", "5"},
			Help:   "bytes that the line adds to each cell; 5 is ATM's",
			Source: "tc-netem(8), rate CELLOVERHEAD",
		}),
		newSetting(bucketUnit(), func(s *Spec) *int64 { return &s.Rate.Burst }, KeyInfo{
			Key: "rate_burst", Stage: "rate", Ladder: []string{"off", "2KB", "4KB", "8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "1MB"},
			Help: "bytes of a token bucket: so much leaves the line at once after a pause; off: none",
		}),
		newSetting(*fileUnit("a trace of delivery opportunities", false), func(s *Spec) *File { return &s.Rate.Trace }, KeyInfo{
			Key: "rate_trace", Stage: "rate",
			Help:   "a recorded line instead of a rate: one millisecond a line, each an opportunity to deliver 1504 bytes, begun anew at its end",
			Source: "R. Netravali et al., Mahimahi, 2015",
		}),
	}
}

// bucketUnit is a size of which none, not endless, is off.
func bucketUnit() unit[int64] {
	u := sizeUnit
	u.expected = `a size from 1B to 1TiB, such as "16KB", or "off" for none`
	return u
}

// orOff lets a count be off, which is 0.
func orOff(u unit[int]) unit[int] {
	parse, in := u.parse, u.in
	u.expected += `, or "off"`
	u.parse = func(v any) (int, bool) {
		if isOff(v) {
			return 0, true
		}
		n, ok := parse(v)
		return n, ok && n != 0
	}
	u.format = func(n int) string {
		if n == 0 {
			return "off"
		}
		return strconv.Itoa(n)
	}
	u.in = func(n int) bool { return n == 0 || in(n) }
	return u
}
