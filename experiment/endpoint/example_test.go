package endpoint_test

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/endpoint"
)

// Cubes fall through a network that loses every third datagram. Each packet is encoded
// against the newest frame that the receiver is known to have.
func Example() {
	schema := frame.Cubes(100)
	codec, _ := table.ByName("relative-orientation")
	run, _ := endpoint.NewEncoding(schema, codec, codec.Defaults())
	initial, world := schema.NewFrame(), schema.NewFrame()
	opt := endpoint.Options{History: frame.MaxHistory}
	sender := endpoint.NewSender(schema, initial, run, opt)
	receiver := endpoint.NewReceiver(schema, initial, table.All(), opt)

	decoded, bytes, ack := 0, 0, []byte(nil)
	for tick := range 60 {
		for cube := range 10 { // ten cubes fall, ninety are at rest
			world.Table[cube*frame.CubeFields+frame.CubeZ] = int32(10_000 - 2*tick*tick)
		}
		now := time.Duration(tick) * time.Second / 60
		packet, err := sender.Send(now, world, nil)
		if err != nil {
			panic(err)
		}
		bytes += len(packet.Datagram)
		if tick%3 == 2 {
			continue // lost
		}
		if rx := receiver.Receive(packet.Datagram); rx.Outcome == endpoint.Decoded && rx.Frame.Equal(world) {
			decoded++
		}
		ack = receiver.AppendAck(ack[:0])
		if err := sender.HandleAck(ack); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%d of 60 packets arrived and were right, %d bytes each\n", decoded, bytes/60)
	// Output: 40 of 60 packets arrived and were right, 47 bytes each
}
