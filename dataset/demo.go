package dataset

import "wirelab/dataset/world"

func openDemo(opt Options) (Source, error) { return world.Open("demo", 1) }
