package endpoint_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
)

// tanks is the schema of the game: 40 tanks, 30 times a second.
func tanks() *frame.Schema {
	return &frame.Schema{Name: "tanks", Item: "tank", Rows: 40, TickHz: 30, Fields: []frame.Field{
		{Name: "x", Max: 1<<16 - 1, Scale: 0.01}, {Name: "y", Max: 1<<16 - 1, Scale: 0.01}, // metres
		{Name: "heading", Kind: frame.Angle, Max: 359},
		{Name: "health", Max: 100}, {Name: "weapon", Kind: frame.Enum, Max: 5}, {Name: "fires", Kind: frame.Flag, Max: 1}}}
}

// drive moves the tanks. A real game writes its own world into the table.
func drive(world *frame.Frame, tick int) {
	world.Tick = uint32(tick)
	for i := range 40 {
		tank := world.Table[6*i : 6*i+6]
		if i%4 != 0 { // the other tanks stand still
			continue
		}
		if tick == 1 {
			copy(tank, []int32{int32(1000 + 900*i), 20_000, int32(9 * i), 100, int32(i % 6), 0})
		}
		tank[0] += int32(20 + i)
		tank[1] += int32(i)
		tank[5] = int32((tick + i) / 10 % 2)
	}
}

// serve sends the world to one client, and reads acks as they arrive.
func serve(conn *net.UDPConn, client *net.UDPAddr, ticks int) error {
	schema, codec := tanks(), rows.DeltaAdaptive()
	run, err := endpoint.NewEncoding(schema, &codec, codec.Defaults())
	if err != nil {
		return err
	}
	initial, world := schema.NewFrame(), schema.NewFrame()
	sender := endpoint.NewSender(schema, initial, run, endpoint.Options{History: frame.MaxHistory})
	buf := make([]byte, 1500)
	for tick := 1; tick <= ticks; tick++ {
		drive(world, tick)
		packet, err := sender.Send(time.Duration(tick)*time.Second/30, world, nil)
		if err != nil {
			return err
		}
		if _, err := conn.WriteToUDP(packet.Datagram, client); err != nil {
			return err
		}
		// A game waits for its next tick here; this one waits for the ack.
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		n, _, err := conn.ReadFromUDP(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // lost: the next snapshot is sent against an older one
		case err != nil:
			return err
		default:
			_ = sender.HandleAck(buf[:n]) // a malformed ack is ignored
		}
	}
	return nil
}

// watch receives the world until packet last, and returns it with the total size of the packets.
func watch(conn *net.UDPConn, last uint64) (world *frame.Frame, total int, err error) {
	schema := tanks()
	receiver := endpoint.NewReceiver(schema, schema.NewFrame(), []encoders.Codec{rows.DeltaAdaptive()},
		endpoint.Options{History: frame.MaxHistory})
	world = schema.NewFrame()
	buf, ack := make([]byte, 1500), []byte(nil)
	for newest := uint64(0); newest < last; {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, server, err := conn.ReadFromUDP(buf)
		if err != nil {
			return nil, total, err
		}
		total += n
		if rx := receiver.Receive(buf[:n]); rx.Outcome == endpoint.Decoded {
			world.CopyFrom(rx.Frame) // a late packet gives an older frame: see rx.Reordered
			newest = max(newest, rx.Seq)
		}
		ack = receiver.AppendAck(ack[:0])
		if _, err := conn.WriteToUDP(ack, server); err != nil {
			return nil, total, err
		}
	}
	return world, total, nil
}

// A game with its own sockets ships only this package and one encoder.
func Example_game() {
	listen := func() *net.UDPConn {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			panic(err)
		}
		return conn
	}
	server, client := listen(), listen()
	defer server.Close()
	defer client.Close()
	const ticks = 90
	served := make(chan error, 1)
	go func() { served <- serve(server, client.LocalAddr().(*net.UDPAddr), ticks) }()
	world, total, err := watch(client, ticks-1)
	if err != nil {
		panic(err)
	}
	if err := <-served; err != nil { // the client has all packets, but the server waits for the last ack
		panic(err)
	}
	want := tanks().NewFrame()
	for tick := 1; tick <= ticks; tick++ {
		drive(want, tick)
	}
	fmt.Printf("the client sees what the server sent: %v\n", world.Equal(want))
	fmt.Printf("%d bytes a snapshot of %d values\n", total/ticks, len(want.Table))
	// Output:
	// the client sees what the server sent: true
	// 7 bytes a snapshot of 240 values
}
