package lossmodel_test

import (
	"fmt"
	"time"

	"wirelab/lossmodel"
)

// One snapshot per frame is sent over a link with jitter. The link is changed before the last
// one.
func Example() {
	spec := lossmodel.DefaultSpec()
	for key, value := range map[string]string{"latency": "50ms±20ms", "loss": "10%"} {
		if err := spec.Set(key, value); err != nil {
			fmt.Println(err)
		}
	}
	link, err := lossmodel.NewLink(spec, 7, "down")
	if err != nil {
		fmt.Println(err)
		return
	}
	const frame = time.Second / 60
	for n := range uint64(5) {
		if n == 4 {
			spec.Delay = lossmodel.Delay{Latency: 10 * time.Millisecond}
			if err := link.Reshape(spec); err != nil {
				fmt.Println(err)
			}
		}
		now := time.Duration(n) * frame
		if v := link.Send(now, []byte("snapshot"), n); v.Lost != lossmodel.None {
			fmt.Printf("%d lost: %v\n", n, v.Lost)
		}
	}
	for due, ok := link.Next(); ok; due, ok = link.Next() {
		d, _ := link.Receive(due)
		fmt.Printf("%d took %v\n", d.Tag, (d.Due - d.Sent).Round(time.Millisecond))
	}
	// Output:
	// 0 took 40ms
	// 2 took 36ms
	// 4 took 10ms
	// 3 took 33ms
	// 1 took 68ms
}
