package endpoint_test

import (
	"fmt"
	"net"
	"slices"
	"time"

	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
)

const schemaTOML = `# The keys are described in dataset/table/README.md.
item = "tank"
rows = 40
rate_hz = 100
field = [{name = "x", kind = "quantity", range = [0, 655.35], scale = 0.01, unit = "m"},
	{name = "heading", kind = "angle", range = [0, 360]}, {name = "fires", kind = "flag"}]
`

// receive passes the datagrams that arrive at conn to a channel until conn is closed.
func receive(conn *net.UDPConn) <-chan []byte {
	datagrams := make(chan []byte, 64)
	go func() {
		defer close(datagrams)
		buf := make([]byte, 1500)
		for n, err := conn.Read(buf); err == nil; n, err = conn.Read(buf) {
			datagrams <- slices.Clone(buf[:n])
		}
	}()
	return datagrams
}

// A server and a client over UDP that loses every fifth datagram. A game ships only these packages and one encoder.
func Example_game() {
	layout, err := table.ParseLayout("tanks.toml", []byte(schemaTOML))
	if err != nil {
		panic(err)
	}
	schema, options := layout.Schema, endpoint.Options{History: 64}
	codec := rows.DeltaAdaptive()
	encoding, err := endpoint.NewEncoding(schema, &codec, codec.Defaults())
	if err != nil {
		panic(err)
	}
	sender := endpoint.NewSender(schema, schema.NewFrame(), encoding, options)
	receiver := endpoint.NewReceiver(schema, schema.NewFrame(), []encoders.Codec{codec}, options)
	server, _ := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	client, _ := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	acks, snapshots := receive(server), receive(client)
	world, seen := schema.NewFrame(), schema.NewFrame()
	clock := time.NewTicker(time.Second / time.Duration(schema.TickHz))
	for start, tick := time.Now(), 1; seen.Tick < 100; tick++ {
		<-clock.C // Here the server's tick begins. It handles the acks that have arrived, and does not wait for others.
		for len(acks) > 0 {
			_ = sender.HandleAck(<-acks) // a malformed ack is ignored
		}
		world.Tick, world.Table[0] = uint32(tick), int32(300*min(tick, 100)) // the first tank moves for 100 ticks
		packet, err := sender.Send(time.Since(start), world, nil)
		if err != nil {
			panic(err)
		}
		if tick%5 != 0 { // the others are lost
			_, _ = server.WriteTo(packet.Datagram, client.LocalAddr()) // later packets replace one that is not sent
		}
		for len(snapshots) > 0 { // In a game this is the tick of the client, in another process.
			if rx := receiver.Receive(<-snapshots); rx.Outcome == endpoint.Decoded && !rx.Reordered {
				seen.CopyFrom(rx.Frame)
			}
			_, _ = client.WriteTo(receiver.AppendAck(nil), server.LocalAddr())
		}
	}
	fmt.Println("the tank is at", schema.Fields[0].InUnits(seen.Table[0]), schema.Fields[0].Unit)
	// Output: the tank is at 300 m
}
