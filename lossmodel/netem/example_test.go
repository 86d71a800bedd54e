package netem_test

import (
	"fmt"
	"strings"

	"wirelab/lossmodel/netem"
)

// The first packets that `tc qdisc add dev eth0 root netem loss 10% seed 1` drops.
func Example() {
	p, err := netem.Parse("tc qdisc add dev eth0 root netem loss 10% seed 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	q := netem.New(p, 0)
	for i := range int64(40) {
		if d := q.Enqueue(i*1_000_000, 142); d.Packet.Outcome == netem.Isolated {
			fmt.Print(i, " ")
		}
	}
	// Output: 0 1 3 8 9 15 22 28
}

// netem's correlation does not have the intended effect; Warnings reports the real loss rate.
func ExampleParams_Warnings() {
	p, _ := netem.Parse("loss 10% 25%")
	fmt.Println(strings.ReplaceAll(p.Warnings()[0], "; ", ";\n"))
	// Output:
	// loss: netem's correlation narrows the distribution of its values, so loss 10% 25% loses 1.75% of packets;
	// the kernel draws the first value without a seed
}
