package experiment

import "wirelab/experiment/transfer"

// bounds of SenderConfig.Block and Window.
const (
	minBlock  = transfer.MinBlock
	maxBlock  = 1400
	maxWindow = transfer.Reach
)
